// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>

#include "core/base/result.h"
#include "core/domain/assurance.h"
#include "core/domain/candidate.h"

namespace swage::services {

// Finds out again whether a recorded candidate can be let out: in another process, under compute-sanitizer, and on the
// task at other sizes. What is found goes into the record; a candidate that turns out wrong is taken back there.
// Seconds to minutes; asynchronous. GUI thread only.
class ExportCheckService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Ends with exactly one finished(), also when it cannot start. Asserts that nothing is being checked.
  virtual void start(const std::filesystem::path& project, domain::CandidateId candidate) = 0;
  virtual void cancel() = 0;
  [[nodiscard]] virtual domain::CandidateId checking() const = 0;  // invalid: none

 Q_SIGNALS:
  void checkStarted(swage::domain::AssuranceKind kind);
  void checkEnded(const swage::domain::Assurance& assurance);
  // When every process it started is gone. An Error: cancelled, or not all could be done; what was found stays.
  void finished(swage::domain::CandidateId candidate, const swage::Result<>& done);
};

}  // namespace swage::services
