// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/agents_page.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QTableView>

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/charts/small_multiples.h"
#include "ui/charts/timeline_chart.h"
#include "ui/models/format.h"
#include "ui/models/lane_model.h"
#include "ui/models/proposer_grid_model.h"
#include "ui/models/run_words.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/section.h"
#include "ui/widgets/share_delegate.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::RunState;
using services::TimeLeft;

constexpr int kSideBySideChars = 190;  // from this width on, the charts stand beside each other
constexpr int kChartLines = 13;
constexpr std::int64_t kStagnation = 40;  // evaluations without an improvement: twice what makes the islands exchange

void setUpTable(QTableView& table, const QString& name) {
  table.setAccessibleName(name);
  styleTable(table);
  table.setSelectionMode(QAbstractItemView::SingleSelection);
  table.setWordWrap(false);
  table.setFrameShape(QFrame::NoFrame);
  table.setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

// As high as all its rows: the page scrolls, not the table.
void fitHeight(QTableView& table) {
  int height = table.horizontalHeader()->sizeHint().height() + 2 * table.frameWidth() +
               table.model()->rowCount() * table.verticalHeader()->defaultSectionSize();
  const int columns = table.horizontalHeader()->length();
  if (columns > table.viewport()->width()) {
    height += table.style()->pixelMetric(QStyle::PM_ScrollBarExtent, nullptr, &table);
  }
  if (table.height() != height || table.minimumHeight() != height) {
    table.setFixedHeight(height);
  }
}

QString aboutDuration(double seconds) {
  return AgentsPage::tr("about %1 left").arg(formatDuration(seconds));
}

QString reasonOf(const TimeLeft& left, const services::Progress& progress) {
  switch (left.limit) {
    case TimeLeft::Limit::Time:
      return AgentsPage::tr("time limit of %1; then the best are checked and measured again")
          .arg(formatDuration(progress.budgetSeconds));
    case TimeLeft::Limit::Evaluations:
      return AgentsPage::tr("limit of %1 evaluations at %2; then the best are checked and measured again")
          .arg(formatCount(progress.maxEvaluations), formatRate(progress.perSecond));
    case TimeLeft::Limit::None: break;
  }
  return progress.maxEvaluations > 0
             ? AgentsPage::tr("%1 evaluations left; the rate is not known yet")
                   .arg(formatCount(progress.maxEvaluations - progress.evaluations))
             : AgentsPage::tr("no limit: it ends when you stop it, or when everything has been tried");
}

template <class Value>
QList<QPointF> pointsOf(const std::vector<services::ActivitySample>& timeline, Value value) {
  QList<QPointF> points;
  points.reserve(static_cast<qsizetype>(timeline.size()));
  for (const services::ActivitySample& sample : timeline) {
    if (const std::optional<double> y = value(sample)) {
      points.append({sample.elapsedSeconds, *y});
    }
  }
  return points;
}

std::vector<TimelineSeries> creditSeries(const std::vector<services::ActivitySample>& timeline) {
  std::vector<TimelineSeries> all;
  if (timeline.empty()) {
    return all;
  }
  for (const services::ProposerStanding& proposer : timeline.back().proposers) {
    const auto credit = [&name = proposer.name](const services::ActivitySample& sample) -> std::optional<double> {
      const auto found = std::find_if(sample.proposers.begin(), sample.proposers.end(),
                                      [&name](const services::ProposerStanding& one) { return one.name == name; });
      return found == sample.proposers.end() ? std::nullopt : std::optional(100.0 * found->credit);
    };
    all.push_back({.name = toQString(proposer.name), .points = pointsOf(timeline, credit)});
  }
  return all;
}

}  // namespace

