// SPDX-License-Identifier: Apache-2.0
#include "core/run/search_profiles.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/search/contenders.h"

namespace swage::run {
namespace {

using domain::CandidateId;

constexpr double kProfilingSeconds = 2.0;  // of a few kernels, beside what a worker takes to be ready
constexpr double kNear = 1.5;              // times slower than the best: as pairs have it
// The worker ends by itself before the limit, with what it has: the rest is for its start and its end. It has at least
// this share for itself.
constexpr double kOwnShare = 0.5;
constexpr double kEndSeconds = 1.0;

// Of this sitting; 0: no limit.
double budgetOf(const RunContext& context) {
  const double whole = context.spec.timeBudgetSeconds;
  return whole > 0.0 ? std::max(whole - context.clock.elapsedSeconds(), 0.1) : 0.0;
}

// Times of kernels alone are little for what they cost: nobody has counted, and nobody has looked where they wait.
bool isWorthRepeating(const domain::Profile& profile) {
  return profile.source == domain::ProfileSource::Counters ||
         std::any_of(profile.kernels.begin(), profile.kernels.end(),
                     [](const domain::KernelProfile& kernel) { return !kernel.instructions.empty(); });
}

Error limitationOf(const domain::Profile& profile) {
  return {
      ErrorKind::Environment,
      profile.limitation.empty() ? std::string("nothing counts or samples what kernels do here") : profile.limitation,
      "`swage profile CANDIDATE` takes the time that it needs; `swage doctor` says whether there are counters"};
}

}  // namespace

std::vector<CandidateId> profileOrder(const search::Archive& archive) {
  std::vector<search::Contender> all = search::contendersOf(archive);
  if (all.empty()) {
    return {};
  }
  const double best = all.front().overEager.value;
  std::erase_if(all, [best](const search::Contender& one) { return one.overEager.value * kNear < best; });
  std::set<CandidateId> leaders;
  for (int island = 0; island < archive.islandCount(); ++island) {
    const std::vector<search::PlacedElite> here = archive.elites(island);
    const auto first = std::min_element(here.begin(), here.end(), [](const auto& a, const auto& b) {
      return domain::ranksBefore(a.elite->overEager, b.elite->overEager);
    });
    if (first != here.end()) {
      leaders.insert(first->elite->candidate);
    }
  }
  std::stable_partition(all.begin(), all.end(),
                        [&leaders](const search::Contender& one) { return leaders.contains(one.id); });
  std::vector<CandidateId> order;
  order.reserve(all.size());
  for (const search::Contender& one : all) {
    order.push_back(one.id);
  }
  return order;
}

SearchProfiles::SearchProfiles(RunContext& context, RunRigs& rigs, QObject* parent)
    : QObject(parent),
      m_context(context),
      m_rigs(rigs),
      m_earlierSeconds(context.clock.elapsedSeconds()),
      m_schedule({.budgetSeconds = budgetOf(context), .firstSeconds = context.readySeconds + kProfilingSeconds}) {
  m_deadline.setSingleShot(true);
  connect(&m_deadline, &QTimer::timeout, this, [this] {
    m_isLate = true;
    if (m_profiling) {
      m_profiling->cancel();
    }
  });
  // A worker whose device is lost makes no room.
  connect(&m_rigs, &RunRigs::left, this, [this](process::WorkerSupervisor& worker) {
    if (m_host == &worker) {
      begin();
    }
  });
}

double SearchProfiles::elapsedSeconds() const {
  return m_context.clock.elapsedSeconds() - m_earlierSeconds;
}

bool SearchProfiles::isDue(std::int64_t evaluations) {
  const auto most = static_cast<double>(m_context.spec.maxEvaluations);
  const bool isTooLate = most > 0.0 && static_cast<double>(evaluations) > ProfileSchedule::kLastBegin * most;
  return !m_running && !m_isGivenUp && !isTooLate && m_schedule.isDue(elapsedSeconds()) && next().has_value();
}

std::optional<CandidateId> SearchProfiles::next() {
  const std::vector<CandidateId> order = profileOrder(m_context.searcher->archive());
  const auto found = std::find_if(order.begin(), order.end(), [this](CandidateId id) { return !isKnown(id); });
  return found == order.end() ? std::nullopt : std::optional(*found);
}

// Also of an earlier sitting. What the compiler said is no profile, and what cannot be read is not looked into again.
bool SearchProfiles::isKnown(CandidateId id) {
  if (m_known.contains(id)) {
    return true;
  }
  const Result<std::optional<domain::Profile>> profile = m_context.record->profile(id);
  const bool isThere = !profile || (profile->has_value() && (*profile)->source != domain::ProfileSource::Compiler);
  if (isThere) {
    m_known.insert(id);
  }
  return isThere;
}

bool SearchProfiles::start() {
  const std::optional<CandidateId> chosen = next();
  if (!chosen) {
    return false;
  }
  m_candidate = *chosen;
  m_running = true;
  m_cancelled = false;
  m_begunAt = elapsedSeconds();
  m_limitSeconds = m_schedule.limitSeconds(m_begunAt);
  m_deadline.start(std::chrono::milliseconds(static_cast<std::int64_t>(m_limitSeconds * 1e3)));
  QTimer::singleShot(0, this, &SearchProfiles::makeRoom);  // whoever calls this is inside of a worker's signal
  return true;
}

// On a GPU the task is there twice meanwhile.
void SearchProfiles::makeRoom() {
  if (m_cancelled || m_context.device.kind != domain::DeviceKind::Cuda) {
    begin();
    return;
  }
  process::WorkerSupervisor& worker = m_rigs.first().worker();
  m_host = &worker;
  m_room = connect(&worker, &process::WorkerSupervisor::roomMade, this, &SearchProfiles::begin);
  worker.makeRoom();
}

void SearchProfiles::begin() {
  disconnect(m_room);
  m_host = nullptr;
  if (m_cancelled || m_isLate) {
    giveUpLate();
    conclude();
    return;
  }
  Result<trust::RecordedCandidate> candidate = trust::readCandidate(*m_context.record, m_candidate);
  if (!candidate) {
    giveUp(candidate.error());
    conclude();
    return;
  }
  Profiling::Options options;
  options.worker = m_context.parts.programs.workerCommand(m_context.device.kind);
  options.stopGrace = m_context.parts.programs.stopGrace;
  options.limitSeconds = std::max(kOwnShare * m_limitSeconds, m_limitSeconds - m_context.readySeconds - kEndSeconds);
  options.takesLease = false;
  m_profiling = std::make_unique<Profiling>(std::move(options), std::move(*candidate));
  connect(m_profiling.get(), &Profiling::finished, this, &SearchProfiles::handleProfile);
  m_profiling->start();
}

// What came in spite of being cancelled is as good.
void SearchProfiles::handleProfile(const Result<domain::Profile>& profile) {
  if (profile) {
    keep(*profile);
  } else if (m_isLate) {
    giveUpLate();
  } else if (!m_cancelled) {
    giveUp(profile.error());
  }
  QTimer::singleShot(0, this, &SearchProfiles::conclude);  // whoever calls this is about to go
}

void SearchProfiles::keep(const domain::Profile& profile) {
  if (profile.source == domain::ProfileSource::Compiler) {
    giveUp(limitationOf(profile));
    return;
  }
  if (const Result<> stored = m_context.record->setProfile(m_candidate, profile); !stored) {
    giveUp(stored.error());
    return;
  }
  m_known.insert(m_candidate);
  Q_EMIT profiled(m_candidate);
  if (isWorthRepeating(profile)) {
    m_hasOne = true;
  } else {
    giveUp(limitationOf(profile));
  }
}

// A later one has less time than the first: where that is not enough, no message is needed.
void SearchProfiles::giveUp(const Error& why) {
  if (std::exchange(m_isGivenUp, true)) {
    return;
  }
  if (m_hasOne) {
    log::debug("no more profiles in this search: {}", why.message());
  } else {
    Q_EMIT givenUp(why);
  }
}

void SearchProfiles::giveUpLate() {
  if (m_isLate) {
    giveUp(Error(ErrorKind::Timeout,
                 fmt::format("one takes longer than {:.1f} s, which is all that a search of this length has for it",
                             m_limitSeconds),
                 "`swage profile CANDIDATE` takes the time that it needs"));
  }
}

void SearchProfiles::cancel() {
  m_cancelled = true;
  if (m_profiling) {
    m_profiling->cancel();
  }
}

void SearchProfiles::conclude() {
  m_profiling.reset();
  m_deadline.stop();
  m_schedule.spend(elapsedSeconds() - m_begunAt, elapsedSeconds());
  m_running = false;
  Q_EMIT finished();
}

}  // namespace swage::run
