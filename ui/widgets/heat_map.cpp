// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/heat_map.h"

#include <QAccessible>
#include <QApplication>
#include <QDrag>
#include <QDragEnterEvent>
#include <QDragLeaveEvent>
#include <QDragMoveEvent>
#include <QDropEvent>
#include <QFontMetricsF>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

#include "ui/widgets/heat_headers.h"
#include "ui/widgets/heat_map_accessible.h"
#include "ui/widgets/heat_painter.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kMapMargin = 8.0;
constexpr double kCellGap = 4.0;
constexpr double kBlockGap = 14.0;
constexpr double kNarrowCellGap = 2.0;  // where there is no room for words
constexpr double kNarrowBlockGap = 8.0;

QString cellMimeType() {
  return u"application/x-swage-cell"_s;
}

// -1: something else is dragged.
int draggedCell(const QMimeData& data) {
  bool isNumber = false;
  const int index = data.data(cellMimeType()).toInt(&isNumber);
  return isNumber && index >= 0 && index < domain::kCellCount ? index : -1;
}

}  // namespace

HeatMapGeometry::HeatMapGeometry(const QSizeF& size, const QFont& font) {
  layOut(size, font, 1);
  const double twoLines = 2.0 * QFontMetricsF(font).height();  // a code and its meaning beside a row
  for (int lines = wordLines(columnHeader(0).width(), font); lines >= 0; --lines) {
    layOut(size, font, lines);
    if (m_cellHeight + m_gap >= twoLines) {
      return;
    }
  }
}

void HeatMapGeometry::layOut(const QSizeF& size, const QFont& font, int wordLines) {
  const bool hasWords = wordLines > 0;
  const QFontMetricsF metrics(font);
  const double line = metrics.height();
  m_hasWords = hasWords;
  m_gap = hasWords ? kCellGap : kNarrowCellGap;
  m_blockGap = hasWords ? kBlockGap : kNarrowBlockGap;
  m_rowHeader = metrics.horizontalAdvance(hasWords ? u"asynchronous"_s : u"A0"_s) + 12.0;
  m_blockHeight = line + 4.0;
  m_columnHeight = (1 + wordLines) * line + 4.0;
  m_left = kMapMargin + m_rowHeader;
  m_top = kMapMargin + m_blockHeight + m_columnHeight;
  const double width = size.width() - m_left - kMapMargin - m_blockGap * (kMapBlocks - 1);
  const double height = size.height() - m_top - kMapMargin;
  m_cellWidth = std::max(8.0, width / kMapColumns - m_gap);
  m_cellHeight = std::max(8.0, height / kMapRows - m_gap);
}

QRectF HeatMapGeometry::cell(int row, int column) const {
  const int block = column / kMapBlocks;
  const double x = m_left + column * (m_cellWidth + m_gap) + block * m_blockGap;
  return {x, m_top + row * (m_cellHeight + m_gap), m_cellWidth, m_cellHeight};
}

QRectF HeatMapGeometry::rowHeader(int row) const {
  return {kMapMargin, cell(row, 0).top(), m_rowHeader - 8.0, m_cellHeight};
}

QRectF HeatMapGeometry::columnHeader(int column) const {
  // Not a pixel beyond the cell: the words of two columns must not read as one line.
  return {cell(0, column).left() + 1.0, kMapMargin + m_blockHeight, m_cellWidth - 2.0, m_columnHeight - 2.0};
}

QRectF HeatMapGeometry::blockHeader(int block) const {
  const QRectF first = cell(0, block * kMapBlocks);
  const QRectF last = cell(0, block * kMapBlocks + kMapBlocks - 1);
  return {first.left(), kMapMargin, last.right() - first.left(), m_blockHeight - 2.0};
}

int HeatMapGeometry::hit(const QPointF& point) const {
  for (int row = 0; row < kMapRows; ++row) {
    for (int column = 0; column < kMapColumns; ++column) {
      if (cell(row, column).contains(point)) {
        return cellAt(row, column).index();
      }
    }
  }
  return -1;
}

HeatMap::HeatMap(QWidget* parent) : QWidget(parent), m_views(viewCells({}, {})) {
  installHeatMapAccessibility();
  setObjectName(u"heatMap"_s);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Archive: the 36 behaviour cells"));
  setAccessibleDescription(
      tr("Rows are data movement, columns are decomposition and arithmetic. "
         "Arrow keys move, Enter opens the best kernel of a cell, C compares it with the best of all."));
  setAcceptDrops(true);
  updateGeometryOfCells();
}

