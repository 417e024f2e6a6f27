// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

#include <filesystem>
#include <functional>
#include <vector>

#include "core/services/record_service.h"
#include "ui/models/other_projects.h"
#include "ui/models/project_session.h"
#include "ui/pages/run_picker.h"
#include "ui/widgets/theme.h"

class QComboBox;
class QLabel;
class QMenu;
class QTableView;

namespace swage::ui {

class CandidateMenu;
class EmptyState;
class FilterEdit;
class RunComparisonDialog;
class RunTableModel;

// Every run of the open record, or of the projects that were opened lately. A double click, or Enter, shows one in all
// pages, for which its project is opened; two are compared with each other.
class RunsPage final : public QWidget {
  Q_OBJECT

 public:
  RunsPage(ProjectSession& session, const services::RecordService& record, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // What is done with the best candidate of a run.
  void setMenu(CandidateMenu* menu) { m_menu = menu; }
  // How runs of other projects are found; without it there are only those of the open one.
  void setOtherProjects(const OpenRecord& open, const ChooseFolder& chooseFolder);
  // Folders of projects that were opened lately, asked for when their runs are listed.
  void setRecentProjects(std::function<QStringList()> recent);
  // Whether a report can be asked for.
  void offerReports() { m_offersReports = true; }

 Q_SIGNALS:
  void compareRequested(const swage::ui::CandidateRef& left, const swage::ui::CandidateRef& right);
  void reportRequested(const swage::services::RunSummary& run);
  // A run of another project is to be shown.
  void runOfProjectRequested(const std::filesystem::path& project, swage::domain::RunId run);

 private:
  void setUpTable();
  void showContextMenu(const QPoint& position);
  void fillMenuOfOne(QMenu& menu, const RunRef& run);
  void fillMenuOfTwo(QMenu& menu, const RunRef& left, const RunRef& right);
  void compareRuns(const RunRef& left, const RunRef& right);
  [[nodiscard]] std::vector<RunRef> chosen() const;
  [[nodiscard]] bool listsOthers() const;
  [[nodiscard]] std::vector<RunRef> runsOfOthers();
  void changeScope();
  void open(const RunRef& run);
  void reload();
  void showShownRun();
  void openRun(const QModelIndex& index);
  void updateCounts();

  ProjectSession& m_session;
  const services::RecordService& m_record;
  RunTableModel* m_model;
  QTableView* m_table;
  EmptyState* m_empty;
  FilterEdit* m_filter;
  QComboBox* m_scope;
  QLabel* m_count;
  CandidateMenu* m_menu = nullptr;
  OtherProjects m_projects;
  ChooseFolder m_chooseFolder;
  std::function<QStringList()> m_recent;
  RunComparisonDialog* m_comparison = nullptr;  // made when it is first asked for
  bool m_offersReports = false;
};

}  // namespace swage::ui