AgentsPage::AgentsPage(ProjectSession& session, services::RunService& run, const services::RecordService& record,
                       QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_activity(session, run, record),
      m_laneModel(new LaneModel(this)),
      m_gridModel(new ProposerGridModel(this)),
      m_lanes(new QTableView),
      m_grid(new QTableView),
      m_laneDelegate(new ShareDelegate(LaneModel::BusyShareRole, LaneModel::LostRole, this)),
      m_earnedDelegate(new ShareDelegate(ProposerGridModel::ShareRole, -1, this)),
      m_tallyDelegate(new TallyDelegate({ProposerGridModel::ShareRole, ProposerGridModel::HeadlineRole,
                                         ProposerGridModel::DetailRole, ProposerGridModel::LastRole},
                                        this)),
      m_convergence(new TimelineChart({tr("Convergence"), tr("speedup, ×"), tr("count")})),
      m_credit(
          new SmallMultiples(tr("Credit by operator"), [](double percent) { return formatShare(percent / 100.0); })),
      m_convergenceEmpty(new EmptyState(m_convergence, tr("Shown when the first correct kernel has been timed."))),
      m_creditEmpty(new EmptyState(m_credit, tr("The record of this run has no credits."))),
      m_left(new QLabel),
      m_reason(new QLabel),
      m_exchange(new QLabel) {
  setObjectName(u"agentsPage"_s);
  setUpLanes();
  setUpGrid();
  auto* scroll = new QScrollArea;
  scroll->setObjectName(u"agentsScroll"_s);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setWidget(makeContent());
  m_empty = new EmptyState(
      scroll,
      tr("What each operator has proposed, and what every GPU and compiler is doing: of the search in progress, "
         "or of the run shown."));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_empty);
  connect(&m_activity, &SearchActivity::lanesChanged, this, &AgentsPage::showLanes);
  connect(&m_activity, &SearchActivity::proposersChanged, this, &AgentsPage::showProposers);
  connect(&session, &ProjectSession::progressChanged, this, &AgentsPage::showProgress);
  connect(&session, &ProjectSession::stateChanged, this, &AgentsPage::showProgress);
  connect(&session, &ProjectSession::historyChanged, this, &AgentsPage::showCharts);
  showLanes();
  showProposers();
  showCharts();
  showProgress();
}

QWidget* AgentsPage::makeContent() {
  auto* content = new QWidget;
  const int gap = fontMetrics().height() / 2;
  QFont large = font();
  large.setPointSizeF(large.pointSizeF() * 1.35);
  large.setWeight(QFont::DemiBold);
  m_left->setFont(large);
  m_left->setObjectName(u"timeLeft"_s);
  m_reason->setObjectName(u"timeLeftReason"_s);
  m_reason->setForegroundRole(QPalette::PlaceholderText);
  m_reason->setWordWrap(true);
  m_exchange->setObjectName(u"islandExchange"_s);
  m_exchange->setWordWrap(true);
  m_exchange->setToolTip(
      tr("Islands search apart from one another. From time to time, and earlier when nothing improves, "
         "each gives copies of its best candidates to the next one: that is a migration."));
  m_convergence->setObjectName(u"convergenceChart"_s);
  m_credit->setObjectName(u"creditChart"_s);
  for (QWidget* chart : {m_convergenceEmpty, m_creditEmpty}) {
    chart->setMinimumHeight(kChartLines * fontMetrics().height());
  }
  auto* heading = new QVBoxLayout;
  heading->setSpacing(gap / 4);
  heading->addWidget(m_left);
  heading->addWidget(m_reason);
  heading->addWidget(m_exchange);
  m_charts = new QBoxLayout(QBoxLayout::LeftToRight);
  m_charts->setSpacing(2 * gap);
  auto* credit = new Section(tr("Credit by operator"), m_creditEmpty);
  credit->setCaption(
      tr("Of what an operator proposed lately, the share that entered the archive. More credit: more "
         "proposals."));
  m_charts->addWidget(new Section(tr("Convergence"), m_convergenceEmpty), 1);
  m_charts->addWidget(credit, 1);
  auto* operators = new Section(tr("Operators by island"), m_grid);
  operators->setCaption(
      tr("An operator makes new candidates: synthesis writes one from patterns, the others change or "
         "combine existing ones. Hold the pointer over a name to see what it does."));
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(2 * gap, gap, 2 * gap, gap);
  column->setSpacing(2 * gap);
  column->addLayout(heading);
  column->addWidget(new Section(tr("Workers and compilers"), m_lanes));
  column->addWidget(operators);
  column->addLayout(m_charts);
  column->addStretch(1);
  return content;
}

void AgentsPage::setUpLanes() {
  m_lanes->setObjectName(u"laneTable"_s);
  setUpTable(*m_lanes, tr("Workers and compilers"));
  m_lanes->setModel(m_laneModel);
  m_lanes->setItemDelegate(m_laneDelegate);
  m_lanes->verticalHeader()->setDefaultSectionSize(m_lanes->fontMetrics().height() + 6);
  m_lanes->horizontalHeader()->setStretchLastSection(true);
  const std::array<QString, 6> samples = {u"GPU 0, NVIDIA H200 NVL"_s, u"compiling #100000"_s, u"0:00:00"_s,
                                          u"00.0 % ▇▇▇▇▇▇▇▇"_s,        u"100,000"_s,           u"100"_s};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const int column = static_cast<int>(i);
    m_lanes->setColumnWidth(column, std::max(m_lanes->fontMetrics().horizontalAdvance(samples[i]) + 16,
                                             m_lanes->horizontalHeader()->sectionSizeHint(column)));
  }
  connect(m_lanes, &QTableView::activated, this,
          [this](const QModelIndex& index) { openCandidate(m_laneModel->item(index.row()).candidate); });
}

