// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/pinned_baseline.h"

#include <algorithm>
#include <utility>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString candidateName(domain::CandidateId id) {
  return PinnedBaseline::tr("candidate %1").arg(id.value());
}

constexpr qsizetype kMostKept = 50;

bool isOfRun(const QJsonObject& kept, const QJsonObject& key) {
  return kept[u"project"_s] == key[u"project"_s] && kept[u"run"_s] == key[u"run"_s];
}

}  // namespace

DeltaInterval intervalOf(const domain::Timing& timing) {
  return {timing.medianNs, timing.lowNs, timing.highNs};
}

DeltaInterval intervalOf(const services::CandidateRow& row) {
  return {row.timeNs, row.lowNs, row.highNs};
}

PinnedBaseline::PinnedBaseline(ProjectSession& session, const services::RecordService& record,
                               const services::ProfileService& profiles, QObject* parent)
    : QObject(parent), m_session(session), m_record(record), m_profiles(profiles) {
  connect(&session, &ProjectSession::runShown, this, &PinnedBaseline::handleRun);
  connect(&session, &ProjectSession::historyChanged, this, &PinnedBaseline::handleBaselines);
  connect(&profiles, &services::ProfileService::finished, this, [this](domain::CandidateId candidate) {
    if (m_pin.kind == Pin::Kind::Candidate && m_pin.candidate == candidate) {
      reload();
    }
  });
  handleBaselines();
}

void PinnedBaseline::pin(const Pin& pin) {
  m_chosen = true;
  if (pin != m_pin) {
    m_pin = pin;
    reload();
  }
  keep();
}

QJsonObject PinnedBaseline::keyOfRun() const {
  return {{u"project"_s, toQString(m_session.project().string())},
          {u"run"_s, static_cast<qint64>(m_session.shownRun().value())}};
}

void PinnedBaseline::keep() {
  QJsonObject one = keyOfRun();
  for (qsizetype i = m_kept.size() - 1; i >= 0; --i) {
    if (isOfRun(m_kept.at(i).toObject(), one)) {
      m_kept.removeAt(i);
    }
  }
  one.insert(u"mode"_s, toQString(m_pin.mode));
  one.insert(u"candidate"_s, static_cast<qint64>(m_pin.candidate.value()));
  m_kept.push_back(one);
  while (m_kept.size() > kMostKept) {
    m_kept.removeFirst();
  }
}

QJsonObject PinnedBaseline::saveState() const {
  return {{u"pinned"_s, m_kept}};
}

void PinnedBaseline::restoreState(const QJsonObject& state) {
  m_kept = state[u"pinned"_s].toArray();
  handleRun();
}

void PinnedBaseline::pinCandidate(domain::CandidateId candidate) {
  pin({Pin::Kind::Candidate, {}, candidate});
}

// What the user pinned for the shown run. No value: nothing was, or it is not there any more.
std::optional<Pin> PinnedBaseline::keptPin() const {
  const QJsonObject key = keyOfRun();
  const auto found = std::find_if(m_kept.begin(), m_kept.end(),
                                  [&key](const QJsonValue& one) { return isOfRun(one.toObject(), key); });
  if (!m_session.shownRun().isValid() || found == m_kept.end()) {
    return std::nullopt;
  }
  const QJsonObject kept = found->toObject();
  const domain::CandidateId candidate(kept[u"candidate"_s].toInteger());
  if (!candidate.isValid()) {
    const std::string mode = kept[u"mode"_s].toString().toStdString();
    return mode.empty() ? Pin{} : Pin{Pin::Kind::Baseline, mode, {}};
  }
  const auto detail = m_record.candidate(candidate);
  return detail && detail->row.run == m_session.shownRun() ? std::optional(Pin{Pin::Kind::Candidate, {}, candidate})
                                                           : std::nullopt;
}

void PinnedBaseline::handleRun() {
  const std::optional<Pin> kept = keptPin();
  m_chosen = kept.has_value();
  if (kept) {
    m_pin = *kept;
    reload();
  }
  handleBaselines();
}

// A live run measures its baselines one after another.
void PinnedBaseline::handleBaselines() {
  if (!m_chosen) {
    const auto& summary = m_session.summary();
    m_pin = summary && !summary->baselineMode.empty() ? Pin{Pin::Kind::Baseline, summary->baselineMode, {}} : Pin{};
  }
  if (m_pin.kind == Pin::Kind::Candidate) {
    Q_EMIT changed();  // only the choices did
  } else {
    reload();
  }
}

void PinnedBaseline::reload() {
  switch (m_pin.kind) {
    case Pin::Kind::Nothing: m_numbers.reset(); break;
    case Pin::Kind::Baseline: m_numbers = baselineNumbers(); break;
    case Pin::Kind::Candidate: m_numbers = candidateNumbers(); break;
  }
  Q_EMIT changed();
}

std::optional<PinnedNumbers> PinnedBaseline::baselineNumbers() const {
  const auto& baselines = m_session.baselines();
  const auto found = std::find_if(baselines.begin(), baselines.end(),
                                  [this](const domain::Baseline& baseline) { return baseline.mode == m_pin.mode; });
  if (found == baselines.end()) {
    return std::nullopt;
  }
  return PinnedNumbers{toQString(found->mode), intervalOf(found->timing), found->timing.minNs, std::nullopt,
                       std::nullopt};
}

std::optional<PinnedNumbers> PinnedBaseline::candidateNumbers() const {
  auto detail = m_record.candidate(m_pin.candidate);
  if (!detail) {
    m_session.report(detail.error());
    return std::nullopt;
  }
  PinnedNumbers numbers{candidateName(m_pin.candidate), intervalOf(detail->row), 0.0, std::nullopt, std::nullopt};
  if (const domain::Correct* correct = detail->evaluation ? domain::asCorrect(*detail->evaluation) : nullptr) {
    numbers.leastNs = correct->timing.candidate.minNs;
  }
  if (auto report = m_profiles.report(m_pin.candidate)) {
    numbers.report = std::move(*report);
  } else {
    m_session.report(report.error());
  }
  numbers.detail = std::move(*detail);
  return numbers;
}

std::vector<PinnedBaseline::Choice> PinnedBaseline::choices() const {
  std::vector<Choice> choices = {{tr("nothing"), {}}};
  for (const domain::Baseline& baseline : m_session.baselines()) {
    if (baseline.failure.empty()) {
      choices.push_back({toQString(baseline.mode), {Pin::Kind::Baseline, baseline.mode, {}}});
    }
  }
  if (m_pin.kind == Pin::Kind::Candidate) {
    choices.push_back({candidateName(m_pin.candidate), m_pin});
  }
  return choices;
}

}  // namespace swage::ui
