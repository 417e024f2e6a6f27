// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include "ui/charts/timeline_chart.h"
#include "ui/widgets/chart_widget.h"

namespace swage::ui {

// One small chart for each series, all over the same time and on the same scale from zero, so that they can be compared
// without lying on one another. Its name and its last value stand above each.
class SmallMultiples final : public ChartWidget {
  Q_OBJECT

 public:
  // `format` makes text of a value: of a series' last one, and of the top of the scale.
  using Format = std::function<QString(double)>;

  SmallMultiples(const QString& title, Format format, QWidget* parent = nullptr);
  // `untilSeconds` is now.
  void setSeries(std::vector<TimelineSeries> series, double untilSeconds);
  [[nodiscard]] const std::vector<TimelineSeries>& series() const { return m_series; }
  [[nodiscard]] double highestValue() const { return m_highest; }
  // How many stand beside each other in that width.
  [[nodiscard]] int columnsIn(double width) const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;

 private:
  void drawPanel(QPainter& painter, const QRectF& panel, const TimelineSeries& series) const;

  Format m_format;
  std::vector<TimelineSeries> m_series;
  double m_until = 1.0;
  double m_highest = 1.0;
};

}  // namespace swage::ui
