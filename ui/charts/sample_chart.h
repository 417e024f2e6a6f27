// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/charts/timing_strip.h"
#include "ui/widgets/chart_widget.h"

namespace swage::ui {

// The samples behind one time.
struct SampleRow {
  QString name;
  std::vector<double> samplesNs;  // in the order in which they were taken
  DeltaInterval time;
  TimingLine::Role role = TimingLine::Role::Other;
};

// How the samples of measured times are distributed, each row about its own median: a dot for each sample, those of
// about the same time above one another, and the 95 % interval of the median behind them. What is much slower than the
// median is counted at the right end.
class SampleChart final : public ChartWidget {
  Q_OBJECT

 public:
  explicit SampleChart(QWidget* parent = nullptr);
  void setRows(std::vector<SampleRow> rows);
  [[nodiscard]] const std::vector<SampleRow>& rows() const { return m_rows; }
  [[nodiscard]] bool isEmpty() const { return m_rows.empty(); }
  // Samples that are beyond the right end of the axis.
  [[nodiscard]] int outliers(const SampleRow& row) const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;

 private:
  // From `low` to `high`, over the median less one.
  struct Axis {
    double low = 0.0;
    double high = 1.0;
    QRectF area;
    [[nodiscard]] double at(double relative) const {
      return area.left() + area.width() * (relative - low) / (high - low);
    }
  };
  [[nodiscard]] double rowHeight() const;
  [[nodiscard]] int nameWidth(double width) const;
  void fitRange();
  void drawAxis(QPainter& painter, const Axis& axis) const;
  void drawRow(QPainter& painter, const Axis& axis, const QRectF& area, const SampleRow& row) const;

  std::vector<SampleRow> m_rows;
  double m_low = -0.05;
  double m_high = 0.05;
};

}  // namespace swage::ui
