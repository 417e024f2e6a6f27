// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QWidget>

#include <filesystem>

#include "core/services/compile_service.h"
#include "core/services/edit_service.h"
#include "core/services/profile_service.h"
#include "core/services/record_service.h"
#include "ui/models/project_session.h"
#include "ui/widgets/theme.h"

class QAction;
class QHBoxLayout;
class QKeySequence;
class QTableView;
class QTabWidget;
class QToolButton;

namespace swage::ui {

class CodePanes;
class DiagnosticModel;
class ElidedLabel;
class EmptyState;
class FactModel;
class KernelDraft;
class KernelEditing;
class KernelHeader;
struct KernelTrust;
class ParameterPanel;
class PlanModel;

// What the page may use beyond the session. Without `record` no profile is shown, without `edits` nothing can be
// edited; an empty folder keeps no drafts; without `compiles` a draft is compiled when it is evaluated; without
// `profiles` nothing is said of the self-test and the sanitizer.
struct KernelServices {
  const services::RecordService* record = nullptr;
  services::EditService* edits = nullptr;
  std::filesystem::path drafts{};
  services::CompileService* compiles = nullptr;
  const services::ProfileService* profiles = nullptr;
};

// The selected candidate: what it is in one line, its source, assembly and SASS linked side by side with what the
// compiler said, its parameters, plan and evaluation. Typing makes a draft, which is compiled as it is typed, and
// Ctrl+Enter a candidate of it.
class KernelPage final : public QWidget {
  Q_OBJECT

 public:
  explicit KernelPage(ProjectSession& session, QWidget* parent = nullptr) : KernelPage(session, {}, parent) {}
  KernelPage(ProjectSession& session, KernelServices services, QWidget* parent);
  void setTheme(const Theme& theme);
  void focusSource();
  // Searches the text of the pane that has the focus.
  void openFind();
  // How listings are shown, the tab, and the line of the caret.
  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);
  // Makes a draft of the selected candidate, if it can be edited.
  void startDraft(const QString& source);
  // The line is 1-based, as compilers and profiles count.
  void goToSourceLine(int line);
  // For menus and the palette: evaluate, discard, next and previous problem and hot spot. Their shortcuts work where
  // the page has the focus.
  [[nodiscard]] QList<QAction*> pageActions() const { return m_pageActions; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeToolRow();
  [[nodiscard]] QWidget* makeCodeTab();
  void makeActions();
  QAction* makeAction(const QString& name, const QString& text, const QList<QKeySequence>& keys,
                      void (KernelPage::*slot)());
  void makeTabs();
  void restoreCaret();
  void showSelection();
  void showDetail(const services::CandidateDetail& detail);
  [[nodiscard]] KernelTrust trustOf(const services::CandidateRow& row) const;
  void showCode(const services::CandidateDetail& detail);
  void showParameters(const services::CandidateDetail& detail);
  void showEditing();
  void showDiagnostics();
  void showProblems();
  void openReplace();
  void openGoToLine();
  void evaluate();
  void discard();
  void cancel();
  void nextProblem();
  void previousProblem();
  void goToProblem(int row);
  void nextHotSpot();
  void previousHotSpot();

  ProjectSession& m_session;
  KernelServices m_services;
  KernelEditing* m_editing;
  KernelDraft* m_draft;
  EmptyState* m_empty = nullptr;
  KernelHeader* m_header;
  QTabWidget* m_tabs;
  CodePanes* m_code;
  DiagnosticModel* m_diagnostics;
  QTableView* m_problems = nullptr;
  ElidedLabel* m_editState;
  QAction* m_evaluate = nullptr;
  QAction* m_discard = nullptr;
  QAction* m_cancel = nullptr;
  QAction* m_nextHotSpot = nullptr;
  QAction* m_previousHotSpot = nullptr;
  QList<QAction*> m_pageActions;
  ParameterPanel* m_parameters;
  PlanModel* m_plan;
  FactModel* m_facts;
  QTableView* m_factTable;
  domain::CandidateId m_shown;
  QString m_shownText;
  QJsonObject m_leftOff;  // as restored, until that candidate is shown
};

}  // namespace swage::ui
