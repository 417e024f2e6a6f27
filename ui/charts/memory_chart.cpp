// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/memory_chart.h"

#include <QPainter>

#include <algorithm>

#include "ui/models/delta.h"
#include "ui/models/quantity.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kBoxHeight = 4.4;  // in text heights
constexpr double kArrowWidth = 2.4;

QString hits(const std::optional<double>& rate) {
  return rate ? MemoryChart::tr("%1 hits").arg(formatPercent(*rate)) : QString();
}

QString busy(const std::optional<double>& use) {
  return use ? MemoryChart::tr("%1 busy").arg(formatPercent(*use)) : MemoryChart::tr("not counted");
}

}  // namespace

MemoryChart::MemoryChart(QWidget* parent) : ChartWidget(tr("Memory"), parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void MemoryChart::setLevels(const MemoryLevels& levels) {
  m_levels = levels;
  refresh();
}

QSize MemoryChart::sizeHint() const {
  return {fontMetrics().averageCharWidth() * 80, minimumSizeHint().height()};
}

QSize MemoryChart::minimumSizeHint() const {
  return {fontMetrics().averageCharWidth() * 48, static_cast<int>(fontMetrics().height() * (kBoxHeight + 2.6))};
}

std::array<MemoryChart::Level, 3> MemoryChart::levels() const {
  const bool hasBytes = m_levels.traffic.bytesRead && m_levels.traffic.bytesWritten;
  const double bytes = hasBytes ? *m_levels.traffic.bytesRead + *m_levels.traffic.bytesWritten : 0.0;
  return {{{tr("L1 and shared"), m_levels.l1Use, hits(m_levels.traffic.l1HitRate)},
           {tr("L2 cache"), m_levels.l2Use, hits(m_levels.traffic.l2HitRate)},
           {tr("Device memory"), m_levels.deviceMemoryUse, hasBytes ? formatBytes(bytes) : QString()}}};
}

void MemoryChart::drawChart(QPainter& painter, const QRectF& target) const {
  painter.fillRect(target, theme().base);
  painter.setFont(font());
  const double em = fontMetrics().height();
  const auto shown = levels();
  const double arrow = em * kArrowWidth;
  const double width = (target.width() - 2.0 * em - 2.0 * arrow) / static_cast<double>(shown.size());
  const double top = target.top() + em * 0.5;
  double left = target.left() + em;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    drawLevel(painter, {left, top, width, em * kBoxHeight}, shown[i]);
    if (i + 1 < shown.size()) {
      drawArrow(painter, left + width, left + width + arrow, top + em * 1.6, false);
      drawArrow(painter, left + width, left + width + arrow, top + em * 2.8, true);
    }
    left += width + arrow;
  }
  QStringList notes;
  if (m_levels.traffic.bytesRead && m_levels.traffic.bytesWritten) {
    notes.push_back(tr("read %1, written %2")
                        .arg(formatBytes(*m_levels.traffic.bytesRead), formatBytes(*m_levels.traffic.bytesWritten)));
  }
  if (m_levels.taskBytes > 0.0) {
    notes.push_back(tr("the task needs %1").arg(formatBytes(m_levels.taskBytes)));
  }
  painter.setPen(theme().mutedText);
  painter.drawText(QRectF(target.left() + em, top + em * (kBoxHeight + 0.4), target.width() - 2.0 * em, em * 1.2),
                   Qt::AlignRight | Qt::AlignVCenter, notes.join(u"; "_s));
}

void MemoryChart::drawLevel(QPainter& painter, const QRectF& box, const Level& level) const {
  const double em = fontMetrics().height();
  painter.setPen(QPen(theme().border, 1.0));
  painter.setBrush(theme().alternateBase);
  painter.drawRoundedRect(box, 4.0, 4.0);
  const QRectF inner = box.adjusted(em * 0.5, em * 0.35, -em * 0.5, -em * 0.4);
  const int width = static_cast<int>(inner.width());
  const auto line = [&](int row) {
    return QRectF(inner.left(), inner.top() + em * 1.1 * row, inner.width(), em * 1.1);
  };
  const auto fit = [&](const QString& text) { return fontMetrics().elidedText(text, Qt::ElideRight, width); };
  painter.setPen(theme().text);
  painter.drawText(line(0), Qt::AlignLeft | Qt::AlignVCenter, fit(level.name));
  painter.setPen(theme().mutedText);
  painter.drawText(line(1), Qt::AlignLeft | Qt::AlignVCenter, fit(busy(level.use)));
  painter.drawText(line(2), Qt::AlignLeft | Qt::AlignVCenter, fit(level.detail));
  const QRectF track(inner.left(), inner.bottom() - em * 0.22, inner.width(), em * 0.22);
  painter.fillRect(track, theme().chartGrid);
  painter.fillRect(QRectF(track.left(), track.top(), track.width() * level.use.value_or(0.0), track.height()),
                   theme().chartBar);
}

void MemoryChart::drawArrow(QPainter& painter, double from, double to, double y, bool pointsRight) const {
  const double em = fontMetrics().height();
  const double head = em * 0.35;
  const double tip = pointsRight ? to - em * 0.3 : from + em * 0.3;
  const double direction = pointsRight ? -1.0 : 1.0;
  painter.setPen(QPen(theme().mutedText, 1.5));
  painter.drawLine(QPointF(from + em * 0.3, y), QPointF(to - em * 0.3, y));
  painter.drawLine(QPointF(tip, y), QPointF(tip + direction * head, y - head));
  painter.drawLine(QPointF(tip, y), QPointF(tip + direction * head, y + head));
}

ChartTable MemoryChart::chartTable() const {
  const auto number = [](const std::optional<double>& value) { return value ? csvNumber(*value) : QString(); };
  return {{tr("level"), tr("use"), tr("hit rate"), tr("bytes read"), tr("bytes written")},
          {{tr("L1"), number(m_levels.l1Use), number(m_levels.traffic.l1HitRate), {}, {}},
           {tr("L2"), number(m_levels.l2Use), number(m_levels.traffic.l2HitRate), {}, {}},
           {tr("device memory"),
            number(m_levels.deviceMemoryUse),
            {},
            number(m_levels.traffic.bytesRead),
            number(m_levels.traffic.bytesWritten)}}};
}

}  // namespace swage::ui
