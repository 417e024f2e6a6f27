// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QWidget>

#include <optional>

#include "ui/models/comparison.h"
#include "ui/models/other_projects.h"
#include "ui/models/project_session.h"
#include "ui/models/text_diff.h"
#include "ui/pages/run_picker.h"
#include "ui/widgets/theme.h"

class QCheckBox;
class QPushButton;
class QStackedWidget;
class QTabBar;
class QTableView;
class QToolButton;

namespace swage::ui {

class Badge;
class CandidatePicker;
class DiffTools;
class DiffView;
class ElidedLabel;
class EmptyState;

// Two candidates of any runs beside each other: who is faster, then their source, assembly, metrics, launch plans and
// genomes; and with their common ancestor, who changed what. A is on the left, and deltas are of B against A. It stays
// as it is until the user chooses others, or opens another project.
class ComparePage final : public QWidget {
  Q_OBJECT

 public:
  enum class Tab : std::uint8_t { Source, Assembly, Metrics, Plan, Genome };

  ComparePage(ProjectSession& session, const ComparisonServices& services, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // How candidates of other projects are found; without it there are only those of the open one.
  void setOtherProjects(const OpenRecord& open, const ChooseFolder& chooseFolder);
  void compare(const CandidateRef& left, const CandidateRef& right);
  // The selected candidate with the first of its parents.
  void compareWithParent();
  void showTab(Tab tab);
  void swapSides();
  // Which candidates of the open project are compared, and the tab.
  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);

 Q_SIGNALS:
  // The user edited a side by pushing changes, and wants to go on with it as an edit of that candidate.
  void draftRequested(swage::domain::CandidateId parent, const QString& source);

 private:
  [[nodiscard]] QWidget* makeHeader();
  [[nodiscard]] QWidget* makeContent();
  [[nodiscard]] QWidget* makeTextPage(DiffView& view, CommentSyntax comments);
  [[nodiscard]] QWidget* makeTablePage();
  void connectParts();
  void connectPickers();
  void showProject();
  void compareRestored();
  void clear();
  void showComparison();
  void showCurrentTab();
  void showTexts(DiffView& view, Tab tab);
  void showRows(std::vector<ComparisonRow> rows);
  void fitColumns();
  void updateDraft();
  void requestDraft();
  [[nodiscard]] Tab tab() const;
  [[nodiscard]] bool showsAncestor() const;
  [[nodiscard]] const ComparedCandidate& candidateOf(int pane) const;

  ProjectSession& m_session;
  ComparisonServices m_services;
  OtherProjects m_projects;
  std::filesystem::path m_project;  // whose candidates are compared
  std::optional<Comparison> m_comparison;
  QJsonObject m_leftOff;  // as restored, until that project is open or something else is compared
  RunPicker* m_leftRun;
  RunPicker* m_rightRun;
  CandidatePicker* m_left;
  CandidatePicker* m_right;
  QToolButton* m_swap;
  QCheckBox* m_ancestor;
  Badge* m_verdict;
  ElidedLabel* m_summary;
  QTabBar* m_tabs;
  QStackedWidget* m_stack;
  DiffView* m_source;
  DiffView* m_assembly;
  QList<DiffTools*> m_tools;
  QPushButton* m_draft;
  ComparisonModel* m_model;
  QTableView* m_table;
  QCheckBox* m_onlyDifferences;
  EmptyState* m_empty = nullptr;
};

}  // namespace swage::ui
