// SPDX-License-Identifier: Apache-2.0
#include "core/trust/verification.h"

#include <QTimer>

#include <utility>

#include "core/trust/recorded_candidate.h"
#include "core/trust/trust.h"

namespace swage::trust {
namespace {

constexpr double kTimingBudgetSeconds = 2.0;
constexpr double kLimitSeconds = 300.0;
// All of them, as far as the budget goes: what is repeated is compared. Calls of 30 us with cold caches differ by 1 us
// (the middle half of them, on an H200), so that the median of 200 alone may be off by 0.5 %.
constexpr int kMaxSamples = 1000;

Error cancelled() {
  return Error(ErrorKind::Cancelled, "the verification was cancelled");
}

}  // namespace

Verification::Verification(const process::Programs& programs, std::filesystem::path project,
                           domain::CandidateId candidate, QObject* parent)
    : QObject(parent), m_programs(programs), m_project(std::move(project)), m_candidate(candidate) {}

Result<> Verification::prepare() {
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(m_project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(RecordedCandidate candidate, readCandidate(record, m_candidate));
  m_device = candidate.device;
  m_load = std::move(candidate.load);
  m_load.baseSeed += 1000;  // inputs the search never saw
  m_evaluate.plan = std::move(candidate.plan);
  m_evaluate.binary = std::move(candidate.binary);
  m_evaluate.timingBudgetSeconds = kTimingBudgetSeconds;
  m_evaluate.minSamples = kMaxSamples;
  m_evaluate.maxSamples = kMaxSamples;
  m_evaluate.limitSeconds = kLimitSeconds;
  m_evaluate.heldBack = true;
  m_evaluate.timeLaunches = true;
  return {};
}

void Verification::start() {
  QTimer::singleShot(0, this, [this] {
    const Result<> prepared = m_cancelled ? cancelled() : prepare();
    if (!prepared) {
      Q_EMIT finished(prepared.error());
      return;
    }
    startRig();
  });
}

void Verification::startRig() {
  Rig::Options options;
  options.worker.command = m_programs.workerCommand(m_device);
  options.worker.stopGrace = m_programs.stopGrace;
  options.takesLease = !m_programs.deviceIsLeased;
  options.task = [this](const domain::DeviceInfo&) { return m_load; };
  m_rig = std::make_unique<Rig>(std::move(options));
  connect(m_rig.get(), &Rig::ready, this, [this] { m_rig->worker().evaluate(m_evaluate); });
  connect(&m_rig->worker(), &process::WorkerSupervisor::evaluated, this,
          [this](const process::EvaluationResult& result) { conclude(result.evaluation); });
  connect(m_rig.get(), &Rig::refused, this, [this](const Error& error) { conclude(error); });
  connect(m_rig.get(), &Rig::lost, this, [this](const Error& error) { conclude(error); });
  connect(m_rig.get(), &Rig::stopped, this, [this] { Q_EMIT finished(*m_outcome); });
  m_rig->start();
}

void Verification::cancel() {
  m_cancelled = true;
  if (m_rig) {
    conclude(cancelled());
  }
}

void Verification::conclude(Result<domain::Evaluation> outcome) {
  if (!m_outcome) {
    m_outcome = std::move(outcome);
    m_rig->stop();
  }
}

}  // namespace swage::trust
