// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/timeline_chart.h"

#include <QtCharts/QChart>
#include <QtCharts/QChartView>
#include <QtCharts/QLegend>
#include <QtCharts/QLineSeries>
#include <QtCharts/QValueAxis>

#include <QContextMenuEvent>
#include <QGraphicsLayout>
#include <QMenu>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/charts/decimate.h"
#include "ui/charts/history_series.h"
#include "ui/widgets/series_colors.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kLineWidth = 1.8;
constexpr double kHeadroom = 1.05;
constexpr std::array kDashes = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};

QValueAxis* makeAxis(QChart* chart, Qt::Alignment alignment, const QString& title) {
  auto* axis = new QValueAxis(chart);
  axis->setTitleText(title);
  axis->setTickType(QValueAxis::TicksDynamic);
  axis->setTickAnchor(0.0);
  chart->addAxis(axis, alignment);
  return axis;
}

void setRange(QValueAxis& axis, double highest, int ticks) {
  const double step = niceStep(highest, ticks);
  axis.setRange(0.0, std::ceil(highest / step - 1e-9) * step);
  axis.setTickInterval(step);
  axis.setLabelFormat(step < 0.1 ? u"%.2f"_s : step < 1.0 ? u"%.1f"_s : u"%.0f"_s);
}

double highestOf(const std::vector<TimelineSeries>& all, TimelineSeries::Axis axis) {
  double highest = 0.0;
  for (const TimelineSeries& series : all) {
    if (series.axis == axis) {
      for (const QPointF& point : series.points) {
        highest = std::max(highest, point.y());
      }
    }
  }
  return highest;
}

}  // namespace

TimelineChart::TimelineChart(const Titles& titles, QWidget* parent)
    : QWidget(parent),
      m_titles(titles),
      m_chart(new QChart),
      m_view(new QChartView(m_chart, this)),
      m_time(makeAxis(m_chart, Qt::AlignBottom, tr("search time, s"))),
      m_left(makeAxis(m_chart, Qt::AlignLeft, titles.left)) {
  if (!titles.right.isEmpty()) {
    m_right = makeAxis(m_chart, Qt::AlignRight, titles.right);
    m_right->setGridLineVisible(false);
  }
  m_view->setAccessibleName(titles.chart);
  m_view->setRenderHint(QPainter::Antialiasing);
  m_view->setFrameShape(QFrame::NoFrame);
  m_chart->setMargins({4, 4, 8, 4});
  m_chart->layout()->setContentsMargins(0, 0, 0, 0);
  m_chart->setBackgroundRoundness(0);
  m_chart->legend()->setAlignment(Qt::AlignTop);
  m_chart->legend()->setMarkerShape(QLegend::MarkerShapeFromSeries);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_view);
  style();
  fitAxes();
}

void TimelineChart::setTheme(const Theme& theme) {
  m_theme = theme;
  style();
}

void TimelineChart::setOutlet(const ChartOutlet& outlet) {
  m_outlet = outlet;
}

void TimelineChart::style() const {
  m_chart->setBackgroundBrush(m_theme.base);
  m_chart->setBackgroundPen(Qt::NoPen);
  m_chart->legend()->setLabelColor(m_theme.mutedText);
  m_view->setBackgroundBrush(m_theme.base);
  QFont title = font();
  title.setWeight(QFont::Normal);
  for (QValueAxis* axis : {m_time, m_left, m_right}) {
    if (axis != nullptr) {
      axis->setLabelsColor(m_theme.mutedText);
      axis->setTitleBrush(m_theme.mutedText);
      axis->setTitleFont(title);
      axis->setLinePen(QPen(m_theme.border, 1.0));
      axis->setGridLinePen(QPen(m_theme.chartGrid, 1.0));
    }
  }
  for (std::size_t i = 0; i < m_lines.size(); ++i) {
    m_lines[i]->setPen(QPen(seriesColor(m_theme, i), kLineWidth, kDashes[i % kDashes.size()]));
  }
}

