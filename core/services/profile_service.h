// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/diagnosis.h"
#include "core/services/export_service.h"

namespace swage::services {

struct ProfileReport {
  domain::CandidateId candidate;
  domain::Profile profile;  // as the record has it
  domain::Diagnosis diagnosis;
};

// Where a profile that is being made has got to. It cannot be said how long the rest will take.
struct ProfileProgress {
  enum class Stage : std::uint8_t { StartingWorker, LoadingTask, Profiling };
  Stage stage = Stage::StartingWorker;
  double elapsedSeconds = 0.0;  // since start()
};

// Why candidates are as fast as they are, and how far their numbers can be believed. Questions about the open project
// take milliseconds and are answered at once; a new profile takes seconds to minutes and is asynchronous.
class ProfileService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // No value: it was never profiled.
  [[nodiscard]] virtual Result<std::optional<ProfileReport>> report(domain::CandidateId candidate) const = 0;
  // What was checked of a candidate, as ExportFacts has it, and why the checks of a run's task are weak.
  [[nodiscard]] virtual Result<std::vector<ExportGate>> gates(domain::CandidateId candidate) const = 0;
  [[nodiscard]] virtual Result<std::vector<std::string>> doubts(domain::RunId run) const = 0;
  // Whether a run searched without the self-test of its device.
  [[nodiscard]] virtual Result<bool> skippedSelfTest(domain::RunId run) const = 0;

  // Makes a profile and keeps it in the record. Ends with exactly one finished(), also when it cannot start.
  // Asserts that none is being made.
  virtual void start(const std::filesystem::path& project, domain::CandidateId candidate) = 0;
  virtual void cancel() = 0;
  [[nodiscard]] virtual domain::CandidateId profiling() const = 0;  // invalid: no profile is being made

 Q_SIGNALS:
  void progressed(const swage::services::ProfileProgress& progress);
  void finished(swage::domain::CandidateId candidate, const swage::Result<swage::services::ProfileReport>& report);
};

}  // namespace swage::services
