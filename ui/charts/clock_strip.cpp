// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/clock_strip.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kHeight = 3.0;      // in text heights
constexpr double kLeastRange = 0.1;  // of the highest clock: a steady clock is drawn as a straight line

}  // namespace

ClockStrip::ClockStrip(QWidget* parent) : ChartWidget(tr("Clock during the measurement"), parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ClockStrip::setLooks(const std::vector<domain::ConditionLook>& looks) {
  m_looks = looks;
  std::erase_if(m_looks, [](const domain::ConditionLook& look) { return look.smClockMhz <= 0; });
  refresh();
}

QSize ClockStrip::sizeHint() const {
  return {minimumSizeHint().width() * 2, minimumSizeHint().height()};
}

QSize ClockStrip::minimumSizeHint() const {
  return {fontMetrics().averageCharWidth() * 40, static_cast<int>(fontMetrics().height() * kHeight)};
}

void ClockStrip::drawChart(QPainter& painter, const QRectF& target) const {
  painter.fillRect(target, theme().base);
  painter.setFont(font());
  if (m_looks.empty()) {
    return;
  }
  const QFontMetrics metrics = fontMetrics();
  const double gap = metrics.height() * 0.6;
  const auto [least, most] = std::minmax_element(
      m_looks.begin(), m_looks.end(), [](const auto& a, const auto& b) { return a.smClockMhz < b.smClockMhz; });
  int hottest = 0;
  for (const domain::ConditionLook& look : m_looks) {
    hottest = std::max(hottest, look.temperatureCelsius);
  }
  const QString name = tr("clock");
  QString text = least->smClockMhz == most->smClockMhz
                     ? tr("%1 MHz").arg(most->smClockMhz)
                     : tr("%1 to %2 MHz").arg(least->smClockMhz).arg(most->smClockMhz);
  text += hottest > 0 ? tr(", %1 °C").arg(hottest) : QString();
  const QRectF row = target.adjusted(gap, gap / 2.0, -gap, -gap / 2.0);
  painter.setPen(theme().text);
  painter.drawText(row, Qt::AlignVCenter | Qt::AlignLeft, name);
  painter.drawText(row, Qt::AlignVCenter | Qt::AlignRight, text);
  const QRectF strip =
      row.adjusted(metrics.horizontalAdvance(name) + gap, 0, -metrics.horizontalAdvance(text) - gap, 0);
  const double range = std::max<double>(most->smClockMhz - least->smClockMhz, kLeastRange * most->smClockMhz);
  const double step = strip.width() / static_cast<double>(std::max<std::size_t>(m_looks.size() - 1, 1));
  const double inner = strip.height() - 4.0;
  QPainterPath line;
  for (std::size_t i = 0; i < m_looks.size(); ++i) {
    const QPointF at(strip.left() + step * static_cast<double>(i),
                     strip.top() + 2.0 + inner * (most->smClockMhz - m_looks[i].smClockMhz) / range);
    if (m_looks[i].throttled) {
      painter.fillRect(QRectF(at.x() - step / 2.0, strip.top(), std::max(step, 2.0), strip.height())
                           .intersected(strip.adjusted(-1, 0, 1, 0)),
                       theme().warningBanner);
    }
    i == 0 ? line.moveTo(at) : line.lineTo(at);
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme().chartLine, 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(line);
}

ChartTable ClockStrip::chartTable() const {
  ChartTable table{{tr("look"), tr("clock MHz"), tr("°C"), tr("throttled")}, {}};
  for (std::size_t i = 0; i < m_looks.size(); ++i) {
    table.rows.push_back({QString::number(i + 1), QString::number(m_looks[i].smClockMhz),
                          QString::number(m_looks[i].temperatureCelsius), m_looks[i].throttled ? tr("yes") : tr("no")});
  }
  return table;
}

}  // namespace swage::ui
