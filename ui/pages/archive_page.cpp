// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/archive_page.h"

#include <QVBoxLayout>

#include <algorithm>

#include "ui/widgets/heat_legend.h"
#include "ui/widgets/heat_map.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

ArchivePage::ArchivePage(Session& session, QWidget* parent)
    : QWidget(parent), m_session(session), m_map(new HeatMap(this)), m_legend(new HeatLegend(this)) {
  setObjectName(u"archivePage"_s);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_map, 1);
  column->addWidget(m_legend);
  m_map->setTooltipProvider([this](int index) { return tooltip(index); });
  connect(m_map, &HeatMap::currentCellChanged, &session, &Session::selectCell);
  connect(m_map, &HeatMap::cellActivated, this, &ArchivePage::cellOpened);
  connect(m_map, &HeatMap::scaleChanged, this, [this] { m_legend->setScale(m_map->scale()); });
  connect(&session, &Session::cellsChanged, this, &ArchivePage::showCells);
  connect(&session, &Session::runShown, this, &ArchivePage::showCells);
  connect(&session, &Session::selectionChanged, this, &ArchivePage::showSelection);
  showCells();
}

void ArchivePage::setTheme(const Theme& theme) {
  m_map->setTheme(theme);
  m_legend->setTheme(theme);
}

void ArchivePage::showCells() {
  m_map->setCells(m_session.cells());
  showSelection();
}

void ArchivePage::showSelection() {
  // A candidate chosen in the table marks the cell it belongs to.
  if (m_session.follow() == Session::Follow::Candidate) {
    const auto& detail = m_session.detail();
    m_map->setCurrentCell(detail && detail->row.cell ? detail->row.cell->index() : -1);
  } else {
    m_map->setCurrentCell(m_session.selectedCell());
  }
}

QString ArchivePage::tooltip(int index) {
  const auto& cells = m_session.cells();
  const auto cell =
      std::find_if(cells.begin(), cells.end(), [index](const auto& one) { return one.cell.index() == index; });
  if (cell == cells.end()) {
    return describeCell(domain::Cell::fromIndex(index));
  }
  return cellTooltip(*cell, m_session.bestOf(index));
}

}  // namespace swage::ui