void HeatMap::setTheme(const Theme& theme) {
  m_theme = theme;
  showCells();
}

void HeatMap::setCells(const std::vector<services::CellSummary>& cells) {
  m_cells = cells;
  showCells();
}

void HeatMap::setMetric(CellMetric metric) {
  m_metric = metric;
  showCells();
}

void HeatMap::setScaleOptions(const ScaleOptions& options) {
  m_scaleOptions = options;
  showCells();
}

void HeatMap::showCells() {
  const auto centred = m_theme.heat == ColorMap::Diverging ? CellScale::Centred::Yes : CellScale::Centred::No;
  const CellScale scale = CellScale::fit(m_metric, m_cells, centred, m_scaleOptions);
  m_views = viewCells(m_cells, scale);
  update();
  if (!(scale == m_scale)) {
    m_scale = scale;
    Q_EMIT scaleChanged();
  }
}

void HeatMap::setTooltipProvider(std::function<QString(int)> provider) {
  m_tooltip = std::move(provider);
}

void HeatMap::setCurrentCell(int index) {
  if (index == m_current) {
    return;
  }
  m_current = index;
  update();
  announce(index);
}

void HeatMap::choose(int index) {
  if (index == m_current) {
    return;
  }
  setCurrentCell(index);
  Q_EMIT currentCellChanged(index);
}

void HeatMap::announce(int index) {
  if (index < 0 || !QAccessible::isActive()) {
    return;
  }
  QAccessibleEvent event(this, QAccessible::Focus);
  event.setChild(accessibleChildOfCell(index));
  QAccessible::updateAccessibility(&event);
}

QSize HeatMap::sizeHint() const {
  return {860, 420};
}

QSize HeatMap::minimumSizeHint() const {
  const QFontMetrics metrics(font());
  const int cell = metrics.horizontalAdvance(u"0.00×"_s) * 3 / 4 + 2;  // values get smaller in narrow cells
  return {metrics.horizontalAdvance(u"A0"_s) + 44 + kMapColumns * cell, metrics.height() * (2 + kMapRows) + 44};
}

bool HeatMap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) {
    return QWidget::event(event);
  }
  const auto* help = static_cast<QHelpEvent*>(event);
  const int index = m_geometry.hit(help->pos());
  if (const QString header = headerAt(m_geometry, help->pos()); !header.isEmpty()) {
    QToolTip::showText(help->globalPos(), header, this);
    return true;
  }
  if (index < 0 || !m_tooltip) {
    QToolTip::hideText();
    event->ignore();
    return true;
  }
  const domain::Cell cell = domain::Cell::fromIndex(index);
  const QRect area = m_geometry.cell(mapRow(cell), mapColumn(cell)).toAlignedRect();
  QToolTip::showText(help->globalPos(), m_tooltip(index), this, area);
  return true;
}

void HeatMap::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
    updateGeometryOfCells();
  }
  QWidget::changeEvent(event);
}

void HeatMap::resizeEvent(QResizeEvent*) {
  updateGeometryOfCells();
}

void HeatMap::updateGeometryOfCells() {
  m_geometry = HeatMapGeometry(size(), font());
  update();
}

void HeatMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), m_theme.base);
  paintMap(painter, m_geometry);
  if (m_dropTarget >= 0) {
    const domain::Cell cell = domain::Cell::fromIndex(m_dropTarget);
    paintSelection(painter, m_geometry.cell(mapRow(cell), mapColumn(cell)), m_theme, true);
  }
  if (m_current >= 0) {
    const domain::Cell cell = domain::Cell::fromIndex(m_current);
    paintSelection(painter, m_geometry.cell(mapRow(cell), mapColumn(cell)), m_theme, hasFocus());
  }
}

void HeatMap::paintMap(QPainter& painter, const HeatMapGeometry& geometry) const {
  paintHeaders(painter, geometry, font(), m_theme);
  Theme colors = m_theme;
  colors.heat = colorsFor(m_metric, m_theme.heat);
  std::vector<QColor> fills;
  for (const CellView& cell : m_views) {
    if (cell.hasLevel) {
      fills.push_back(fillOf(cell, colors));
    }
  }
  const std::vector<QColor> inks = readableOn(fills);
  auto ink = inks.begin();
  for (int index = 0; index < domain::kCellCount; ++index) {
    const domain::Cell cell = domain::Cell::fromIndex(index);
    paintCell(painter, geometry.cell(mapRow(cell), mapColumn(cell)), view(index), colors, font(),
              view(index).hasLevel ? *ink++ : QColor());
  }
}

