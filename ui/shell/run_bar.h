// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QToolBar>

#include "ui/models/project_session.h"
#include "ui/models/run_words.h"
#include "ui/models/task_catalogue.h"
#include "ui/widgets/theme.h"

class QComboBox;
class QProgressBar;
class QToolButton;

namespace swage::ui {

struct Actions;
class ElidedLabel;
class RunOptions;
class StatLabel;

// The strip at the top: which task, what budget, the three buttons, and how it goes.
class RunBar final : public QToolBar {
  Q_OBJECT

 public:
  RunBar(ProjectSession& session, const Actions& actions, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

  void setTasks(const std::vector<TaskEntry>& bundled, const QStringList& recent);
  void chooseTask(const QString& path);
  void setSettings(const services::RunSpec& spec);
  // The run that Start would start, without its project.
  [[nodiscard]] services::RunSpec spec() const;
  [[nodiscard]] QString task() const;
  [[nodiscard]] bool isComplete() const;  // a task is chosen and every field makes sense

 Q_SIGNALS:
  void edited();
  void taskChosen();

 private:
  void makeFields();
  [[nodiscard]] QWidget* makeProgress();
  void showState();
  void showProgress();
  [[nodiscard]] QString stageText();
  [[nodiscard]] QString endedText() const;
  [[nodiscard]] QString selfTestText(const services::Progress& progress);
  void restoreBudget();

  ProjectSession& m_session;
  QComboBox* m_task;
  QComboBox* m_target;
  QComboBox* m_budget;
  QToolButton* m_optionsButton;
  RunOptions* m_options;
  QProgressBar* m_progress;
  ElidedLabel* m_stage;
  StatLabel* m_best;
  StatLabel* m_tried;
  StatLabel* m_correct;
  StatLabel* m_rate;
  Budget m_budgetSet;
  QElapsedTimer m_selfTest;  // since its first step
};

}  // namespace swage::ui
