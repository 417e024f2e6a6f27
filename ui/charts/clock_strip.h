// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/domain/evaluation.h"
#include "ui/widgets/chart_widget.h"

namespace swage::ui {

// The clock of a GPU from the first sample of a measurement to the last, with the moments in which it was held back.
class ClockStrip final : public ChartWidget {
  Q_OBJECT

 public:
  explicit ClockStrip(QWidget* parent = nullptr);
  // Empty where no look knows the clock.
  void setLooks(const std::vector<domain::ConditionLook>& looks);
  [[nodiscard]] bool isEmpty() const { return m_looks.empty(); }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;

 private:
  std::vector<domain::ConditionLook> m_looks;
};

}  // namespace swage::ui
