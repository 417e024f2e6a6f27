// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/swarm_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/models/format.h"
#include "ui/models/swarm_models.h"
#include "ui/pages/advice_view.h"
#include "ui/pages/pair_controls.h"
#include "ui/pages/spending_view.h"
#include "ui/pages/swarm_tables.h"
#include "ui/pages/talk_view.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/empty_state_button.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::PairStanding;

}  // namespace

SwarmPage::SwarmPage(ProjectSession& session, services::RunService& run, services::SwarmService& swarm, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_swarm(swarm),
      m_activity(session, run, swarm),
      m_pairs(new PairTableModel(this)),
      m_table(makeSwarmTable(m_pairs, u"pairTable"_s, tr("Pairs"))),
      m_controls(new PairControls),
      m_advice(new AdviceView),
      m_talks(new TalkView([this](domain::CandidateId candidate) {
        return m_swarm.talk(m_session.project(), m_session.shownRun(), candidate);
      })),
      m_spending(new SpendingView),
      m_tabs(new QTabWidget),
      m_summary(new QLabel),
      m_waiting(new QLabel),
      m_answer(new QPushButton(tr("Answer…"))) {
  setObjectName(u"swarmPage"_s);
  m_tabs->setObjectName(u"swarmTabs"_s);
  m_tabs->setDocumentMode(true);
  m_tabs->addTab(makePairs(), tr("Pairs"));
  m_tabs->addTab(m_advice, tr("Advice"));
  m_tabs->addTab(m_talks, tr("Conversations"));
  m_tabs->addTab(m_spending, tr("Spending"));
  auto* content = new QWidget;
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(0);
  inner->addWidget(makeHead());
  inner->addWidget(m_tabs, 1);
  m_empty = new EmptyState(content, tr("Start a search to see what each pair of a coder and a judge does."));
  auto* start = new QPushButton(tr("Language Models…"));
  start->setObjectName(u"swarmSettings"_s);
  connect(start, &QPushButton::clicked, this, &SwarmPage::settingsRequested);
  addButton(*m_empty, start);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_empty);
  connect(&m_activity, &SwarmActivity::changed, this, &SwarmPage::showReport);
  connect(&m_activity, &SwarmActivity::cleared, m_talks, &TalkView::clear);
  connect(m_controls, &PairControls::ordered, this, [this](const auto& order) { m_swarm.order(order); });
  connect(&swarm, &services::SwarmService::refused, this, [this](const Error& error) { m_session.report(error); });
  connect(m_advice, &AdviceView::candidateChosen, this, &SwarmPage::openCandidate);
  connect(m_talks, &TalkView::candidateChosen, this, &SwarmPage::openCandidate);
  connect(m_talks, &TalkView::settingsRequested, this, &SwarmPage::settingsRequested);
  connect(m_spending, &SpendingView::settingsRequested, this, &SwarmPage::settingsRequested);
  connect(m_answer, &QPushButton::clicked, this, &SwarmPage::exchangeRequested);
  connect(m_tabs, &QTabWidget::currentChanged, this, &SwarmPage::showReport);
  showReport();
}

QWidget* SwarmPage::makeHead() {
  auto* head = new QWidget;
  m_summary->setObjectName(u"swarmSummary"_s);
  m_summary->setWordWrap(true);
  m_waiting->setObjectName(u"swarmWaiting"_s);
  m_answer->setObjectName(u"swarmAnswer"_s);
  auto* line = new QHBoxLayout(head);
  line->setContentsMargins(10, 8, 10, 8);
  line->addWidget(m_summary, 1);
  line->addWidget(m_waiting);
  line->addWidget(m_answer);
  return head;
}

QWidget* SwarmPage::makePairs() {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_table, 1);
  column->addWidget(m_controls);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &SwarmPage::showControls);
  connect(m_table, &QTableView::activated, this, [this] {
    const int row = currentSourceRow(*m_table);
    if (row >= 0) {
      const PairStanding& pair = m_pairs->item(row);
      openCandidate(pair.about.isValid() || !pair.last ? pair.about : pair.last->candidate);
    }
  });
  return page;
}

