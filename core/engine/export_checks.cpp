// SPDX-License-Identifier: Apache-2.0
#include "core/engine/export_checks.h"

#include <QTimer>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/export/provenance.h"
#include "core/run/winner_choice.h"
#include "core/trust/held_out_shapes.h"
#include "core/trust/sanitizer_check.h"
#include "core/trust/trust.h"
#include "core/trust/verification.h"

namespace swage::engine {
namespace {

using domain::Assurance;
using domain::AssuranceKind;
using domain::AssuranceVerdict;

Error cancelled() {
  return Error(ErrorKind::Cancelled, "the checks were cancelled");
}

}  // namespace

ExportChecks::ExportChecks(const process::Programs& programs, std::filesystem::path project,
                           domain::CandidateId candidate, std::vector<Check> checks, Keeping keeping, QObject* parent)
    : QObject(parent),
      m_programs(programs),
      m_project(std::move(project)),
      m_candidate(candidate),
      m_checks(checks.begin(), checks.end()),
      m_keeping(keeping) {}

ExportChecks::~ExportChecks() = default;

void ExportChecks::start() {
  QTimer::singleShot(0, this, [this] {
    if (Result<> prepared = prepare(); !prepared) {
      Q_EMIT finished(prepared);
    } else {
      next();
    }
  });
}

Result<> ExportChecks::prepare() {
  if (m_keeping == Keeping::Must) {
    // Better now than after a minute of work.
    SWAGE_TRY(store::Record::open(m_project, store::Record::Mode::ReadOnly));
    SWAGE_TRY(store::Record::open(m_project, store::Record::Mode::ReadWrite));
  }
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(m_project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(m_row, record.candidate(m_candidate));
  SWAGE_TRY_ASSIGN(m_run, record.run(m_row.run));
  if (!m_row.binaryHash.empty()) {
    SWAGE_TRY_ASSIGN(m_binary, record.binary(m_row.binaryHash));
  }
  const bool canBeSanitised = m_run.device.kind == domain::DeviceKind::Cuda && m_row.program.plan.hasKernels();
  std::erase_if(m_checks, [canBeSanitised](Check check) { return check == Check::Sanitizer && !canBeSanitised; });
  return {};
}

void ExportChecks::next() {
  m_verification.reset();
  m_sanitizer.reset();
  m_shapes.reset();
  if (m_cancelled || m_failure || m_takenBack || m_checks.empty()) {
    end(m_failure ? Result<>(*m_failure) : m_cancelled ? Result<>(cancelled()) : Result<>());
    return;
  }
  const Check check = m_checks.front();
  m_checks.pop_front();
  switch (check) {
    case Check::FreshProcess: verify(); break;
    case Check::Sanitizer: sanitise(); break;
    case Check::HeldOutShapes: checkShapes(); break;
  }
}

void ExportChecks::verify() {
  Q_EMIT checkStarted(AssuranceKind::FreshProcess);
  m_elapsed.start();
  m_verification = std::make_unique<trust::Verification>(m_programs, m_project, m_candidate);
  connect(m_verification.get(), &trust::Verification::finished, this, &ExportChecks::handleVerified);
  m_verification->start();
}

void ExportChecks::handleVerified(const Result<domain::Evaluation>& fresh) {
  if (!fresh) {
    m_failure = fresh.error();
  } else if (settle(judge(*fresh))) {
    const std::optional<Assurance> heldBack = trust::heldBackAssurance(*fresh);
    if ((!heldBack || settle(*heldBack)) && domain::asCorrect(*fresh) == nullptr) {
      m_takenBack = takeBack(*fresh);
    }
  }
  QTimer::singleShot(0, this, &ExportChecks::next);  // we are inside the signal of what next() destroys
}

Assurance ExportChecks::judge(const domain::Evaluation& fresh) const {
  Assurance assurance{.kind = AssuranceKind::FreshProcess, .verdict = AssuranceVerdict::Failed, .detail = {}};
  assurance.seconds = static_cast<double>(m_elapsed.elapsed()) * 1e-3;
  const domain::Correct* before = m_row.evaluation ? domain::asCorrect(*m_row.evaluation) : nullptr;
  const domain::Correct* now = domain::asCorrect(fresh);
  if (before == nullptr || now == nullptr) {
    assurance.detail = now == nullptr ? run::findContradiction({}, fresh) : "it was not correct before";
    return assurance;
  }
  assurance.detail = run::findContradiction(before->timing, fresh);
  if (assurance.detail.empty()) {
    assurance.verdict = AssuranceVerdict::Passed;
    assurance.detail = fmt::format("{}; recorded {}", exporting::timingText(now->timing.candidate),
                                   exporting::timingText(before->timing.candidate));
  }
  return assurance;
}

void ExportChecks::sanitise() {
  if (m_programs.sanitizer.empty()) {
    for (const AssuranceKind tool : trust::kSanitizerTools) {
      if (!settle(
              {.kind = tool, .verdict = AssuranceVerdict::Unavailable, .detail = std::string(trust::kNoSanitizer)})) {
        break;
      }
    }
    next();
    return;
  }
  if (!m_programs.deviceIsLeased) {
    Result<process::DeviceLease> lease = process::DeviceLease::take(m_run.device);
    if (!lease) {
      m_failure = lease.error();
      next();
      return;
    }
    m_lease = std::move(*lease);
  }
  m_sanitizer = std::make_unique<trust::SanitizerCheck>(trust::SanitizerCheck::Options{
      .sanitizer = m_programs.sanitizer, .replay = m_programs.replay, .ordinal = m_run.device.ordinal});
  connect(m_sanitizer.get(), &trust::SanitizerCheck::found, this, &ExportChecks::handleSanitised);
  connect(m_sanitizer.get(), &trust::SanitizerCheck::finished, this, [this] {
    m_lease.reset();
    QTimer::singleShot(0, this, &ExportChecks::next);
  });
  m_tools.assign(trust::kSanitizerTools.begin(), trust::kSanitizerTools.end());
  Q_EMIT checkStarted(m_tools.front());
  const Result<> started = m_sanitizer->start(m_row.program.plan, m_binary, {m_tools.begin(), m_tools.end()});
  if (!started) {
    m_failure = started.error();
    next();
  }
}

void ExportChecks::handleSanitised(const Assurance& assurance) {
  if (!settle(assurance)) {
    m_sanitizer->cancel();  // nobody would hear of what it still finds
    return;
  }
  if (assurance.verdict == AssuranceVerdict::Failed) {
    m_takenBack = takeBack(trust::evaluationAfter(assurance));
    return;  // the other tools are not run
  }
  if (!m_tools.empty()) {
    m_tools.pop_front();
  }
  if (!m_tools.empty()) {
    Q_EMIT checkStarted(m_tools.front());
  }
}

void ExportChecks::checkShapes() {
  Q_EMIT checkStarted(AssuranceKind::HeldOutShapes);
  m_shapes = std::make_unique<trust::HeldOutShapes>(m_programs, m_project, m_candidate);
  connect(m_shapes.get(), &trust::HeldOutShapes::finished, this, [this](const Result<Assurance>& assurance) {
    if (assurance && !settle(*assurance)) {
      m_checks.clear();
    }
    QTimer::singleShot(0, this, &ExportChecks::next);
  });
  m_shapes->start();
}

bool ExportChecks::settle(const Assurance& assurance) {
  if (m_cancelled || m_failure) {
    return false;
  }
  if (!isKept(record(assurance))) {
    return false;
  }
  Q_EMIT checkEnded(assurance);
  return true;
}

// That a check cannot be done here takes nothing away from what was found elsewhere.
Result<> ExportChecks::record(const Assurance& assurance) const {
  if (assurance.verdict == AssuranceVerdict::Unavailable) {
    SWAGE_TRY_ASSIGN(const store::Record known, store::Record::open(m_project, store::Record::Mode::ReadOnly));
    SWAGE_TRY_ASSIGN(const std::vector<Assurance> all, known.assurances(m_candidate));
    const bool isSettled = std::any_of(all.begin(), all.end(), [&assurance](const Assurance& one) {
      return one.kind == assurance.kind && one.verdict != AssuranceVerdict::Unavailable;
    });
    if (isSettled) {
      return {};
    }
  }
  return trust::recordAssurance(m_project, m_candidate, assurance);
}

// As at the end of a search: what fails is no longer correct.
bool ExportChecks::takeBack(const domain::Evaluation& evaluation) {
  const auto write = [&]() -> Result<> {
    SWAGE_TRY_ASSIGN(store::Record record, store::Record::open(m_project, store::Record::Mode::ReadWrite));
    return record.setEvaluation(m_candidate, evaluation, m_row.elapsedSeconds);
  };
  return isKept(write());
}

bool ExportChecks::isKept(const Result<>& written) {
  if (written) {
    return true;
  }
  if (m_keeping == Keeping::IfPossible && written.error().kind() == ErrorKind::Locked) {
    log::info("the result of the checks is not recorded: {}", written.error().message());
    return true;
  }
  m_failure = written.error();
  return false;
}

void ExportChecks::cancel() {
  m_cancelled = true;
  if (m_verification) {
    m_verification->cancel();
  }
  if (m_sanitizer) {
    m_sanitizer->cancel();
  }
  if (m_shapes) {
    m_shapes->cancel();
  }
}

void ExportChecks::end(const Result<>& done) {
  m_lease.reset();
  Q_EMIT finished(done);
}

}  // namespace swage::engine
