// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFutureWatcher>
#include <QObject>

#include <utility>

#include "core/base/result.h"

namespace swage::ui {

// Calls `handler` with the answer of a service, on the thread of `context`: at once if it is there, else when it comes.
// Never after `context` has gone, nor for a future that was cancelled.
template <class T, class Handler>
void whenAnswered(QFuture<Result<T>> future, QObject* context, Handler handler) {
  if (future.isFinished()) {
    if (future.resultCount() > 0) {
      handler(future.result());
    }
    return;
  }
  auto* watcher = new QFutureWatcher<Result<T>>(context);
  QObject::connect(watcher, &QFutureWatcherBase::finished, context, [watcher, handler = std::move(handler)] {
    watcher->deleteLater();
    if (!watcher->isCanceled() && watcher->future().resultCount() > 0) {
      handler(watcher->result());
    }
  });
  watcher->setFuture(future);
}

}  // namespace swage::ui
