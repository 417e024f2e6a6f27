// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/kernel_charts.h"

#include <QGridLayout>

#include "ui/charts/bar_chart.h"
#include "ui/charts/memory_chart.h"
#include "ui/pages/processor_panel.h"
#include "ui/pages/profile_view.h"
#include "ui/widgets/section.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kTwoColumnsFrom = 110;  // characters

bool hasTraffic(const MemoryLevels& levels) {
  return levels.l1Use || levels.l2Use || levels.deviceMemoryUse || levels.traffic.bytesRead;
}

}  // namespace

KernelCharts::KernelCharts(QWidget* parent)
    : QWidget(parent),
      m_units(new BarChart(tr("Use of the hardware"))),
      m_stalls(new BarChart(tr("Stall reasons"))),
      m_occupancy(new BarChart(tr("Occupancy"))),
      m_memory(new MemoryChart),
      m_processor(new ProcessorPanel),
      m_grid(new QGridLayout(this)) {
  m_units->setObjectName(u"unitChart"_s);
  m_stalls->setObjectName(u"stallChart"_s);
  m_occupancy->setObjectName(u"occupancyChart"_s);
  m_memory->setObjectName(u"memoryChart"_s);
  m_sections = {new Section(tr("Use of the hardware"), m_units, this), new Section(tr("Stall reasons"), m_stalls, this),
                new Section(tr("Occupancy"), m_occupancy, this), new Section(tr("Memory"), m_memory, this),
                new Section(tr("Processor"), m_processor, this)};
  m_sections[0]->setCaption(tr("% of peak. A unit at 60 % or more bounds the kernel."));
  m_sections[1]->setCaption(tr("% of the warps' cycles."));
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(fontMetrics().height());
  m_grid->setVerticalSpacing(fontMetrics().height());
  arrange(1);
}

void KernelCharts::setTheme(const Theme& theme) {
  for (ChartWidget* chart : std::initializer_list<ChartWidget*>{m_units, m_stalls, m_occupancy, m_memory}) {
    chart->setTheme(theme);
  }
}

void KernelCharts::setOutlet(const ChartOutlet& outlet) {
  for (ChartWidget* chart : std::initializer_list<ChartWidget*>{m_units, m_stalls, m_occupancy, m_memory}) {
    chart->setOutlet(outlet);
  }
}

void KernelCharts::showKernel(const services::ProfileReport& report, int index,
                              const std::optional<PinnedNumbers>& pinned) {
  const auto at = static_cast<std::size_t>(index);
  const bool isThere = index >= 0 && at < report.profile.kernels.size() && at < report.diagnosis.kernels.size();
  setVisible(isThere);
  if (!isThere) {
    return;
  }
  const domain::KernelProfile& profile = report.profile.kernels[at];
  const domain::KernelDiagnosis& kernel = report.diagnosis.kernels[at];
  const domain::KernelDiagnosis* other = counterpart(pinned ? &*pinned : nullptr, kernel);
  m_units->setBars(unitBars(kernel, other));
  m_stalls->setBars(stallBars(kernel, other));
  m_occupancy->setBars(occupancyBars(profile, kernel, other));
  const MemoryLevels levels = memoryLevels(kernel, report.diagnosis.taskBytes);
  m_memory->setLevels(levels);
  m_sections[2]->setCaption(occupancyLimits(profile));
  m_sections[0]->setVisible(!m_units->bars().empty());
  m_sections[1]->setVisible(!m_stalls->bars().empty());
  m_sections[2]->setVisible(!m_occupancy->bars().empty());
  m_sections[3]->setVisible(!kernel.processor && hasTraffic(levels));
  m_processor->setFacts(kernel.processor ? processorFacts(*kernel.processor) : QList<ProcessorFact>());
  m_sections[4]->setVisible(!m_processor->isEmpty());
}

void KernelCharts::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange(width() >= fontMetrics().averageCharWidth() * kTwoColumnsFrom ? 2 : 1);
}

void KernelCharts::arrange(int columns) {
  if (columns == m_columns) {
    return;
  }
  m_columns = columns;
  for (int i = 0; i < m_sections.size(); ++i) {
    m_grid->addWidget(m_sections[i], i / columns, i % columns);
  }
  m_grid->setColumnStretch(0, 1);
  m_grid->setColumnStretch(1, columns - 1);
}

}  // namespace swage::ui
