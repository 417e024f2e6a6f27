// SPDX-License-Identifier: Apache-2.0
#include "core/engine/finishing_pass.h"

#include <algorithm>

#include "core/domain/json.h"
#include "core/engine/trust.h"
#include "core/engine/verification.h"

namespace swage::engine {

std::vector<FinishingPass::Contender> contendersOf(const search::Archive& archive) {
  std::map<domain::CandidateId, double> times;  // an elite may have migrated: it is one contender
  for (int index = 0; index < domain::kCellCount; ++index) {
    for (int island = 0; island < archive.islandCount(); ++island) {
      const auto& elite = archive.at(island, domain::Cell::fromIndex(index)).elite;
      if (elite && elite->candidate.isValid()) {
        times.emplace(elite->candidate, elite->timeNs);
      }
    }
  }
  std::vector<FinishingPass::Contender> result;
  result.reserve(times.size());
  for (const auto& [id, time] : times) {
    result.push_back({.id = id, .timeNs = time});
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.timeNs < b.timeNs; });
  return result;
}

namespace {

Remeasured resultOf(const domain::Correct& correct, const domain::LaunchPlan& plan) {
  Remeasured result;
  result.timing = correct.timing;
  result.launches = plan.launchCount();
  for (const domain::OutputError& error : correct.errors) {
    result.relativeError = std::max(result.relativeError, error.relativeL2);
  }
  return result;
}

}  // namespace

FinishingPass::FinishingPass(store::Record& record, WorkerSupervisor& worker, const search::Archive& archive,
                             Options options, QObject* parent)
    : QObject(parent),
      m_record(record),
      m_worker(worker),
      m_options(std::move(options)),
      m_contenders(contendersOf(archive)) {}

FinishingPass::~FinishingPass() = default;

// NOLINTNEXTLINE(readability-make-member-function-const): it starts what changes this
void FinishingPass::start() {
  QTimer::singleShot(0, this, &FinishingPass::measureNext);
}

std::optional<domain::CandidateId> FinishingPass::nextContender() const {
  if (m_options.identity.isValid() && !m_measured.contains(m_options.identity)) {
    return m_options.identity;
  }
  const auto open = std::find_if(m_contenders.begin(), m_contenders.end(),
                                 [this](const Contender& c) { return !m_measured.contains(c.id); });
  if (open == m_contenders.end() || static_cast<int>(m_measured.size()) > m_options.maxContenders) {
    return std::nullopt;
  }
  if (std::distance(m_contenders.begin(), open) < m_options.contenders) {
    return open->id;
  }
  for (const auto& [id, timing] : m_measured) {
    if (timing && !m_doubted.contains(id) && timing->timing.candidate.medianNs <= open->timeNs) {
      return std::nullopt;
    }
  }
  return open->id;
}

void FinishingPass::measureNext() {
  const std::optional<domain::CandidateId> next = m_cancelled ? std::nullopt : nextContender();
  if (!next) {
    conclude();
    return;
  }
  if (const Result<> sent = send(*next); !sent) {
    fail(sent.error());
  }
}

Result<> FinishingPass::send(domain::CandidateId id) {
  SWAGE_TRY_ASSIGN(store::CandidateRecord candidate, m_record.candidate(id));
  wire::Evaluate message;
  if (candidate.program.plan.hasKernels()) {
    SWAGE_TRY_ASSIGN(message.binary, m_record.binary(candidate.binaryHash));
  }
  message.plan = candidate.program.plan;
  message.timingBudgetSeconds = m_options.timingBudgetSeconds;
  message.maxSamples = m_options.maxSamples;
  message.limitSeconds = m_options.limitSeconds;
  message.heldBack = true;
  m_current = std::move(candidate);
  connect(&m_worker, &WorkerSupervisor::evaluated, this, &FinishingPass::handleEvaluated, Qt::SingleShotConnection);
  m_worker.evaluate(std::move(message));
  return {};
}

