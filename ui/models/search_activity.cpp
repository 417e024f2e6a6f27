// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/search_activity.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

namespace swage::ui {
namespace {

using services::ActivitySample;
using services::ProposerReport;

constexpr std::chrono::milliseconds kFrame{50};
constexpr std::size_t kMaxSamples = 4096;

// Every other one, and always the last.
void thin(std::vector<ActivitySample>& timeline) {
  std::vector<ActivitySample> kept;
  kept.reserve(kMaxSamples);
  for (std::size_t i = (timeline.size() + 1) % 2; i < timeline.size(); i += 2) {
    kept.push_back(std::move(timeline[i]));
  }
  timeline = std::move(kept);
}

}  // namespace

SearchActivity::SearchActivity(ProjectSession& session, services::RunService& run,
                               const services::RecordService& record, QObject* parent)
    : QObject(parent), m_session(session), m_run(run), m_record(record) {
  m_frame.setSingleShot(true);
  m_frame.setInterval(kFrame);
  connect(&m_frame, &QTimer::timeout, this, &SearchActivity::showFrame);
  connect(&m_answer, &QFutureWatcherBase::finished, this, [this] {
    if (!m_answer.isCanceled()) {
      take(m_answer.result());
    }
  });
  connect(&run, &services::RunService::lanesChanged, this, [this](const auto& lanes) {
    if (m_session.isActive()) {  // also before the engine has a run
      m_lanes = lanes;
      m_lanesDirty = true;
      startFrame();
    }
  });
  connect(&run, &services::RunService::proposersChanged, this, &SearchActivity::takeReport);
  connect(&session, &ProjectSession::runShown, this, [this] {
    clear();
    ask();
  });
  connect(&session, &ProjectSession::finished, this, &SearchActivity::ask);
  ask();
}

bool SearchActivity::isLive() const {
  return m_session.isActive() && m_run.currentRun() == m_session.shownRun();
}

void SearchActivity::clear() {
  m_answer.cancel();
  m_answer.setFuture({});
  if (!m_session.isActive() || !m_session.shownRun().isValid()) {
    m_lanes.clear();
  }
  m_report = {};
  m_timeline.clear();
  Q_EMIT lanesChanged();
  Q_EMIT proposersChanged();
}

void SearchActivity::ask() {
  if (m_session.hasRecord() && m_session.shownRun().isValid()) {
    m_answer.setFuture(m_record.activity(m_session.shownRun()));
  }
}

void SearchActivity::take(const Result<services::RunActivity>& recorded) {
  if (!recorded) {
    m_session.report(recorded.error());
    return;
  }
  // What was seen live is finer than what the record has; it only lacks the sittings before.
  const double seenFrom =
      m_timeline.empty() ? std::numeric_limits<double>::infinity() : m_timeline.front().elapsedSeconds;
  std::vector<ActivitySample> timeline;
  std::copy_if(recorded->timeline.begin(), recorded->timeline.end(), std::back_inserter(timeline),
               [seenFrom](const ActivitySample& sample) { return sample.elapsedSeconds < seenFrom; });
  timeline.insert(timeline.end(), m_timeline.begin(), m_timeline.end());
  m_timeline = std::move(timeline);
  if (!isLive()) {
    m_report = recorded->report;
    m_lanes = m_lanes.empty() ? recorded->lanes : m_lanes;  // of a run just seen, every compiler is known
  }
  Q_EMIT lanesChanged();
  Q_EMIT proposersChanged();
}

void SearchActivity::takeReport(const ProposerReport& report) {
  if (!isLive()) {
    return;
  }
  m_report = report;
  if (m_timeline.empty() || report.elapsedSeconds > m_timeline.back().elapsedSeconds) {
    m_timeline.push_back(services::sampleOf(report));
  }
  if (m_timeline.size() > kMaxSamples) {
    thin(m_timeline);
  }
  m_reportDirty = true;
  startFrame();
}

void SearchActivity::startFrame() {
  if (!m_frame.isActive()) {
    m_frame.start();
  }
}

void SearchActivity::showFrame() {
  if (std::exchange(m_lanesDirty, false)) {
    Q_EMIT lanesChanged();
  }
  if (std::exchange(m_reportDirty, false)) {
    Q_EMIT proposersChanged();
  }
}

}  // namespace swage::ui
