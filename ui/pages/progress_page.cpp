// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/progress_page.h"

#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "ui/charts/history_chart.h"
#include "ui/models/format.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// The fastest working baseline gives the line at 1×. Which one that is, a run knows once all were measured in turns;
// their medians alone may say otherwise.
QString fastestMode(const std::vector<domain::Baseline>& baselines, const std::string& known) {
  const domain::Baseline* fastest = nullptr;
  for (const domain::Baseline& baseline : baselines) {
    if ((known.empty() || baseline.mode == known) && baseline.failure.empty() && baseline.timing.medianNs > 0.0 &&
        (fastest == nullptr || baseline.timing.medianNs < fastest->timing.medianNs)) {
      fastest = &baseline;
    }
  }
  return fastest == nullptr ? QString()
                            : QString(toQString(fastest->mode) % u" "_s % formatTime(fastest->timing.medianNs));
}

}  // namespace

ProgressPage::ProgressPage(ProjectSession& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_chart(new HistoryChart),
      m_empty(new EmptyState(m_chart, tr("The best speedup is drawn here as soon as a correct kernel is timed."))) {
  setObjectName(u"progressPage"_s);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_empty);
  connect(&session, &ProjectSession::historyChanged, this, &ProgressPage::showHistory);
  connect(&session, &ProjectSession::runShown, this, &ProgressPage::showHistory);
  connect(&session, &ProjectSession::progressChanged, this, [this] {
    // The line grows to the right once a second: nothing else changes between improvements.
    if (std::floor(m_session.progress().elapsedSeconds) != std::floor(m_shownUntil)) {
      showHistory();
    }
  });
  showHistory();
}

void ProgressPage::setChooseFile(const ChooseFile& chooseFile) {
  m_chart->setOutlet({chooseFile, [this](const Error& error) { m_session.report(error); }});
}

void ProgressPage::setTheme(const Theme& theme) {
  m_chart->setTheme(theme);
}

void ProgressPage::showHistory() {
  m_shownUntil = m_session.progress().elapsedSeconds;
  const auto& run = m_session.summary();
  m_chart->setHistory(m_session.history(), m_shownUntil,
                      fastestMode(m_session.baselines(), run ? run->baselineMode : std::string()));
  m_empty->setEmpty(m_session.history().empty());
}

}  // namespace swage::ui