void HeatMap::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) {
    return;
  }
  m_pressed = event->position();
  const int hit = m_geometry.hit(event->position());
  if (event->modifiers().testFlag(Qt::ControlModifier) && canPair(m_current, hit)) {
    Q_EMIT cellsPaired(m_current, hit);
    return;
  }
  choose(hit);
}

void HeatMap::mouseMoveEvent(QMouseEvent* event) {
  const int from = m_geometry.hit(m_pressed);
  const double distance = (event->position() - m_pressed).manhattanLength();
  if (event->buttons().testFlag(Qt::LeftButton) && distance >= QApplication::startDragDistance() && isFilled(from)) {
    startDrag(from);
  }
}

void HeatMap::startDrag(int index) {
  const domain::Cell cell = domain::Cell::fromIndex(index);
  const QRect area = m_geometry.cell(mapRow(cell), mapColumn(cell)).toAlignedRect();
  auto* drag = new QDrag(this);
  drag->setMimeData(contentOf(index));
  drag->setPixmap(grab(area));
  drag->setHotSpot(m_pressed.toPoint() - area.topLeft());
  drag->exec(Qt::LinkAction | Qt::CopyAction, m_dragContent ? Qt::CopyAction : Qt::LinkAction);
}

QMimeData* HeatMap::contentOf(int index) const {
  auto* content = new QMimeData;
  content->setData(cellMimeType(), QByteArray::number(index));
  if (m_dragContent) {
    m_dragContent(*content, index);
  }
  return content;
}

bool HeatMap::isFilled(int index) const {
  return index >= 0 && view(index).state == services::CellSummary::State::Filled;
}

bool HeatMap::canPair(int first, int second) const {
  return first != second && isFilled(first) && isFilled(second);
}

void HeatMap::dragEnterEvent(QDragEnterEvent* event) {
  if (draggedCell(*event->mimeData()) >= 0) {
    event->acceptProposedAction();
  }
}

void HeatMap::dragMoveEvent(QDragMoveEvent* event) {
  const int under = m_geometry.hit(event->position());
  const bool isTarget = canPair(draggedCell(*event->mimeData()), under);
  m_dropTarget = isTarget ? under : -1;
  event->setAccepted(isTarget);
  update();
}

void HeatMap::dragLeaveEvent(QDragLeaveEvent*) {
  m_dropTarget = -1;
  update();
}

void HeatMap::dropEvent(QDropEvent* event) {
  const int dragged = draggedCell(*event->mimeData());
  const int under = m_geometry.hit(event->position());
  m_dropTarget = -1;
  update();
  if (canPair(dragged, under)) {
    event->acceptProposedAction();
    Q_EMIT cellsPaired(dragged, under);
  }
}

void HeatMap::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const int index = m_geometry.hit(event->position()); event->button() == Qt::LeftButton && index >= 0) {
    choose(index);
    Q_EMIT cellActivated(index);
  }
}

void HeatMap::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left: moveBy(0, -1); return;
    case Qt::Key_Right: moveBy(0, 1); return;
    case Qt::Key_Up: moveBy(-1, 0); return;
    case Qt::Key_Down: moveBy(1, 0); return;
    case Qt::Key_Home: moveBy(0, -kMapColumns); return;
    case Qt::Key_End: moveBy(0, kMapColumns); return;
    case Qt::Key_C: pairWithBest(); return;
    case Qt::Key_Escape: choose(-1); return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_current >= 0) {
        Q_EMIT cellActivated(m_current);
        return;
      }
      break;
    default: break;
  }
  QWidget::keyPressEvent(event);
}

void HeatMap::pairWithBest() {
  const auto best = std::find_if(m_views.begin(), m_views.end(), [](const CellView& cell) { return cell.best; });
  const int index = best != m_views.end() ? static_cast<int>(best - m_views.begin()) : -1;
  if (canPair(m_current, index)) {
    Q_EMIT cellsPaired(m_current, index);
  }
}

void HeatMap::moveBy(int rows, int columns) {
  if (m_current < 0) {
    const auto best = std::find_if(m_views.begin(), m_views.end(), [](const CellView& cell) { return cell.best; });
    choose(best != m_views.end() ? static_cast<int>(best - m_views.begin()) : cellAt(0, 0).index());
    return;
  }
  const domain::Cell cell = domain::Cell::fromIndex(m_current);
  const int row = std::clamp(mapRow(cell) + rows, 0, kMapRows - 1);
  const int column = std::clamp(mapColumn(cell) + columns, 0, kMapColumns - 1);
  choose(cellAt(row, column).index());
}

}  // namespace swage::ui
