// SPDX-License-Identifier: Apache-2.0
#include "core/run/finishing_pass.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/domain/json.h"
#include "core/trust/trust.h"
#include "core/trust/verification.h"

namespace swage::run {
namespace {

constexpr int kMostRepeats = 2;
constexpr std::int64_t kFastest = 16;  // of those that are still correct, which stand in for what was not
constexpr int kMostWithoutOne = 64;    // before one is correct again: the checks or the task are to blame

// Half the interval, relative.
double widthOf(const Remeasured& result) {
  const domain::Speedup speedup = domain::againstEager(result.timing);
  return speedup.isKnown() ? (speedup.high - speedup.low) / speedup.value : std::numeric_limits<double>::max();
}

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

FinishingPass::FinishingPass(store::Record& record, process::WorkerSupervisor& worker, const search::Archive& archive,
                             Options options, QObject* parent)
    : QObject(parent),
      m_record(record),
      m_worker(worker),
      m_options(std::move(options)),
      m_contenders(search::contendersOf(archive)) {}

FinishingPass::~FinishingPass() = default;

void FinishingPass::start() {
  m_start = m_options.now();
  QTimer::singleShot(0, this, [this] {
    Result<> taken = takeKnown();
    if (taken && m_options.lostElites) {
      taken = addFastest();
    }
    if (!taken) {
      fail(taken.error());
      return;
    }
    measureNext();
  });
}

Result<> FinishingPass::takeKnown() {
  std::set<domain::CandidateId> known = m_options.known;
  if (m_options.identity.isValid()) {
    known.insert(m_options.identity);
  }
  for (const domain::CandidateId id : known) {
    SWAGE_TRY_ASSIGN(const store::CandidateRecord candidate, m_record.candidate(id));
    const domain::Correct* correct = candidate.evaluation ? domain::asCorrect(*candidate.evaluation) : nullptr;
    m_measured[id] = correct != nullptr ? std::optional(resultOf(*correct, candidate.program.plan)) : std::nullopt;
  }
  return {};
}

// Of what is correct by now: the more contenders turn out wrong, the slower ones are among these.
Result<> FinishingPass::addFastest() {
  store::CandidateQuery query;
  query.run = m_options.run;
  query.status = domain::CandidateStatus::Correct;
  query.sort = domain::CandidateColumn::Time;
  query.limit = kFastest;
  SWAGE_TRY_ASSIGN(const std::vector<store::CandidateRow> fastest, m_record.candidates(query));
  for (const store::CandidateRow& row : fastest) {
    const bool isContender = std::any_of(m_contenders.begin(), m_contenders.end(),
                                         [&row](const search::Contender& known) { return known.id == row.id; });
    if (isContender || m_measured.contains(row.id)) {
      continue;
    }
    SWAGE_TRY_ASSIGN(const store::CandidateRecord candidate, m_record.candidate(row.id));
    if (const domain::Correct* correct = candidate.evaluation ? domain::asCorrect(*candidate.evaluation) : nullptr) {
      m_contenders.push_back({.id = row.id, .overEager = domain::Speedup::exactly(correct->timing.speedup)});
    }
  }
  search::rank(m_contenders);
  return {};
}

domain::Speedup FinishingPass::speedupOf(const Remeasured& result) const {
  const domain::Speedup overEager = domain::againstEager(result.timing);
  return m_options.eagerSpeedup.isKnown() ? overEager.times(m_options.eagerSpeedup) : overEager;
}

std::optional<domain::CandidateId> FinishingPass::nextContender() const {
  const auto open = std::find_if(m_contenders.begin(), m_contenders.end(),
                                 [this](const search::Contender& c) { return !m_measured.contains(c.id); });
  const int most = hasOurs() ? m_options.maxContenders : kMostWithoutOne;
  if (open == m_contenders.end() || static_cast<int>(m_measured.size()) > most) {
    return nextUncertain();
  }
  if (std::distance(m_contenders.begin(), open) < m_options.contenders) {
    return open->id;
  }
  for (const auto& [id, result] : m_measured) {
    const bool isContender = result && id != m_options.identity && !m_doubted.contains(id);
    if (isContender && !domain::ranksBefore(open->overEager, domain::againstEager(result->timing))) {
      return nextUncertain();
    }
  }
  return open->id;
}

// Whoever could win if its interval were narrower.
std::optional<domain::CandidateId> FinishingPass::nextUncertain() const {
  const domain::CandidateId winner = chooseWinner(m_measured, m_options.identity, m_options.eagerSpeedup, m_doubted);
  const auto leader = m_measured.find(winner);
  const bool hasLeader = leader != m_measured.end() && leader->second && winner != m_options.identity &&
                         !isUncertain(leader->second->timing);
  const double toBeat = hasLeader ? speedupOf(*leader->second).low : 1.0;
  for (const auto& [id, result] : m_measured) {
    const auto repeats = m_repeats.find(id);
    const bool mayRepeat = repeats == m_repeats.end() || repeats->second < kMostRepeats;
    if (result && id != m_options.identity && !m_doubted.contains(id) && mayRepeat && isUncertain(result->timing) &&
        speedupOf(*result).high > toBeat) {
      return id;
    }
  }
  return std::nullopt;
}

bool FinishingPass::hasOurs() const {
  return std::any_of(m_measured.begin(), m_measured.end(), [this](const auto& one) {
    return one.second && one.first != m_options.identity && !m_doubted.contains(one.first);
  });
}

// Without a measurement of ours there would be no winner, however many wait.
bool FinishingPass::isTimeOver() const {
  const std::chrono::duration<double> elapsed = m_options.now() - m_start;
  return hasOurs() && m_options.budgetSeconds > 0.0 && elapsed.count() > m_options.budgetSeconds;
}

void FinishingPass::measureNext() {
  const std::optional<domain::CandidateId> next = m_cancelled || isTimeOver() ? std::nullopt : nextContender();
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
  if (m_measured.contains(id)) {
    ++m_repeats[id];
  }
  const int times = 1 << (m_repeats.contains(id) ? m_repeats.at(id) : 0);
  message.timingBudgetSeconds = times * m_options.timingBudgetSeconds;
  message.maxSamples = times * m_options.maxSamples;
  message.checkSeconds = m_options.checkSeconds;
  message.limitSeconds = m_options.limitSeconds;
  message.heldBack = true;
  m_current = std::move(candidate);
  connect(&m_worker, &process::WorkerSupervisor::evaluated, this, &FinishingPass::handleEvaluated,
          Qt::SingleShotConnection);
  m_worker.evaluate(std::move(message));
  return {};
}

void FinishingPass::handleEvaluated(const process::EvaluationResult& result) {
  store::CandidateRecord candidate = std::move(*m_current);
  m_current.reset();
  if (result.interrupted) {
    return;  // killed; whoever did it does not wait for us
  }
  candidate.evaluation = result.evaluation;
  if (const Result<> stored = keep(candidate); !stored) {
    fail(stored.error());
    return;
  }
  measureNext();
}

// A repetition only counts if its interval is narrower, or if it is not correct.
Result<> FinishingPass::keep(const store::CandidateRecord& candidate) {
  const domain::Correct* correct = domain::asCorrect(*candidate.evaluation);
  const auto now = correct != nullptr ? std::optional(resultOf(*correct, candidate.program.plan)) : std::nullopt;
  const auto before = m_measured.find(candidate.id);
  if (now && before != m_measured.end() && before->second && widthOf(*now) >= widthOf(*before->second)) {
    return {};
  }
  m_measured[candidate.id] = now;
  SWAGE_TRY(m_record.setEvaluation(candidate.id, *candidate.evaluation, candidate.elapsedSeconds));
  if (!now) {
    SWAGE_TRY(addFastest());
  }
  if (const auto heldBack = trust::heldBackAssurance(*candidate.evaluation)) {
    SWAGE_TRY(m_record.setAssurance(candidate.id, *heldBack));
  }
  Q_EMIT remeasured(candidate);
  return {};
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
  const domain::CandidateId best = chooseWinner(m_measured, m_options.identity, m_options.eagerSpeedup, m_doubted);
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
         isIncredible(speedupOf(*m_measured.at(candidate)));
}

void FinishingPass::confirm(domain::CandidateId candidate) {
  if (m_cancelled || !m_options.freshProcess) {
    handleConfirmation(candidate, Error(ErrorKind::Cancelled, "no other process was started"));
    return;
  }
  m_fresh = m_options.freshProcess(candidate);
  connect(m_fresh.get(), &trust::Verification::finished, this,
          [this, candidate](const Result<domain::Evaluation>& fresh) {
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
    assurance.detail = "it could not be measured in a fresh process: " + fresh.error().message();
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
  SWAGE_TRY(m_record.addEvent(m_options.run, domain::EventKind::FinishingPass, json.dump()));
  if (!m_doubted.empty()) {  // nor is anybody believed who was not asked
    SWAGE_TRY(m_record.withdrawUnconfirmed(m_options.run, kIncredibleSpeedup));
  }
  return winner.isValid() ? m_record.setWinner(m_options.run, winner) : Result<>();
}

void FinishingPass::fail(Error error) {
  Q_EMIT finished(std::move(error).withContext("measuring the best candidates again"));
}

}  // namespace swage::run
