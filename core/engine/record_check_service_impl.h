// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFutureWatcher>

#include "core/engine/answer_thread.h"
#include "core/services/record_check_service.h"

namespace swage::engine {

// What `swage db check` does (core/store/record_upkeep.h), on a thread of its own, reading only. Destroying it gives up
// the check in progress.
class RecordCheckServiceImpl final : public services::RecordCheckService {
  Q_OBJECT

 public:
  explicit RecordCheckServiceImpl(QObject* parent = nullptr);
  void start(const std::filesystem::path& project) override;

 private:
  QFutureWatcher<Result<>> m_check;
  AnswerThread m_thread;  // goes first
};

}  // namespace swage::engine