void AgentsPage::setUpGrid() {
  m_grid->setObjectName(u"proposerGrid"_s);
  setUpTable(*m_grid, tr("Operators by island"));
  m_grid->setModel(m_gridModel);
  m_grid->setItemDelegate(m_tallyDelegate);
  m_grid->setItemDelegateForColumn(ProposerGridModel::NameColumn, new QStyledItemDelegate(this));
  m_grid->setItemDelegateForColumn(ProposerGridModel::CreditColumn, m_earnedDelegate);
  m_grid->setItemDelegateForColumn(ProposerGridModel::ShareColumn, m_earnedDelegate);
  m_grid->setSelectionBehavior(QAbstractItemView::SelectItems);  // an island of a proposer is one
  QStyleOptionViewItem option;
  option.fontMetrics = m_grid->fontMetrics();
  m_grid->verticalHeader()->setDefaultSectionSize(m_tallyDelegate->sizeHint(option, {}).height());
  connect(m_grid, &QTableView::activated, this,
          [this](const QModelIndex& index) { openCandidate(m_gridModel->candidateAt(index)); });
}

void AgentsPage::setTheme(const Theme& theme) {
  m_laneDelegate->setTheme(theme);
  m_earnedDelegate->setTheme(theme);
  m_tallyDelegate->setTheme(theme);
  m_convergence->setTheme(theme);
  m_credit->setTheme(theme);
  m_lanes->viewport()->update();
  m_grid->viewport()->update();
  m_caution = theme.caution;
  showExchange();
}

void AgentsPage::setOutlet(const ChartOutlet& outlet) {
  m_convergence->setOutlet(outlet);
  m_credit->setOutlet(outlet);
}

void AgentsPage::openCandidate(domain::CandidateId candidate) {
  if (candidate.isValid()) {
    m_session.selectCandidate(candidate);
    Q_EMIT candidateOpened();
  }
}

void AgentsPage::showProgress() {
  const services::Progress& progress = m_session.progress();
  const auto& summary = m_session.summary();
  if (m_session.isActive() && progress.finishing) {
    m_left->setText(tr("finishing"));
    m_reason->setText(toQString(progress.stage));
  } else if (m_session.isActive() && m_session.state() == RunState::Running) {
    const TimeLeft left = services::timeLeft(progress);
    m_left->setText(left.limit == TimeLeft::Limit::None ? tr("running without a limit") : aboutDuration(left.seconds));
    m_reason->setText(reasonOf(left, progress));
  } else if (m_session.isActive()) {
    m_left->setText(stateWord(m_session.state()));
    m_reason->setText(toQString(progress.stage));
  } else if (summary) {
    m_left->setText(tr("run %1: %2").arg(summary->id.value()).arg(statusWord(summary->status)));
    m_reason->setText(tr("%1 candidates, %2 correct, in %3 of search")
                          .arg(formatCount(summary->evaluations), formatCount(summary->correct),
                               formatDuration(summary->elapsedSeconds)));
  }
  m_empty->setEmpty(!m_session.isActive() && !summary);
  // The lines grow to the right once a second: nothing else changes between samples.
  if (std::floor(progress.elapsedSeconds) != std::floor(m_drawnUntil)) {
    showCharts();
  }
}

void AgentsPage::showLanes() {
  m_laneModel->updateRows(m_activity.lanes());
  fitTables();
}

void AgentsPage::showProposers() {
  const int columns = m_gridModel->columnCount();
  m_gridModel->setReport(m_activity.report());
  if (m_gridModel->columnCount() != columns) {
    const QFontMetrics metrics = m_grid->fontMetrics();
    m_grid->setColumnWidth(ProposerGridModel::NameColumn, metrics.horizontalAdvance(u"pattern swap"_s) + 16);
  }
  fitTables();
  showExchange();
  const auto& timeline = m_activity.timeline();
  const double from = timeline.empty() ? -1.0 : timeline.front().elapsedSeconds;
  if (!m_activity.isLive() || from != m_drawnFrom) {  // else once a second will do
    showCharts();
  }
}

