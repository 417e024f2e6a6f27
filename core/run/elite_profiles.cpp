// SPDX-License-Identifier: Apache-2.0
#include "core/run/elite_profiles.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/trust/recorded_candidate.h"

namespace swage::run {

EliteProfiles::EliteProfiles(store::Record& record, const RemeasuredCandidates& measured, Options options,
                             QObject* parent)
    : QObject(parent), m_record(record), m_options(std::move(options)) {
  for (const auto& [id, result] : measured) {
    if (result) {
      m_waiting.push_back({id, result->timing.candidate.medianNs});
    }
  }
  m_deadline.setSingleShot(true);
  connect(&m_deadline, &QTimer::timeout, this, [this] { giveUp("there was no time left for profiles"); });
}

void EliteProfiles::start(domain::CandidateId winner) {
  m_running = true;
  std::stable_sort(m_waiting.begin(), m_waiting.end(), [winner](const Subject& a, const Subject& b) {
    return std::pair(a.id != winner, a.timeNs) < std::pair(b.id != winner, b.timeNs);
  });
  m_clock.start();
  m_deadline.start(m_options.endWithin);
  QTimer::singleShot(0, this, &EliteProfiles::profileNext);
}

void EliteProfiles::cancel() {
  giveUp("profiling was stopped");
}

void EliteProfiles::giveUp(const std::string& why) {
  m_over = true;
  note(why);
  if (m_profiling) {
    m_profiling->cancel();
  }
}

void EliteProfiles::profileNext() {
  m_profiling.reset();
  while (!m_over && !m_waiting.empty() && m_tried < m_options.candidates) {
    if (m_clock.elapsed() > m_options.startWithin.count()) {
      giveUp("there was no time left for profiles");
      break;
    }
    const Subject next = m_waiting.front();
    m_waiting.pop_front();
    if (begin(next.id)) {
      return;
    }
  }
  conclude();
}

// False when there is nothing to look into: no kernel, as in the task's own operators, or no candidate, or one that was
// profiled during the search or by a person.
bool EliteProfiles::begin(domain::CandidateId id) {
  const Result<std::optional<domain::Profile>> known = m_record.profile(id);
  if (known && known->has_value() && (*known)->source != domain::ProfileSource::Compiler) {
    return false;
  }
  Result<trust::RecordedCandidate> candidate = trust::readCandidate(m_record, id);
  if (candidate && !candidate->plan.hasKernels()) {
    return false;
  }
  ++m_tried;
  if (!candidate) {
    note(candidate.error().message());
    return false;
  }
  Profiling::Options options;
  options.worker = m_options.worker;
  options.stopGrace = m_options.stopGrace;
  options.takesLease = false;
  options.limitSeconds = static_cast<double>(m_options.endWithin.count() - m_clock.elapsed()) / 1e3;
  m_profiling = std::make_unique<Profiling>(std::move(options), std::move(*candidate));
  connect(m_profiling.get(), &Profiling::finished, this,
          [this, id](const Result<domain::Profile>& profile) { handleProfile(id, profile); });
  m_profiling->start();
  return true;
}

// The next one begins later: whoever calls this is about to go.
void EliteProfiles::handleProfile(domain::CandidateId id, const Result<domain::Profile>& profile) {
  const Result<> stored = profile ? m_record.setProfile(id, *profile) : Result<>(profile.error());
  if (stored) {
    ++m_done;
  } else {
    note(stored.error().message());
  }
  QTimer::singleShot(0, this, &EliteProfiles::profileNext);
}

void EliteProfiles::note(std::string why) {
  if (m_why.empty()) {
    m_why = std::move(why);
  }
}

void EliteProfiles::conclude() {
  m_deadline.stop();
  m_running = false;
  const bool complete = m_done == m_tried && !m_over;
  Q_EMIT finished(complete
                      ? std::string()
                      : fmt::format("not all of the fastest candidates have a profile ({} have): {}", m_done, m_why));
}

}  // namespace swage::run
