// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/history_chart.h"

#include <QtCharts/QAreaSeries>
#include <QtCharts/QChart>
#include <QtCharts/QChartView>
#include <QtCharts/QLegend>
#include <QtCharts/QLegendMarker>
#include <QtCharts/QLineSeries>
#include <QtCharts/QValueAxis>

#include <QContextMenuEvent>
#include <QGraphicsLayout>
#include <QMenu>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "ui/charts/history_series.h"
#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kBandAlpha = 48;
// An interval may reach far above what was measured; the axis follows it this far.
constexpr double kMostAbove = 1.5;

QValueAxis* makeAxis(QChart* chart, Qt::Alignment alignment, const QString& title) {
  auto* axis = new QValueAxis(chart);
  axis->setTitleText(title);
  axis->setTitleVisible(!title.isEmpty());
  axis->setTickType(QValueAxis::TicksDynamic);
  axis->setTickAnchor(0.0);
  chart->addAxis(axis, alignment);
  return axis;
}

}  // namespace

HistoryChart::HistoryChart(QWidget* parent)
    : QWidget(parent),
      m_chart(new QChart),
      m_view(new QChartView(m_chart, this)),
      m_best(new QLineSeries(m_chart)),
      m_low(new QLineSeries(m_chart)),
      m_high(new QLineSeries(m_chart)),
      m_band(new QAreaSeries(m_high, m_low)),
      m_baseline(new QLineSeries(m_chart)),
      m_time(makeAxis(m_chart, Qt::AlignBottom, tr("search time, s"))),
      m_speedup(makeAxis(m_chart, Qt::AlignLeft, {})) {
  m_view->setObjectName(u"historyChart"_s);
  m_view->setAccessibleName(tr("Best speedup over time"));
  m_view->setRenderHint(QPainter::Antialiasing);
  m_view->setFrameShape(QFrame::NoFrame);
  m_view->setMinimumHeight(9 * fontMetrics().height());  // below that the axes have no room for their numbers
  m_chart->setMargins({4, 4, 8, 4});
  m_chart->layout()->setContentsMargins(0, 0, 0, 0);
  m_chart->setBackgroundRoundness(0);
  m_best->setName(tr("best candidate, ×"));
  m_baseline->setName(tr("fastest baseline"));
  m_band->setName(tr("95 % interval"));
  for (QAbstractSeries* series : {static_cast<QAbstractSeries*>(m_band), static_cast<QAbstractSeries*>(m_baseline),
                                  static_cast<QAbstractSeries*>(m_best)}) {
    m_chart->addSeries(series);
    series->attachAxis(m_time);
    series->attachAxis(m_speedup);
  }
  m_chart->legend()->setAlignment(Qt::AlignTop);
  m_chart->legend()->setMarkerShape(QLegend::MarkerShapeFromSeries);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_view);
  setTheme(Theme::light());
  setRanges(60.0, 0.0, 1.0);
}

void HistoryChart::setTheme(const Theme& theme) {
  m_theme = theme;
  m_chart->setBackgroundBrush(theme.base);
  m_chart->setBackgroundPen(Qt::NoPen);
  m_chart->legend()->setLabelColor(theme.mutedText);
  m_best->setPen(QPen(theme.chartLine, 2.0));
  QColor band = theme.chartLine;
  band.setAlpha(kBandAlpha);
  m_band->setPen(Qt::NoPen);
  m_band->setBrush(band);
  band.setAlpha(2 * kBandAlpha);
  for (QLegendMarker* marker : m_chart->legend()->markers(m_band)) {
    marker->setShape(QLegend::MarkerShapeRectangle);  // that of an area has a black frame, whatever the theme
    marker->setPen(Qt::NoPen);
    marker->setBrush(band);
  }
  m_baseline->setPen(QPen(theme.chartBaseline, 1.5, Qt::DashLine));
  QFont title = font();
  title.setWeight(QFont::Normal);
  for (QValueAxis* axis : {m_time, m_speedup}) {
    axis->setLabelsColor(theme.mutedText);
    axis->setTitleBrush(theme.mutedText);
    axis->setTitleFont(title);
    axis->setLinePen(QPen(theme.border, 1.0));
    axis->setGridLinePen(QPen(theme.chartGrid, 1.0));
  }
  m_view->setBackgroundBrush(theme.base);
}

