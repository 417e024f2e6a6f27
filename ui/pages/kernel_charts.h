// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/pinned_baseline.h"
#include "ui/widgets/chart_widget.h"

class QGridLayout;

namespace swage::ui {

class BarChart;
class MemoryChart;
class ProcessorPanel;
class Section;

// What the counters say of one kernel: use of the units, stall reasons, occupancy and memory of a GPU, what a processor
// did. Beside each other where there is room. Hides what was not counted.
class KernelCharts final : public QWidget {
  Q_OBJECT

 public:
  explicit KernelCharts(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setOutlet(const ChartOutlet& outlet);
  // `index` of the report's kernels. Shows nothing where it has no such kernel.
  void showKernel(const services::ProfileReport& report, int index, const std::optional<PinnedNumbers>& pinned);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange(int columns);

  BarChart* m_units;
  BarChart* m_stalls;
  BarChart* m_occupancy;
  MemoryChart* m_memory;
  ProcessorPanel* m_processor;
  QList<Section*> m_sections;
  QGridLayout* m_grid;
  int m_columns = 0;
};

}  // namespace swage::ui
