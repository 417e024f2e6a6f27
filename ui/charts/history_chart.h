// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

#include "core/services/types.h"
#include "ui/widgets/chart_menu.h"
#include "ui/widgets/theme.h"

class QAreaSeries;
class QChart;
class QChartView;
class QLineSeries;
class QValueAxis;

namespace swage::ui {

// Best speedup over search time with its 95 % interval as a band, and the fastest baseline at 1×. GUI thread only.
class HistoryChart final : public QWidget, public ChartSource {
  Q_OBJECT

 public:
  explicit HistoryChart(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // `untilSeconds` is now; the last step is drawn up to it.
  void setHistory(const std::vector<services::HistoryPoint>& history, double untilSeconds, const QString& baselineMode);
  void setOutlet(const ChartOutlet& outlet);
  [[nodiscard]] QString chartTitle() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;
  [[nodiscard]] int cornerCount() const;
  [[nodiscard]] double highestValue() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void setRanges(double seconds, double lowest, double highest);

  QChart* m_chart;
  QChartView* m_view;
  QLineSeries* m_best;
  QLineSeries* m_low;
  QLineSeries* m_high;
  QAreaSeries* m_band;
  QLineSeries* m_baseline;
  QValueAxis* m_time;
  QValueAxis* m_speedup;
  double m_highest = 1.0;
  Theme m_theme;
  ChartOutlet m_outlet;
};

}  // namespace swage::ui
