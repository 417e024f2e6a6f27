// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFuture>
#include <QPromise>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace swage::testing {

// What fakes of services that answer by futures share: they answer at once, or, when slow, when a test says so.
class SlowAnswers {
 public:
  void answerAll() const {
    for (const auto& one : std::exchange(m_waiting, {})) {
      one();
    }
  }

  bool isSlow = false;

 protected:
  SlowAnswers() = default;
  ~SlowAnswers() = default;

  template <class T>
  [[nodiscard]] QFuture<Result<T>> later(std::function<Result<T>()> work) const {
    auto promise = std::make_shared<QPromise<Result<T>>>();
    const QFuture<Result<T>> future = promise->future();
    promise->start();
    const auto finish = [promise, work = std::move(work)] {
      promise->addResult(work());
      promise->finish();
    };
    if (isSlow) {
      m_waiting.push_back(finish);
    } else {
      finish();
    }
    return future;
  }

 private:
  mutable std::vector<std::function<void()>> m_waiting;
};

}  // namespace swage::testing
