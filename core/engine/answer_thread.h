// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFuture>
#include <QPromise>
#include <QThreadPool>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "core/base/result.h"

namespace swage::engine {

// Answers questions one after the other on a thread that stays the same, and finishes their futures there. Destroying
// it tells the question in progress to give up, and waits until all have been answered.
class AnswerThread {
 public:
  using IsCancelled = std::function<bool()>;

  AnswerThread() {
    m_thread.setMaxThreadCount(1);
    m_thread.setExpiryTimeout(-1);
  }
  ~AnswerThread() {
    m_closing = true;
    m_thread.waitForDone();
  }
  AnswerThread(const AnswerThread&) = delete;
  AnswerThread& operator=(const AnswerThread&) = delete;

  // `work` takes an IsCancelled, which it may ask from time to time, and returns a Result<T>. A question whose future
  // was cancelled is not begun.
  template <class T, class Work>
  [[nodiscard]] QFuture<Result<T>> ask(Work work) {
    auto promise = std::make_shared<QPromise<Result<T>>>();
    QFuture<Result<T>> future = promise->future();
    promise->start();
    m_thread.start([this, promise = std::move(promise), work = std::move(work)] {
      const IsCancelled isCancelled = [this, &promise] { return m_closing || promise->isCanceled(); };
      promise->addResult(promise->isCanceled() ? Result<T>(Error(ErrorKind::Cancelled, "the question was taken back"))
                                               : work(isCancelled));
      promise->finish();
    });
    return future;
  }

  // Leaves what was not begun unanswered: those futures end as cancelled.
  void drop() { m_thread.clear(); }

 private:
  std::atomic<bool> m_closing = false;
  QThreadPool m_thread;
};

}  // namespace swage::engine