void FinishingPass::handleEvaluated(const EvaluationResult& result) {
  store::CandidateRecord candidate = std::move(*m_current);
  m_current.reset();
  if (result.interrupted) {
    return;  // killed; whoever did it does not wait for us
  }
  candidate.evaluation = result.evaluation;
  const domain::Correct* correct = domain::asCorrect(result.evaluation);
  m_measured[candidate.id] =
      correct != nullptr ? std::optional(resultOf(*correct, candidate.program.plan)) : std::nullopt;
  if (const Result<> stored = m_record.setEvaluation(candidate.id, result.evaluation, candidate.elapsedSeconds);
      !stored) {
    fail(stored.error());
    return;
  }
  if (const auto heldBack = heldBackAssurance(result.evaluation)) {
    if (const Result<> stored = m_record.setAssurance(candidate.id, *heldBack); !stored) {
      fail(stored.error());
      return;
    }
  }
  Q_EMIT remeasured(candidate);
  measureNext();
}

void FinishingPass::cancel() {
  m_cancelled = true;
  if (m_fresh) {
    m_fresh->cancel();
  }
}

void FinishingPass::abandon() {
  m_cancelled = true;
  m_fresh.reset();
}

void FinishingPass::conclude() {
  const domain::CandidateId best = chooseWinner(m_measured, m_options.identity, m_doubted);
  if (best.isValid() && mustBeConfirmed(best)) {
    confirm(best);
    return;
  }
  if (const Result<> stored = store(best); !stored) {
    fail(stored.error());
    return;
  }
  Q_EMIT finished(best);
}

bool FinishingPass::mustBeConfirmed(domain::CandidateId candidate) const {
  return candidate != m_options.identity && !m_confirmed.contains(candidate) &&
         isIncredible(m_measured.at(candidate)->timing, m_options.baselineNs);
}

void FinishingPass::confirm(domain::CandidateId candidate) {
  if (m_cancelled || !m_options.freshProcess) {
    handleConfirmation(candidate, Error(ErrorKind::Cancelled, "no other process was started"));
    return;
  }
  m_fresh = m_options.freshProcess(candidate);
  connect(m_fresh.get(), &Verification::finished, this, [this, candidate](const Result<domain::Evaluation>& fresh) {
    m_fresh.release()->deleteLater();
    handleConfirmation(candidate, fresh);
  });
  m_fresh->start();
}

void FinishingPass::handleConfirmation(domain::CandidateId candidate, const Result<domain::Evaluation>& fresh) {
  const domain::Assurance assurance = judge(candidate, fresh);
  if (const Result<> stored = m_record.setAssurance(candidate, assurance); !stored) {
    fail(stored.error());
    return;
  }
  if (assurance.verdict == domain::AssuranceVerdict::Passed) {
    m_confirmed.insert(candidate);
  } else {
    m_doubted.insert(candidate);
    Q_EMIT doubted(candidate, assurance.detail);
  }
  measureNext();  // whoever is next best may not have been measured again
}

domain::Assurance FinishingPass::judge(domain::CandidateId candidate, const Result<domain::Evaluation>& fresh) const {
  domain::Assurance assurance;
  assurance.kind = domain::AssuranceKind::FreshProcess;
  if (!fresh) {
    assurance.verdict = domain::AssuranceVerdict::Unavailable;
    assurance.detail = "it could not be measured in another process: " + fresh.error().message();
    return assurance;
  }
  assurance.detail = findContradiction(m_measured.at(candidate)->timing, *fresh);
  assurance.verdict = assurance.detail.empty() ? domain::AssuranceVerdict::Passed : domain::AssuranceVerdict::Failed;
  return assurance;
}

Result<> FinishingPass::store(domain::CandidateId winner) {
  nlohmann::json json = {{"winner", winner.value()}, {"measured", nlohmann::json::array()}};
  for (const auto& [id, result] : m_measured) {
    nlohmann::json entry = {{"candidate", id.value()}};
    entry["timing"] = result ? domain::toJson(result->timing) : nlohmann::json();
    entry["doubted"] = m_doubted.contains(id);
    json["measured"].push_back(std::move(entry));
  }
  SWAGE_TRY(m_record.addEvent(m_options.run, "finishing pass", json.dump()));
  return winner.isValid() ? m_record.setWinner(m_options.run, winner) : Result<>();
}

void FinishingPass::fail(Error error) {
  Q_EMIT finished(std::move(error).withContext("measuring the best candidates again"));
}

}  // namespace swage::engine
