// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/archive_page.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QSignalBlocker>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

#include "core/base/files.h"
#include "ui/models/format.h"
#include "ui/pages/candidate_menu.h"
#include "ui/pages/scale_menu.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/heat_legend.h"
#include "ui/widgets/heat_map.h"
#include "ui/widgets/time_bar.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

ArchivePage::ArchivePage(ProjectSession& session, const services::RecordService& record, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_record(record),
      m_view(session, record),
      m_metric(new QComboBox(this)),
      m_scaleButton(new QToolButton(this)),
      m_scale(new ScaleMenu(m_scaleButton)),
      m_island(new QComboBox(this)),
      m_map(new HeatMap(this)),
      m_time(new TimeBar(this)),
      m_legend(new HeatLegend(this)) {
  setObjectName(u"archivePage"_s);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(makeBar());
  column->addWidget(m_map, 1);
  column->addWidget(m_time);
  column->addWidget(m_legend);
  m_map->setTooltipProvider([this](int index) { return tooltip(index); });
  connect(m_map, &HeatMap::currentCellChanged, this, &ArchivePage::selectCell);
  m_map->setDragContent([this](QMimeData& content, int index) { addSource(content, index); });
  m_map->setMenuProvider([this](QMenu& menu, int index) { fillCellMenu(menu, index); });
  connect(m_map, &HeatMap::cellActivated, this, &ArchivePage::openCell);
  connect(m_map, &HeatMap::cellsPaired, this, &ArchivePage::pairCells);
  connectScale();
  connect(m_island, &QComboBox::currentIndexChanged, this,
          [this](int index) { m_view.setIsland(index > 0 ? std::optional(index - 1) : std::nullopt); });
  connect(m_time, &TimeBar::momentChosen, &m_view, &ArchiveView::setMoment);
  connect(&m_view, &ArchiveView::changed, this, &ArchivePage::showCells);
  connect(&m_view, &ArchiveView::islandsChanged, this, &ArchivePage::fillIslands);
  connect(&session, &ProjectSession::progressChanged, this, [this] { m_time->setLength(m_view.runSeconds()); });
  connect(&session, &ProjectSession::runShown, this, [this] { m_time->setMoment(std::nullopt); });
  connect(&session, &ProjectSession::selectionChanged, this, &ArchivePage::showSelection);
  fillMetrics();
  fillIslands();
  showCells();
}

QLayout* ArchivePage::makeBar() {
  m_metric->setObjectName(u"mapMetric"_s);
  m_metric->setAccessibleName(tr("What the colours of the map stand for"));
  m_island->setObjectName(u"mapIsland"_s);
  m_island->setAccessibleName(tr("Whose candidates the map shows"));
  auto* row = new FlowLayout;
  row->setContentsMargins(8, 6, 8, 0);
  const auto add = [&](const QString& text, QWidget* box) {
    auto* label = new QLabel(text, this);
    label->setBuddy(box);
    row->addPair(label, box);
  };
  add(tr("Co&lour:"), m_metric);
  add(tr("&Scale:"), m_scaleButton);
  add(tr("Island:"), m_island);
  return row;
}

void ArchivePage::connectScale() {
  m_scaleButton->setObjectName(u"mapScale"_s);
  m_scaleButton->setAccessibleName(tr("How values become colours"));
  m_scaleButton->setToolTip(tr("How values become colours: linear or logarithmic, fitted or fixed"));
  m_scaleButton->setPopupMode(QToolButton::InstantPopup);
  m_scaleButton->setMenu(m_scale);
  m_scaleButton->setText(m_scale->summary());
  connect(m_scale, &ScaleMenu::changed, this, [this](const ScaleOptions& options) {
    m_scaleButton->setText(m_scale->summary());
    m_map->setScaleOptions(options);
  });
  connect(m_map, &HeatMap::scaleChanged, this, [this] {
    m_legend->setScale(m_map->scale());
    m_scale->setScale(m_map->scale());
  });
}

QJsonObject ArchivePage::saveState() const {
  QJsonObject state = m_scale->saveState();
  state.insert(u"metric"_s, m_metric->currentIndex());
  return state;
}

void ArchivePage::restoreState(const QJsonObject& state) {
  m_scale->restoreState(state);
  m_metric->setCurrentIndex(std::clamp(state[u"metric"_s].toInt(), 0, kCellMetrics - 1));
}

void ArchivePage::fillMetrics() {
  for (int i = 0; i < kCellMetrics; ++i) {
    const auto metric = static_cast<CellMetric>(i);
    m_metric->addItem(title(metric), i);
    m_metric->setItemData(i, explain(metric), Qt::ToolTipRole);
  }
  connect(m_metric, &QComboBox::currentIndexChanged, this, [this](int index) {
    const auto metric = static_cast<CellMetric>(index);
    m_metric->setToolTip(explain(metric));
    m_scale->setMetric(metric);
    m_scaleButton->setText(m_scale->summary());
    m_map->setScaleOptions(m_scale->options());
    m_map->setMetric(metric);
    m_view.setMetric(metric);
  });
  m_metric->setToolTip(explain(CellMetric::Speedup));
}

void ArchivePage::fillIslands() {
  const QSignalBlocker silent(m_island);
  m_island->clear();
  m_island->addItem(tr("All"));
  for (int island = 0; island < m_view.islandCount(); ++island) {
    m_island->addItem(QString::number(island));
  }
  m_island->setCurrentIndex(m_view.island() ? *m_view.island() + 1 : 0);
  m_island->setEnabled(m_view.islandCount() > 0);
}

void ArchivePage::setChooseFile(const ChooseFile& chooseFile) {
  m_map->setOutlet({chooseFile, [this](const Error& error) { m_session.report(error); }});
}

void ArchivePage::setTheme(const Theme& theme) {
  m_map->setTheme(theme);
  m_time->setTheme(theme);
  m_legend->setTheme(theme);
}

void ArchivePage::showCells() {
  m_time->setLength(m_view.runSeconds());
  m_map->setCells(m_view.cells());
  showSelection();
}

void ArchivePage::showSelection() {
  // A candidate chosen in the table marks the cell it belongs to.
  if (m_session.follow() == ProjectSession::Follow::Candidate) {
    const auto& detail = m_session.detail();
    m_map->setCurrentCell(detail && detail->row.cell ? detail->row.cell->index() : -1);
  } else {
    m_map->setCurrentCell(m_session.selectedCell());
  }
}

// The session follows a cell to what is best in it now, on any island; another archive has another candidate there.
void ArchivePage::selectCell(int index) {
  const services::CellSummary* cell = m_view.cell(index);
  if (m_view.isWhole() || cell == nullptr || !cell->best.isValid()) {
    m_session.selectCell(index);
  } else {
    m_session.selectCandidate(cell->best);
  }
}

// A cell in which nothing is correct has no candidate to open, but a list of what was tried.
void ArchivePage::openCell(int index) {
  const services::CellSummary* cell = m_view.cell(index);
  if (cell != nullptr && cell->best.isValid()) {
    Q_EMIT cellOpened(index);
  } else if (cell != nullptr && cell->tried > 0) {
    Q_EMIT cellListRequested(index);
  }
}

void ArchivePage::fillCellMenu(QMenu& menu, int index) {
  const services::CellSummary* cell = m_view.cell(index);
  if (cell == nullptr) {
    return;
  }
  if (m_menu != nullptr && cell->best.isValid()) {
    m_menu->fill(menu, {cell->best});
    menu.addSeparator();
  }
  QAction* list = menu.addAction(tr("List the Candidates of This &Cell"));
  list->setObjectName(u"menuListCell"_s);
  list->setEnabled(cell->tried > 0);
  connect(list, &QAction::triggered, this, [this, index] { Q_EMIT cellListRequested(index); });
}

void ArchivePage::addSource(QMimeData& content, int index) {
  const services::CellSummary* cell = m_view.cell(index);
  if (cell == nullptr || !cell->best.isValid()) {
    return;
  }
  const auto best = m_record.candidate(cell->best);
  if (!best || best->program.source.empty()) {
    return;
  }
  content.setText(toQString(best->program.source));
  const std::string_view suffix = domain::factsOf(best->program.language).sourceSuffix;
  const QString file =
      m_dragged.filePath(u"candidate-%1%2"_s.arg(QString::number(cell->best.value()), toQString(suffix)));
  if (const Result<> written = writeFileAtomically(file.toStdString(), best->program.source)) {
    content.setUrls({QUrl::fromLocalFile(file)});
  } else {
    m_session.report(written.error());
  }
}

void ArchivePage::pairCells(int first, int second) {
  const services::CellSummary* from = m_view.cell(first);
  const services::CellSummary* to = m_view.cell(second);
  if (from != nullptr && to != nullptr) {
    Q_EMIT compareRequested(from->best, to->best);
  }
}

QString ArchivePage::tooltip(int index) {
  const services::CellSummary* cell = m_view.cell(index);
  if (cell == nullptr) {
    return describeCell(domain::Cell::fromIndex(index));
  }
  const services::CandidateDetail* best = m_session.bestOf(index);
  return cellTooltip(*cell, best != nullptr && best->row.id == cell->best ? best : nullptr);
}

}  // namespace swage::ui
