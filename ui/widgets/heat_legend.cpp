// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/heat_legend.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <array>

#include "ui/models/format.h"
#include "ui/widgets/heat_painter.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using State = services::CellSummary::State;

constexpr double kMargin = 8.0;
constexpr double kMaxRampWidth = 220.0;
constexpr double kRampHeight = 10.0;

}  // namespace

HeatLegend::HeatLegend(QWidget* parent) : QWidget(parent) {
  setObjectName(u"heatLegend"_s);
  setAccessibleName(tr("Legend of the archive"));
}

void HeatLegend::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void HeatLegend::setScale(const CellScale& scale) {
  m_scale = scale;
  update();
}

QSize HeatLegend::sizeHint() const {
  return {640, 2 * QFontMetrics(font()).height() + 10};
}

QSize HeatLegend::minimumSizeHint() const {
  return {300, sizeHint().height()};
}

void HeatLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), m_theme.base);
  painter.setRenderHint(QPainter::Antialiasing);
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.9);
  painter.setFont(small);
  paintMarks(painter, paintRamp(painter, kMargin));
}

double HeatLegend::paintRamp(QPainter& painter, double left) const {
  const QFontMetricsF metrics(painter.font());
  const QString title = ui::title(m_scale.metric());
  painter.setPen(m_theme.mutedText);
  painter.drawText(QPointF(left, 4.0 + metrics.ascent()), title);
  const double start = left + metrics.horizontalAdvance(title) + 16.0;
  if (m_scale.isEmpty()) {
    const QString none = tr("no values");
    painter.drawText(QPointF(start, 4.0 + metrics.ascent()), none);
    return start + metrics.horizontalAdvance(none) + 28.0;
  }
  const double length = std::clamp(width() * 0.28, 80.0, kMaxRampWidth);
  const QRectF ramp(start, 4.0 + (metrics.height() - kRampHeight) / 2.0, length, kRampHeight);
  const ColorMap colors = colorsFor(m_scale.metric(), m_theme.heat);
  constexpr int kSteps = 64;
  for (int i = 0; i < kSteps; ++i) {
    const QRectF part(ramp.left() + ramp.width() * i / kSteps, ramp.top(), ramp.width() / kSteps + 0.6, ramp.height());
    painter.fillRect(part, mapColor(colors, static_cast<double>(i) / (kSteps - 1)));
  }
  double last = -1e9;  // right end of the text before, so that none is written over another
  painter.setPen(m_theme.mutedText);
  for (const CellScale::Tick& tick : m_scale.ticks()) {
    const double x = ramp.left() + ramp.width() * tick.level;
    painter.drawLine(QPointF(x, ramp.bottom()), QPointF(x, ramp.bottom() + 3.0));
    const double half = metrics.horizontalAdvance(tick.text) / 2.0;
    if (x - half > last + 4.0 || x + half < last - 4.0) {
      painter.drawText(QRectF(x - 60.0, ramp.bottom() + 3.0, 120.0, metrics.height()), Qt::AlignCenter, tick.text);
      last = x + half;
    }
  }
  return ramp.right() + 28.0;
}

void HeatLegend::paintMarks(QPainter& painter, double left) const {
  struct Mark {
    State state;
    QString text;
  };
  const std::array<Mark, 3> marks = {{{State::FailedOnly, tr("none correct")},
                                      {State::Empty, tr("not tried")},
                                      {State::Unavailable, tr("unreachable on this device")}}};
  const QFontMetricsF metrics(painter.font());
  double top = 4.0;
  double x = left;
  paintStar(painter, QPointF(x + 6.0, top + metrics.height() / 2.0), 6.0, m_theme.text);
  x += 18.0;
  const auto label = [&](const QString& text) {
    painter.setPen(m_theme.mutedText);
    painter.drawText(QPointF(x, top + metrics.ascent()), text);
    x += metrics.horizontalAdvance(text) + 16.0;
  };
  label(tr("best"));
  for (const Mark& mark : marks) {
    if (x + 28.0 + metrics.horizontalAdvance(mark.text) > width() - kMargin && top < metrics.height()) {
      x = left;
      top += metrics.height() + 2.0;
    }
    paintCellBackground(painter, QRectF(x, top + 1.0, 22.0, metrics.height() - 2.0), mark.state, {}, m_theme);
    x += 28.0;
    const bool fits = x + metrics.horizontalAdvance(mark.text) <= width() - kMargin;
    label(!fits && mark.state == State::Unavailable ? tr("unreachable") : mark.text);
  }
}

}  // namespace swage::ui
