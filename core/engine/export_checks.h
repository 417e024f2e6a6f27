// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QObject>

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/assurance.h"
#include "core/process/device_lease.h"
#include "core/process/programs.h"
#include "core/store/record.h"

namespace swage::trust {
class HeldOutShapes;
class SanitizerCheck;
class Verification;
}  // namespace swage::trust

namespace swage::engine {

// Whether a recorded candidate can be let out, asked again: evaluated by a fresh process on inputs that no one has
// seen, its kernels under compute-sanitizer, and its genome at other sizes of the task. Each answer goes into the
// record as it comes. A candidate that is wrong in the fresh process, or that the sanitizer objects to, is taken back
// there, and nothing more is asked. Emits finished() exactly once, when every process it started is gone.
class ExportChecks : public QObject {
  Q_OBJECT

 public:
  enum class Check : std::uint8_t { FreshProcess, Sanitizer, HeldOutShapes };
  // What it means that another process writes the project: the answers are lost, or only what was asked for counts.
  enum class Keeping : std::uint8_t { Must, IfPossible };

  ExportChecks(const process::Programs& programs, std::filesystem::path project, domain::CandidateId candidate,
               std::vector<Check> checks, Keeping keeping, QObject* parent = nullptr);
  ~ExportChecks() override;

  void start();
  void cancel();

 Q_SIGNALS:
  void checkStarted(swage::domain::AssuranceKind kind);
  void checkEnded(const swage::domain::Assurance& assurance);
  // An Error: cancelled, or a check could not be done; what was answered until then is kept.
  void finished(const swage::Result<>& done);

 private:
  [[nodiscard]] Result<> prepare();
  void next();
  void verify();
  void handleVerified(const Result<domain::Evaluation>& fresh);
  [[nodiscard]] domain::Assurance judge(const domain::Evaluation& fresh) const;
  void sanitise();
  void handleSanitised(const domain::Assurance& assurance);
  void checkShapes();
  // Emits and records; false: that failed, and all is over.
  [[nodiscard]] bool settle(const domain::Assurance& assurance);
  [[nodiscard]] Result<> record(const domain::Assurance& assurance) const;
  [[nodiscard]] bool takeBack(const domain::Evaluation& evaluation);
  [[nodiscard]] bool isKept(const Result<>& written);
  void end(const Result<>& done);

  process::Programs m_programs;
  std::filesystem::path m_project;
  domain::CandidateId m_candidate;
  std::deque<Check> m_checks;
  Keeping m_keeping;
  store::CandidateRecord m_row;
  store::RunRow m_run;
  std::string m_binary;
  std::optional<process::DeviceLease> m_lease;
  std::unique_ptr<trust::Verification> m_verification;
  std::unique_ptr<trust::SanitizerCheck> m_sanitizer;
  std::deque<domain::AssuranceKind> m_tools;  // that the sanitizer has not ended yet
  std::unique_ptr<trust::HeldOutShapes> m_shapes;
  QElapsedTimer m_elapsed;
  std::optional<Error> m_failure;
  bool m_takenBack = false;
  bool m_cancelled = false;
};

}  // namespace swage::engine
