// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFutureWatcher>

#include "core/services/record_check_service.h"

namespace swage::engine {

// SQLite's quick_check on a thread of its own, reading only.
class RecordCheckServiceImpl final : public services::RecordCheckService {
  Q_OBJECT

 public:
  explicit RecordCheckServiceImpl(QObject* parent = nullptr);
  ~RecordCheckServiceImpl() override;
  void start(const std::filesystem::path& project) override;

 private:
  QFutureWatcher<Result<>> m_check;
};

}  // namespace swage::engine