void HistoryChart::setHistory(const std::vector<services::HistoryPoint>& history, double untilSeconds,
                              const QString& baselineMode) {
  const QList<QPointF> corners = stepLine(history, untilSeconds);
  m_best->replace(corners);
  m_low->replace(stepLine(history, untilSeconds, &domain::Speedup::low));
  m_high->replace(stepLine(history, untilSeconds, &domain::Speedup::high));
  const auto compare = [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); };
  const auto [lowest, highest] = std::minmax_element(corners.begin(), corners.end(), compare);
  const double end = std::max(1.0, corners.isEmpty() ? untilSeconds : std::max(untilSeconds, corners.back().x()));
  m_baseline->replace(QList<QPointF>{{0.0, 1.0}, {end, 1.0}});
  m_baseline->setName(baselineMode.isEmpty() ? tr("fastest baseline") : tr("baseline: %1").arg(baselineMode));
  double top = corners.isEmpty() ? 1.0 : highest->y();
  for (const QPointF& corner : m_high->points()) {
    top = std::max(top, std::min(corner.y(), kMostAbove * highest->y()));
  }
  setRanges(end, corners.isEmpty() ? 0.0 : lowest->y(), top);
}

void HistoryChart::setRanges(double seconds, double lowest, double highest) {
  m_time->setRange(0.0, seconds);
  m_time->setTickInterval(niceStep(seconds, 6));
  m_time->setLabelFormat(niceStep(seconds, 6) < 1.0 ? u"%.1f"_s : u"%.0f"_s);
  const double top = std::max(1.0, highest) * 1.08;
  constexpr int kPixelsPerTick = 30;
  const double step = niceStep(top, std::clamp(height() / kPixelsPerTick - 2, 2, 6));
  m_highest = highest;
  m_speedup->setRange(std::min(0.0, lowest), std::ceil(top / step) * step);
  m_speedup->setTickInterval(step);
  m_speedup->setLabelFormat(step < 0.1 ? u"%.2f"_s : step < 1.0 ? u"%.1f"_s : u"%.0f"_s);
}

void HistoryChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const double lowest = m_speedup->min();
  setRanges(m_time->max(), lowest, m_highest);
}

void HistoryChart::setOutlet(const ChartOutlet& outlet) {
  m_outlet = outlet;
}

QString HistoryChart::chartTitle() const {
  return tr("Best speedup over time");
}

void HistoryChart::drawChart(QPainter& painter, const QRectF& target) const {
  painter.fillRect(target, m_theme.base);
  m_view->render(&painter, target);
}

ChartTable HistoryChart::chartTable() const {
  ChartTable table{{tr("search time s"), tr("speedup"), tr("speedup low"), tr("speedup high")}, {}};
  for (int i = 0; i < m_best->count(); ++i) {
    table.rows.push_back({csvNumber(m_best->at(i).x()), csvNumber(m_best->at(i).y()), csvNumber(m_low->at(i).y()),
                          csvNumber(m_high->at(i).y())});
  }
  return table;
}

void HistoryChart::contextMenuEvent(QContextMenuEvent* event) {
  makeChartMenu(*this, *this, m_outlet)->popup(event->globalPos());
}

int HistoryChart::cornerCount() const {
  return static_cast<int>(m_best->count());
}

double HistoryChart::highestValue() const {
  double highest = 0.0;
  for (const QPointF& point : m_best->points()) {
    highest = std::max(highest, point.y());
  }
  return highest;
}

}  // namespace swage::ui
