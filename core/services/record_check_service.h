// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>

#include "core/base/result.h"

namespace swage::services {

// Asks the database of a project whether it is whole. Asynchronous: a large one takes a while to read. Ends with
// exactly one finished() for each start(); do not start it again before.
class RecordCheckService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  virtual void start(const std::filesystem::path& project) = 0;

 Q_SIGNALS:
  void finished(const swage::Result<>& verdict);
};

}  // namespace swage::services