void TimelineChart::makeLines() {
  for (QLineSeries* line : m_lines) {
    m_chart->removeSeries(line);
    delete line;
  }
  m_lines.clear();
  for (const TimelineSeries& series : m_series) {
    auto* line = new QLineSeries(m_chart);
    line->setName(series.name);
    m_chart->addSeries(line);
    line->attachAxis(m_time);
    line->attachAxis(series.axis == TimelineSeries::Axis::Right && m_right != nullptr ? m_right : m_left);
    m_lines.push_back(line);
  }
  style();
}

void TimelineChart::setSeries(std::vector<TimelineSeries> series, double untilSeconds) {
  const bool isSame = std::equal(series.begin(), series.end(), m_series.begin(), m_series.end(),
                                 [](const auto& a, const auto& b) { return a.name == b.name && a.axis == b.axis; });
  m_series = std::move(series);
  m_until = untilSeconds;
  if (!isSame) {
    makeLines();
  }
  for (std::size_t i = 0; i < m_series.size(); ++i) {
    const QList<QPointF> points = decimate(m_series[i].points);
    m_lines[i]->replace(m_series[i].shape == TimelineSeries::Shape::Steps ? steps(points, m_until) : points);
  }
  fitAxes();
  describe();
}

void TimelineChart::fitAxes() const {
  constexpr int kLinesPerTick = 2;
  const int ticks = std::clamp(height() / (kLinesPerTick * fontMetrics().height()) - 2, 2, 6);
  double end = std::max(1.0, m_until);
  for (const TimelineSeries& series : m_series) {
    end = series.points.isEmpty() ? end : std::max(end, series.points.back().x());
  }
  const int timeTicks = std::clamp(width() / (8 * fontMetrics().averageCharWidth()), 3, 6);
  m_time->setRange(0.0, end);
  m_time->setTickInterval(niceStep(end, timeTicks));
  m_time->setLabelFormat(niceStep(end, timeTicks) < 1.0 ? u"%.1f"_s : u"%.0f"_s);
  const auto fit = [&](QValueAxis& axis, TimelineSeries::Axis which) {
    const double highest = highestOf(m_series, which);
    setRange(axis, highest > 0.0 ? highest * kHeadroom : 1.0, ticks);
  };
  fit(*m_left, TimelineSeries::Axis::Left);
  if (m_right != nullptr) {
    fit(*m_right, TimelineSeries::Axis::Right);
  }
}

// The last value of each line, as a reader of the legend would look for it.
void TimelineChart::describe() {
  QStringList values;
  for (const TimelineSeries& series : m_series) {
    if (!series.points.isEmpty()) {
      values.push_back(tr("%1: %2").arg(series.name, csvNumber(series.points.back().y())));
    }
  }
  m_view->setAccessibleDescription(values.join(u"; "_s));
}

qsizetype TimelineChart::pointsDrawn() const {
  qsizetype count = 0;
  for (const QLineSeries* line : m_lines) {
    count += line->count();
  }
  return count;
}

void TimelineChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitAxes();
}

void TimelineChart::contextMenuEvent(QContextMenuEvent* event) {
  makeChartMenu(*this, *this, m_outlet)->popup(event->globalPos());
}

void TimelineChart::drawChart(QPainter& painter, const QRectF& target) const {
  painter.fillRect(target, m_theme.base);
  m_view->render(&painter, target);
}

// Long, not wide: the series need not share their times.
ChartTable TimelineChart::chartTable() const {
  ChartTable table{{tr("series"), tr("search time s"), tr("value")}, {}};
  for (const TimelineSeries& series : m_series) {
    for (const QPointF& point : series.points) {
      table.rows.push_back({series.name, csvNumber(point.x()), csvNumber(point.y())});
    }
  }
  return table;
}

}  // namespace swage::ui
