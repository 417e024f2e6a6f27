// SPDX-License-Identifier: GPL-3.0-or-later
// The map as a chart that can be taken away.
#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>

#include "ui/models/format.h"
#include "ui/widgets/heat_map.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using State = services::CellSummary::State;

QString nameOf(State state) {
  switch (state) {
    case State::Unavailable: return u"unavailable"_s;
    case State::Empty: return u"empty"_s;
    case State::FailedOnly: return u"none correct"_s;
    case State::Filled: break;
  }
  return u"filled"_s;
}

// Empty: it was not measured, or has no meaning here.
QString numberOrNothing(double value) {
  return value > 0.0 ? csvNumber(value) : QString();
}

}  // namespace

QString HeatMap::chartTitle() const {
  return tr("Archive by %1").arg(title(m_metric).toLower());
}

void HeatMap::drawChart(QPainter& painter, const QRectF& target) const {
  painter.save();
  painter.fillRect(target, m_theme.base);
  painter.translate(target.topLeft());
  paintMap(painter, HeatMapGeometry(target.size(), font()));
  painter.restore();
}

ChartTable HeatMap::chartTable() const {
  ChartTable table;
  table.columns = {u"cell"_s,      u"state"_s,   u"tried"_s,       u"correct"_s,      u"best_candidate"_s,
                   u"time_ns"_s,   u"speedup"_s, u"speedup_low"_s, u"speedup_high"_s, u"roof_share"_s,
                   u"registers"_s, u"error"_s,   u"found_s"_s};
  for (const services::CellSummary& cell : m_cells) {
    const bool isFilled = cell.state == State::Filled;
    table.rows.push_back(
        {toQString(cell.cell.name()), nameOf(cell.state), QString::number(cell.tried), QString::number(cell.correct),
         isFilled ? QString::number(cell.best.value()) : QString(), numberOrNothing(cell.bestTimeNs),
         numberOrNothing(cell.speedup.value), numberOrNothing(cell.speedup.low), numberOrNothing(cell.speedup.high),
         numberOrNothing(cell.roofShare), isFilled ? QString::number(cell.registers) : QString(),
         isFilled ? csvNumber(cell.relativeError) : QString(), isFilled ? csvNumber(cell.foundSeconds) : QString()});
  }
  return table;
}

// By the menu key, of the cell that has the keyboard; by the mouse, of the one under it.
void HeatMap::contextMenuEvent(QContextMenuEvent* event) {
  const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
  const int index = byKey ? m_current : m_geometry.hit(event->pos());
  if (index < 0 || !m_cellMenu) {
    makeChartMenu(*this, *this, m_outlet)->popup(event->globalPos());
    return;
  }
  choose(index);
  auto* menu = new QMenu(this);
  menu->setObjectName(u"cellMenu"_s);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  m_cellMenu(*menu, index);
  menu->addSeparator();
  fillChartMenu(*menu->addMenu(tr("&Map")), *this, *this, m_outlet);
  const domain::Cell cell = domain::Cell::fromIndex(index);
  const QPoint centre = m_geometry.cell(mapRow(cell), mapColumn(cell)).center().toPoint();
  menu->popup(byKey ? mapToGlobal(centre) : event->globalPos());
}

}  // namespace swage::ui
