// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/bar_chart.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kLines = 1.6;         // height of a bar's line, in text heights
constexpr double kGap = 0.6;           // between columns, in text heights
constexpr double kBarThickness = 0.7;  // in text heights
constexpr double kLeastBar = 6.0;      // width of the bars, in text heights

}  // namespace

BarChart::BarChart(const QString& title, QWidget* parent) : ChartWidget(title, parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void BarChart::setBars(std::vector<Bar> bars) {
  m_bars = std::move(bars);
  refresh();
}

double BarChart::lineHeight() const {
  return fontMetrics().height() * kLines;
}

double BarChart::widest(QString Bar::*text) const {
  int width = 0;
  for (const Bar& bar : m_bars) {
    width = std::max(width, fontMetrics().horizontalAdvance(bar.*text));
  }
  return width;
}

QSize BarChart::sizeHint() const {
  return {minimumSizeHint().width() * 2, minimumSizeHint().height()};
}

QSize BarChart::minimumSizeHint() const {
  const double gap = fontMetrics().height() * kGap;
  const double width = std::min(widest(&Bar::label), fontMetrics().averageCharWidth() * 24.0) + widest(&Bar::text) +
                       widest(&Bar::delta) + 4.0 * gap + fontMetrics().height() * kLeastBar;
  return {static_cast<int>(width), static_cast<int>(lineHeight() * static_cast<double>(m_bars.size()) + gap)};
}

void BarChart::drawChart(QPainter& painter, const QRectF& target) const {
  const QFontMetrics metrics = fontMetrics();
  const double gap = metrics.height() * kGap;
  const double labels = std::min(widest(&Bar::label), target.width() * 0.4);
  const double texts = widest(&Bar::text);
  const double deltas = widest(&Bar::delta);
  const double right = texts + gap + (deltas > 0.0 ? deltas + gap : 0.0);
  painter.fillRect(target, theme().base);
  painter.setFont(font());
  double top = target.top() + gap / 2.0;
  for (const Bar& bar : m_bars) {
    const QRectF line(target.left() + gap, top, target.width() - 2.0 * gap, lineHeight());
    painter.setPen(theme().text);
    painter.drawText(QRectF(line.left(), line.top(), labels, line.height()), Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(bar.label, Qt::ElideRight, static_cast<int>(labels) + 1));
    drawBar(painter, line.adjusted(labels + gap, 0, -right, 0), bar);
    painter.setPen(theme().text);
    painter.drawText(QRectF(line.right() - right + gap, line.top(), texts, line.height()),
                     Qt::AlignVCenter | Qt::AlignRight, bar.text);
    painter.setPen(theme().mutedText);
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, bar.delta);
    top += lineHeight();
  }
}

void BarChart::drawBar(QPainter& painter, const QRectF& track, const Bar& bar) const {
  const double thickness = fontMetrics().height() * kBarThickness;
  QRectF full(track.left(), track.center().y() - thickness / 2.0, track.width(), thickness);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme().chartGrid);
  painter.drawRoundedRect(full, 2.0, 2.0);
  const double width = full.width() * std::clamp(bar.share, 0.0, 1.0);
  painter.setBrush(theme().chartBar);
  painter.drawRoundedRect(QRectF(full.left(), full.top(), width, full.height()), 2.0, 2.0);
  if (bar.reference) {
    const double at = full.left() + full.width() * std::clamp(*bar.reference, 0.0, 1.0);
    painter.setPen(QPen(theme().chartPinned, 2.0));
    painter.drawLine(QPointF(at, full.top() - 2.0), QPointF(at, full.bottom() + 2.0));
  }
}

ChartTable BarChart::chartTable() const {
  ChartTable table{{tr("name"), tr("share"), tr("baseline")}, {}};
  for (const Bar& bar : m_bars) {
    table.rows.push_back({bar.label, csvNumber(bar.share), bar.reference ? csvNumber(*bar.reference) : QString()});
  }
  return table;
}

bool BarChart::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto index = static_cast<std::size_t>(std::max(0.0, help->pos().y() / lineHeight()));
    if (index < m_bars.size() && !m_bars[index].tooltip.isEmpty()) {
      QToolTip::showText(help->globalPos(), m_bars[index].tooltip, this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return ChartWidget::event(event);
}

}  // namespace swage::ui
