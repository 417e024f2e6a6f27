// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/models/delta.h"
#include "ui/widgets/chart_widget.h"

namespace swage::ui {

struct TimingLine {
  enum class Role : std::uint8_t { Candidate, Pinned, Other };
  QString name;
  DeltaInterval time;
  double leastNs = 0.0;  // of all samples; 0: not known
  Role role = Role::Other;
};

// Where measured times lie: of each the fastest sample, the 95 % interval of the median and the median itself, on one
// axis from zero, so that lengths compare.
class TimingStrip final : public ChartWidget {
  Q_OBJECT

 public:
  explicit TimingStrip(QWidget* parent = nullptr);
  void setLines(std::vector<TimingLine> lines);
  [[nodiscard]] const std::vector<TimingLine>& lines() const { return m_lines; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;

 private:
  [[nodiscard]] double lineHeight() const;
  [[nodiscard]] double highestNs() const;
  [[nodiscard]] QColor colorOf(TimingLine::Role role) const;
  void drawMarks(QPainter& painter, const QRectF& strip, const TimingLine& line) const;

  std::vector<TimingLine> m_lines;
};

}  // namespace swage::ui
