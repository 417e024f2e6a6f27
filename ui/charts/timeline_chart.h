// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

#include "ui/widgets/chart_menu.h"
#include "ui/widgets/theme.h"

class QChart;
class QChartView;
class QLineSeries;
class QValueAxis;

namespace swage::ui {

// One line of a TimelineChart.
struct TimelineSeries {
  enum class Shape : std::uint8_t { Line, Steps };
  enum class Axis : std::uint8_t { Left, Right };
  QString name;
  QList<QPointF> points;  // search time and value, ascending in time
  Shape shape = Shape::Line;
  Axis axis = Axis::Left;
};

// Several values over search time, on a left axis and, where a series asks for it, a right one. A series keeps its
// colour and its dashes by its place. Decimated before it is drawn; the numbers that are taken away are all of them.
// GUI thread only.
class TimelineChart final : public QWidget, public ChartSource {
  Q_OBJECT

 public:
  struct Titles {
    QString chart;
    QString left;
    QString right;  // empty: there is no right axis
  };

  explicit TimelineChart(const Titles& titles, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setOutlet(const ChartOutlet& outlet);
  // `untilSeconds` is now: steps go on up to there.
  void setSeries(std::vector<TimelineSeries> series, double untilSeconds);
  [[nodiscard]] const std::vector<TimelineSeries>& series() const { return m_series; }
  [[nodiscard]] qsizetype pointsDrawn() const;
  [[nodiscard]] QString chartTitle() const override { return m_titles.chart; }
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void makeLines();
  void style() const;
  void fitAxes() const;
  void describe();

  Titles m_titles;
  QChart* m_chart;
  QChartView* m_view;
  QValueAxis* m_time;
  QValueAxis* m_left;
  QValueAxis* m_right = nullptr;
  std::vector<QLineSeries*> m_lines;
  std::vector<TimelineSeries> m_series;
  double m_until = 0.0;
  Theme m_theme = Theme::light();
  ChartOutlet m_outlet;
};

}  // namespace swage::ui
