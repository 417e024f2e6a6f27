// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/timing_strip.h"

#include <QPainter>

#include <algorithm>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kLines = 1.7;  // height of a line, in text heights
constexpr double kGap = 0.6;
constexpr double kLeastStrip = 8.0;
constexpr double kNarrowest = 3.0;  // of an interval, so that it can be seen

QString textOf(const TimingLine& line) {
  return formatInterval(line.time.median, line.time.low, line.time.high);
}

}  // namespace

TimingStrip::TimingStrip(QWidget* parent) : ChartWidget(tr("Measured times"), parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TimingStrip::setLines(std::vector<TimingLine> lines) {
  m_lines = std::move(lines);
  refresh();
}

double TimingStrip::lineHeight() const {
  return fontMetrics().height() * kLines;
}

double TimingStrip::highestNs() const {
  double highest = 0.0;
  for (const TimingLine& line : m_lines) {
    highest = std::max({highest, line.time.median, line.time.high});
  }
  return highest > 0.0 ? highest * 1.04 : 1.0;
}

QColor TimingStrip::colorOf(TimingLine::Role role) const {
  switch (role) {
    case TimingLine::Role::Candidate: return theme().chartLine;
    case TimingLine::Role::Pinned: return theme().chartPinned;
    case TimingLine::Role::Other: return theme().chartBaseline;
  }
  return theme().text;
}

QSize TimingStrip::sizeHint() const {
  return {minimumSizeHint().width() * 2, minimumSizeHint().height()};
}

QSize TimingStrip::minimumSizeHint() const {
  const double em = fontMetrics().height();
  return {static_cast<int>(fontMetrics().averageCharWidth() * 34.0 + em * kLeastStrip),
          static_cast<int>(lineHeight() * static_cast<double>(m_lines.size()) + em * kGap)};
}

void TimingStrip::drawChart(QPainter& painter, const QRectF& target) const {
  const QFontMetrics metrics = fontMetrics();
  const double gap = metrics.height() * kGap;
  int names = 0;
  int texts = 0;
  for (const TimingLine& line : m_lines) {
    names = std::max(names, metrics.horizontalAdvance(line.name));
    texts = std::max(texts, metrics.horizontalAdvance(textOf(line)));
  }
  const int shownNames = std::min(names, static_cast<int>(target.width() * 0.3));
  painter.fillRect(target, theme().base);
  painter.setFont(font());
  double top = target.top() + gap / 2.0;
  for (const TimingLine& line : m_lines) {
    const QRectF row(target.left() + gap, top, target.width() - 2.0 * gap, lineHeight());
    painter.setPen(theme().text);
    painter.drawText(row, Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(line.name, Qt::ElideRight, shownNames + 1));
    painter.drawText(row, Qt::AlignVCenter | Qt::AlignRight, textOf(line));
    drawMarks(painter, row.adjusted(shownNames + gap, 0, -texts - gap, 0), line);
    top += lineHeight();
  }
}

void TimingStrip::drawMarks(QPainter& painter, const QRectF& strip, const TimingLine& line) const {
  const auto at = [&](double ns) { return strip.left() + strip.width() * ns / highestNs(); };
  const double middle = strip.center().y();
  const double half = fontMetrics().height() * 0.4;
  const QColor color = colorOf(line.role);
  painter.setPen(QPen(theme().chartGrid, 1.0));
  painter.drawLine(QPointF(strip.left(), middle), QPointF(strip.right(), middle));
  if (!line.time.isKnown()) {
    return;
  }
  painter.setPen(QPen(color, 1.5));
  painter.drawLine(QPointF(strip.left(), middle), QPointF(at(line.time.median), middle));
  if (line.leastNs > 0.0) {
    painter.drawLine(QPointF(at(line.leastNs), middle - half * 0.6), QPointF(at(line.leastNs), middle + half * 0.6));
  }
  QColor band = color;
  band.setAlphaF(0.35F);
  const double left = at(line.time.low > 0.0 ? line.time.low : line.time.median);
  const double right = at(line.time.high > 0.0 ? line.time.high : line.time.median);
  const double missing = std::max(0.0, kNarrowest - (right - left));
  painter.setPen(Qt::NoPen);
  painter.setBrush(band);
  painter.drawRect(QRectF(left - missing / 2.0, middle - half, right - left + missing, 2.0 * half));
  painter.setPen(QPen(color, 2.0));
  painter.drawLine(QPointF(at(line.time.median), middle - half), QPointF(at(line.time.median), middle + half));
}

ChartTable TimingStrip::chartTable() const {
  ChartTable table{{tr("name"), tr("median ns"), tr("low ns"), tr("high ns"), tr("least ns")}, {}};
  for (const TimingLine& line : m_lines) {
    table.rows.push_back({line.name, csvNumber(line.time.median), csvNumber(line.time.low), csvNumber(line.time.high),
                          csvNumber(line.leastNs)});
  }
  return table;
}

}  // namespace swage::ui
