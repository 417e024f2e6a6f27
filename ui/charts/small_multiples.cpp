// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/small_multiples.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/charts/decimate.h"
#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kPanelChars = 24;      // width of a panel
constexpr double kPanelLines = 3.4;  // its height
constexpr int kMostColumns = 4;

}  // namespace

SmallMultiples::SmallMultiples(const QString& title, Format format, QWidget* parent)
    : ChartWidget(title, parent), m_format(std::move(format)) {}

void SmallMultiples::setSeries(std::vector<TimelineSeries> series, double untilSeconds) {
  const bool isSameCount = series.size() == m_series.size();
  m_series = std::move(series);
  m_highest = 0.0;
  m_until = untilSeconds;
  for (const TimelineSeries& one : m_series) {
    for (const QPointF& point : one.points) {
      m_highest = std::max(m_highest, point.y());
      m_until = std::max(m_until, point.x());
    }
  }
  m_highest = m_highest > 0.0 ? m_highest : 1.0;
  m_until = m_until > 0.0 ? m_until : 1.0;
  if (!isSameCount) {
    updateGeometry();
  }
  refresh();
}

int SmallMultiples::columnsIn(double width) const {
  const int fitting = static_cast<int>(width / (fontMetrics().averageCharWidth() * kPanelChars));
  return std::clamp(fitting, 1, std::min(kMostColumns, std::max(1, static_cast<int>(m_series.size()))));
}

QSize SmallMultiples::sizeHint() const {
  return {fontMetrics().averageCharWidth() * kPanelChars * 2, minimumSizeHint().height()};
}

QSize SmallMultiples::minimumSizeHint() const {
  const int columns = columnsIn(width());
  const int rows = (static_cast<int>(m_series.size()) + columns - 1) / columns;
  return {fontMetrics().averageCharWidth() * kPanelChars,
          static_cast<int>(fontMetrics().height() * (kPanelLines * std::max(1, rows) + 1.6))};
}

void SmallMultiples::drawChart(QPainter& painter, const QRectF& target) const {
  painter.fillRect(target, theme().base);
  painter.setFont(font());
  if (m_series.empty()) {
    return;
  }
  const double line = fontMetrics().height();
  const double gap = line * 0.6;
  const int columns = columnsIn(target.width());
  const int rows = (static_cast<int>(m_series.size()) + columns - 1) / columns;
  const QRectF area = target.adjusted(gap, gap / 2.0, -gap, -line * 1.4);
  const double width = (area.width() - gap * (columns - 1)) / columns;
  const double height = (area.height() - gap * (rows - 1)) / rows;
  for (std::size_t i = 0; i < m_series.size(); ++i) {
    const int row = static_cast<int>(i) / columns;
    const int column = static_cast<int>(i) % columns;
    drawPanel(painter, {area.left() + column * (width + gap), area.top() + row * (height + gap), width, height},
              m_series[i]);
  }
  painter.setPen(theme().mutedText);
  painter.drawText(QRectF(area.left(), area.bottom(), area.width(), target.bottom() - area.bottom()), Qt::AlignCenter,
                   tr("each: 0 to %1, over %2 of search").arg(m_format(m_highest), formatDuration(m_until)));
}

void SmallMultiples::drawPanel(QPainter& painter, const QRectF& panel, const TimelineSeries& series) const {
  const QFontMetrics metrics = fontMetrics();
  const QString last = series.points.isEmpty() ? u"–"_s : m_format(series.points.back().y());
  const QRectF head(panel.left(), panel.top(), panel.width(), metrics.height());
  const double room = head.width() - metrics.horizontalAdvance(last) - metrics.averageCharWidth();
  painter.setPen(theme().text);
  painter.drawText(head, Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(series.name, Qt::ElideRight, static_cast<int>(room)));
  painter.setPen(theme().mutedText);
  painter.drawText(head, Qt::AlignRight | Qt::AlignVCenter, last);
  const QRectF plot = panel.adjusted(0, metrics.height() + 2.0, 0, 0);
  painter.setPen(QPen(theme().chartGrid, 1.0));
  painter.drawLine(plot.bottomLeft(), plot.bottomRight());
  if (series.points.isEmpty()) {
    return;
  }
  QPainterPath path;
  const QList<QPointF> points = decimate(series.points);
  for (qsizetype i = 0; i < points.size(); ++i) {
    const QPointF at(plot.left() + plot.width() * points[i].x() / m_until,
                     plot.bottom() - (plot.height() - 2.0) * points[i].y() / m_highest);
    i == 0 ? path.moveTo(at) : path.lineTo(at);
  }
  QPainterPath filled = path;
  filled.lineTo(path.currentPosition().x(), plot.bottom());
  filled.lineTo(plot.left() + plot.width() * points.front().x() / m_until, plot.bottom());
  QColor below = theme().chartLine;
  below.setAlphaF(0.18F);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillPath(filled, below);
  painter.setPen(QPen(theme().chartLine, 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
}

ChartTable SmallMultiples::chartTable() const {
  ChartTable table{{tr("name"), tr("seconds"), tr("value")}, {}};
  for (const TimelineSeries& series : m_series) {
    for (const QPointF& point : series.points) {
      table.rows.push_back({series.name, csvNumber(point.x()), csvNumber(point.y())});
    }
  }
  return table;
}

}  // namespace swage::ui