void AgentsPage::showExchange() {
  const services::IslandExchange& exchange = m_activity.report().exchange;
  QStringList parts;
  if (exchange.migrations > 0) {
    parts.push_back(exchange.migrations == 1
                        ? tr("1 migration between the islands, %1 of the copies improved a cell").arg(exchange.adopted)
                        : tr("%1 migrations between the islands, %2 of the copies improved a cell")
                              .arg(formatCount(exchange.migrations), formatCount(exchange.adopted)));
  }
  const bool stagnates = m_activity.isLive() && exchange.sinceImprovement >= kStagnation;
  if (stagnates) {
    parts.push_back(
        tr("stagnating: no improvement in the last %1 evaluations").arg(formatCount(exchange.sinceImprovement)));
  }
  m_exchange->setText(parts.join(u"; "_s));
  m_exchange->setVisible(!parts.isEmpty());
  QPalette palette = m_exchange->palette();
  palette.setColor(QPalette::WindowText, stagnates ? m_caution : this->palette().color(QPalette::WindowText));
  m_exchange->setPalette(palette);
}

// Once a second, and never for nobody.
void AgentsPage::showCharts() {
  if (!isVisible()) {
    return;
  }
  m_drawnUntil = m_session.progress().elapsedSeconds;
  const auto& timeline = m_activity.timeline();
  m_drawnFrom = timeline.empty() ? -1.0 : timeline.front().elapsedSeconds;
  QList<QPointF> best;
  for (const services::HistoryPoint& point : m_session.history()) {
    best.append({point.elapsedSeconds, point.speedup.value});
  }
  const auto cells = [](const auto& sample) { return std::optional(static_cast<double>(sample.filledCells)); };
  const auto improvements = [](const auto& sample) {
    return sample.improvements > 0 ? std::optional(static_cast<double>(sample.improvements)) : std::nullopt;
  };
  const auto migrations = [](const auto& sample) {
    return sample.exchange.migrations > 0 ? std::optional(static_cast<double>(sample.exchange.migrations))
                                          : std::nullopt;
  };
  using Shape = TimelineSeries::Shape;
  using Axis = TimelineSeries::Axis;
  m_convergence->setSeries({{tr("best speedup"), best, Shape::Steps, Axis::Left},
                            {tr("cells filled"), pointsOf(timeline, cells), Shape::Steps, Axis::Right},
                            {tr("improvements"), pointsOf(timeline, improvements), Shape::Steps, Axis::Right},
                            {tr("migrations"), pointsOf(timeline, migrations), Shape::Steps, Axis::Right}},
                           m_drawnUntil);
  m_convergenceEmpty->setEmpty(best.isEmpty() && timeline.empty());
  std::vector<TimelineSeries> credit = creditSeries(timeline);
  m_creditEmpty->setSentence(m_session.isActive() ? tr("Shown when the first operators have earned credit.")
                                                  : tr("The record of this run has no credits."));
  m_creditEmpty->setEmpty(credit.empty());
  m_credit->setSeries(std::move(credit), m_drawnUntil);
}

// The islands share what the page has left. In a narrow page the bars of credit and share go first; islands scroll
// only where not even their numbers have room.
void AgentsPage::fitIslands() {
  const int islands = m_gridModel->columnCount() - ProposerGridModel::FirstIsland;
  if (islands <= 0) {
    return;
  }
  const QFontMetrics metrics = m_grid->fontMetrics();
  QStyleOptionViewItem option;
  option.fontMetrics = metrics;
  const int wanted = m_tallyDelegate->sizeHint(option, {}).width();
  const int least = m_tallyDelegate->leastWidth(metrics);
  const int name = m_grid->columnWidth(ProposerGridModel::NameColumn);
  const int bars = ProposerGridModel::FirstIsland - ProposerGridModel::CreditColumn;
  const int wide = metrics.horizontalAdvance(u"00.0 % ▇▇▇▇▇"_s) + 16;
  const int narrow = metrics.horizontalAdvance(u"00.0 %"_s) + 14;
  const int room = m_grid->viewport()->width() - name;
  const int bar = room - bars * wide >= islands * wanted ? wide : narrow;
  for (int column = ProposerGridModel::CreditColumn; column < ProposerGridModel::FirstIsland; ++column) {
    m_grid->setColumnWidth(column, bar);
  }
  const int width = std::max(least, (room - bars * bar) / islands);
  for (int column = ProposerGridModel::FirstIsland; column < m_gridModel->columnCount(); ++column) {
    m_grid->setColumnWidth(column, width);
  }
}

void AgentsPage::fitTables() {
  fitIslands();
  fitHeight(*m_lanes);
  fitHeight(*m_grid);
}

void AgentsPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool fits = width() >= kSideBySideChars * fontMetrics().averageCharWidth();
  m_charts->setDirection(fits ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  fitTables();
}

void AgentsPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  fitTables();
  showCharts();
}

}  // namespace swage::ui
