// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/sample_chart.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <map>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kRowHeight = 2.8;  // in text heights
constexpr double kFarAway = 0.3;    // above the median: what is beyond it does not stretch the axis
constexpr double kMargin = 0.06;    // of the range, at both ends
constexpr double kLeastSampleRange = 0.01;
constexpr int kTicks = 4;

QColor colorOf(TimingLine::Role role, const Theme& theme) {
  switch (role) {
    case TimingLine::Role::Candidate: return theme.chartLine;
    case TimingLine::Role::Pinned: return theme.chartPinned;
    case TimingLine::Role::Other: return theme.chartBaseline;
  }
  return theme.text;
}

double relativeTo(const SampleRow& row, double ns) {
  return row.time.median > 0.0 ? ns / row.time.median - 1.0 : 0.0;
}

// "−4 %", "0 %", "+20 %"
QString offsetText(double relative) {
  const QString number = QString::number(std::abs(100.0 * relative), 'g', 3);
  return (number == u"0"_s ? QString() : relative < 0.0 ? u"−"_s : u"+"_s) % number % u" %"_s;
}

// 1, 2 or 5 times a power of ten, so that about `count` of them make up the range.
double tickStep(double range, int count) {
  const double rough = range / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1.0 : digit < 3.5 ? 2.0 : digit < 7.5 ? 5.0 : 10.0);
}

}  // namespace

SampleChart::SampleChart(QWidget* parent) : ChartWidget(tr("Distribution of the samples"), parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void SampleChart::setRows(std::vector<SampleRow> rows) {
  std::erase_if(rows, [](const SampleRow& row) { return row.samplesNs.empty(); });
  m_rows = std::move(rows);
  fitRange();
  updateGeometry();
  refresh();
}

void SampleChart::fitRange() {
  double low = -kLeastSampleRange;
  double high = kLeastSampleRange;
  for (const SampleRow& row : m_rows) {
    for (const double ns : row.samplesNs) {
      const double relative = relativeTo(row, ns);
      low = std::min(low, relative);
      high = std::max(high, relative <= kFarAway ? relative : 0.0);
    }
  }
  const double margin = (high - low) * kMargin;
  m_low = low - margin;
  m_high = high + margin;
}

int SampleChart::outliers(const SampleRow& row) const {
  return static_cast<int>(std::count_if(row.samplesNs.begin(), row.samplesNs.end(),
                                        [&](double ns) { return relativeTo(row, ns) > m_high; }));
}

double SampleChart::rowHeight() const {
  return fontMetrics().height() * kRowHeight;
}

QSize SampleChart::sizeHint() const {
  return {minimumSizeHint().width() * 2, minimumSizeHint().height()};
}

QSize SampleChart::minimumSizeHint() const {
  return {fontMetrics().averageCharWidth() * 40,
          static_cast<int>(rowHeight() * static_cast<double>(m_rows.size()) + fontMetrics().height() * 1.8)};
}

int SampleChart::nameWidth(double width) const {
  int names = 0;
  for (const SampleRow& row : m_rows) {
    names = std::max(names, fontMetrics().horizontalAdvance(row.name));
  }
  return std::min(names, static_cast<int>(width * 0.3));
}

void SampleChart::drawChart(QPainter& painter, const QRectF& target) const {
  const QFontMetrics metrics = fontMetrics();
  const double gap = metrics.height() * 0.6;
  painter.fillRect(target, theme().base);
  painter.setFont(font());
  if (m_rows.empty()) {
    return;
  }
  const int names = nameWidth(target.width());
  const int most = metrics.horizontalAdvance(u"+00"_s);
  const Axis axis{m_low, m_high, target.adjusted(gap + names + gap, gap / 2.0, -gap - most, -metrics.height() * 1.5)};
  drawAxis(painter, axis);
  double top = target.top() + gap / 2.0;
  for (const SampleRow& row : m_rows) {
    const QRectF area(target.left() + gap, top, target.width() - 2.0 * gap, rowHeight());
    painter.setPen(theme().text);
    painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, metrics.elidedText(row.name, Qt::ElideRight, names + 1));
    if (const int far = outliers(row); far > 0) {
      painter.setPen(theme().caution);
      painter.drawText(area, Qt::AlignVCenter | Qt::AlignRight, u"+%1"_s.arg(far));
    }
    drawRow(painter, axis, area, row);
    top += rowHeight();
  }
}

void SampleChart::drawAxis(QPainter& painter, const Axis& axis) const {
  const double step = tickStep(axis.high - axis.low, kTicks);
  double free = axis.area.left();
  for (int tick = static_cast<int>(std::ceil(axis.low / step)); tick * step <= axis.high; ++tick) {
    const double x = axis.at(tick * step);
    painter.setPen(QPen(theme().chartGrid, 1.0));
    painter.drawLine(QPointF(x, axis.area.top()), QPointF(x, axis.area.bottom()));
    const QString label = offsetText(tick * step);
    const double width = fontMetrics().horizontalAdvance(label);
    if (x - width / 2.0 < free) {
      continue;
    }
    painter.setPen(theme().mutedText);
    painter.drawText(QRectF(x - width, axis.area.bottom() + 2.0, 2.0 * width, fontMetrics().height()),
                     Qt::AlignHCenter | Qt::AlignTop, label);
    free = x + width / 2.0 + fontMetrics().averageCharWidth();
  }
}

void SampleChart::drawRow(QPainter& painter, const Axis& axis, const QRectF& area, const SampleRow& row) const {
  const double dot = std::clamp(fontMetrics().height() * 0.26, 3.0, 8.0);
  const double middle = area.center().y();
  const double half = area.height() * 0.42;
  const QColor color = colorOf(row.role, theme());
  painter.setRenderHint(QPainter::Antialiasing);
  QColor band = color;
  band.setAlphaF(0.22F);
  painter.setPen(Qt::NoPen);
  painter.setBrush(band);
  const double left = axis.at(std::max(relativeTo(row, row.time.low), axis.low));
  const double right = axis.at(std::min(relativeTo(row, row.time.high), axis.high));
  painter.drawRect(QRectF(left, middle - half, std::max(2.0, right - left), 2.0 * half));
  // One above and one below the middle by turns, so that a heap is as wide as it is tall.
  std::map<int, int> heaps;
  painter.setBrush(color);
  for (const double ns : row.samplesNs) {
    const double relative = relativeTo(row, ns);
    if (relative > axis.high) {
      continue;
    }
    const int place = static_cast<int>(std::lround((axis.at(relative) - axis.area.left()) / dot));
    const int rank = heaps[place]++;
    const double offset = (rank % 2 == 0 ? -1.0 : 1.0) * (rank + 1) / 2 * dot;
    const double y = middle + std::clamp(offset, -half + dot / 2.0, half - dot / 2.0);
    painter.drawEllipse(QPointF(axis.area.left() + place * dot, y), dot * 0.45, dot * 0.45);
  }
  painter.setPen(QPen(theme().text, 2.0));
  painter.drawLine(QPointF(axis.at(0.0), middle - half), QPointF(axis.at(0.0), middle + half));
}

ChartTable SampleChart::chartTable() const {
  ChartTable table{{tr("name"), tr("sample"), tr("ns")}, {}};
  for (const SampleRow& row : m_rows) {
    for (std::size_t i = 0; i < row.samplesNs.size(); ++i) {
      table.rows.push_back({row.name, QString::number(i + 1), csvNumber(row.samplesNs[i])});
    }
  }
  return table;
}

}  // namespace swage::ui
