// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <filesystem>
#include <functional>

#include "core/services/benchmark_service.h"
#include "ui/widgets/chart_menu.h"
#include "ui/widgets/theme.h"

class QLabel;
class QSortFilterProxyModel;
class QTableView;

namespace swage::ui {

class BenchmarkModel;
class BenchmarkSummaryModel;
class ElidedLabel;
class EmptyState;
class SvgPicture;

// The results of a benchmark over KernelBench: means and shares, every problem, and a chart of the speedups. A double
// click on a problem, or Enter, opens its run where the record lies beside the file.
class BenchmarkPage final : public QWidget {
  Q_OBJECT

 public:
  // Asks for a file; the answer comes by the function, or never.
  using ChooseResults = std::function<void(QWidget* parent, const std::function<void(const QString& file)>& chosen)>;

  explicit BenchmarkPage(const services::BenchmarkService& benchmarks, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setChooseFile(ChooseResults choose) { m_choose = std::move(choose); }
  // Where the chart is written to.
  void setOutlet(const ChartOutlet& outlet);
  // Reads the file and shows it; what is shown stays if it cannot be read.
  void open(const QString& file);

 Q_SIGNALS:
  void runRequested(const std::filesystem::path& project, swage::domain::RunId run);

 private:
  [[nodiscard]] QWidget* makeBar();
  [[nodiscard]] QWidget* makeTasks();
  [[nodiscard]] QWidget* makeResults();
  void showResults(const QString& file, const Result<services::BenchmarkResults>& results);
  void showRemarks();
  void openRun(const QModelIndex& index);

  const services::BenchmarkService& m_benchmarks;
  BenchmarkModel* m_tasks;
  BenchmarkSummaryModel* m_summaries;
  QSortFilterProxyModel* m_sorted;
  ElidedLabel* m_headline;
  QLabel* m_problem;
  QTableView* m_taskTable = nullptr;
  QTableView* m_summaryTable = nullptr;
  QLabel* m_remarks = nullptr;
  SvgPicture* m_chart;
  EmptyState* m_empty = nullptr;
  std::filesystem::path m_project;
  ChooseResults m_choose;
};

}  // namespace swage::ui