void SwarmPage::setTheme(const Theme& theme) {
  m_talks->setTheme(theme);
}

QJsonObject SwarmPage::saveState() const {
  return {{u"tab"_s, m_tabs->currentIndex()}};
}

void SwarmPage::restoreState(const QJsonObject& state) {
  m_tabs->setCurrentIndex(std::clamp(state[u"tab"_s].toInt(), 0, m_tabs->count() - 1));
}

void SwarmPage::showTalk(domain::CandidateId candidate) {
  m_tabs->setCurrentWidget(m_talks);
  m_talks->open(candidate);
}

std::vector<services::WaitingPrompt> SwarmPage::waiting() const {
  return m_activity.isLive() ? m_activity.report().waiting : std::vector<services::WaitingPrompt>();
}

// Only what is in sight: nobody looks at the other tabs, and they are filled when they are opened.
void SwarmPage::showReport() {
  const services::SwarmReport& report = m_activity.report();
  m_empty->setSentence(m_activity.isLive() ? tr("Pairs begin when the search has its first candidates.")
                       : m_session.shownRun().isValid()
                           ? tr("This run has no pairs: it had neither a judge nor a language model.")
                           : tr("Start a search to see what each pair of a coder and a judge does."));
  m_empty->setEmpty(report.pairs.empty() && report.talks.empty());
  if (!isVisible()) {
    return;
  }
  showHead();
  if (m_tabs->currentWidget() == m_advice) {
    m_advice->setReport(report, m_activity.isLive());
  } else if (m_tabs->currentWidget() == m_talks) {
    m_talks->setReport(report);
  } else if (m_tabs->currentWidget() == m_spending) {
    m_spending->setReport(report);
  } else {
    m_pairs->show(report);
    if (!m_isFitted && m_pairs->rowCount() > 0) {
      m_isFitted = true;
      fitColumns(*m_table, {static_cast<int>(PairColumn::Doing)});
    }
    showControls();
  }
}

void SwarmPage::showHead() {
  const services::SwarmReport& report = m_activity.report();
  const auto models = std::count_if(report.pairs.begin(), report.pairs.end(),
                                    [](const PairStanding& pair) { return !pair.model.empty(); });
  const auto paused =
      std::count_if(report.pairs.begin(), report.pairs.end(), [](const PairStanding& pair) { return pair.isPaused; });
  const auto builtIn = static_cast<std::int64_t>(report.pairs.size()) - models;
  QStringList parts{m_activity.isLive() ? tr("%1 built-in pairs").arg(builtIn)
                                        : tr("%1 built-in pairs took part").arg(builtIn)};
  if (models > 0) {
    parts.push_back(models == 1 ? tr("1 language model") : tr("%1 language models").arg(models));
  }
  if (paused > 0) {
    parts.push_back(tr("%1 paused").arg(paused));
  }
  if (report.guidedShare >= 0.0) {
    parts.push_back(tr("%1 of the search's candidates follow advice").arg(formatShare(report.guidedShare)));
  }
  m_summary->setText(parts.join(u", "_s));
  const bool waits = m_activity.isLive() && !report.waiting.empty();
  m_waiting->setVisible(waits);
  m_answer->setVisible(waits);
  m_waiting->setText(report.waiting.size() == 1 ? tr("A prompt waits for your reply")
                                                : tr("%1 prompts wait for your reply").arg(report.waiting.size()));
}

void SwarmPage::showControls() {
  const int row = currentSourceRow(*m_table);
  const bool isChosen = row >= 0 && row < m_pairs->rowCount();
  m_controls->setPair(isChosen ? std::optional(m_pairs->item(row)) : std::nullopt, m_activity.isLive());
}

void SwarmPage::openCandidate(domain::CandidateId candidate) {
  if (candidate.isValid()) {
    m_session.selectCandidate(candidate);
    Q_EMIT candidateOpened();
  }
}

void SwarmPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showReport();
}

}  // namespace swage::ui
