// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chart_widget.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>

using namespace Qt::StringLiterals;

namespace swage::ui {

ChartWidget::ChartWidget(const QString& title, QWidget* parent) : QWidget(parent), m_title(title) {
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(title);
}

void ChartWidget::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void ChartWidget::setOutlet(const ChartOutlet& outlet) {
  m_outlet = outlet;
}

void ChartWidget::refresh() {
  QStringList lines;
  for (const QStringList& row : chartTable().rows) {
    lines.push_back(row.join(u' '));
  }
  setAccessibleDescription(lines.join(u"; "_s));
  updateGeometry();
  update();
}

void ChartWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  drawChart(painter, rect());
  if (hasFocus()) {
    painter.setPen(QPen(m_theme.accent, 2.0));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(rect()).adjusted(1.0, 1.0, -1.0, -1.0));
  }
}

void ChartWidget::contextMenuEvent(QContextMenuEvent* event) {
  makeChartMenu(*this, *this, m_outlet)->popup(event->globalPos());
}

}  // namespace swage::ui
