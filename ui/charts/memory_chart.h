// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>

#include "core/domain/diagnosis.h"
#include "ui/widgets/chart_widget.h"

namespace swage::ui {

struct MemoryLevels {
  domain::MemoryTraffic traffic;  // of all launches of one kernel
  std::optional<double> l1Use;    // of the most it can do, 0 to 1
  std::optional<double> l2Use;
  std::optional<double> deviceMemoryUse;
  double taskBytes = 0.0;  // what any program has to move; 0: not known
};

// How data flows between a kernel, the caches and device memory: how busy each level is, how much it keeps from the
// next one, and what reaches device memory.
class MemoryChart final : public ChartWidget {
  Q_OBJECT

 public:
  explicit MemoryChart(QWidget* parent = nullptr);
  void setLevels(const MemoryLevels& levels);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;

 private:
  struct Level {
    QString name;
    std::optional<double> use;
    QString detail;
  };
  [[nodiscard]] std::array<Level, 3> levels() const;
  void drawLevel(QPainter& painter, const QRectF& box, const Level& level) const;
  void drawArrow(QPainter& painter, double from, double to, double y, bool pointsRight) const;

  MemoryLevels m_levels;
};

}  // namespace swage::ui
