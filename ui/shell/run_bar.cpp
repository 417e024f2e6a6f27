// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QProgressBar>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWidgetAction>

#include <algorithm>
#include <cmath>

#include "ui/models/format.h"
#include "ui/shell/actions.h"
#include "ui/shell/run_options.h"
#include "ui/widgets/editing_finished.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/stat_label.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kPermille = 1000;

QToolButton* labelledButton(QAction* action) {
  auto* button = new QToolButton;
  button->setDefaultAction(action);
  button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  button->setAutoRaise(true);
  return button;
}

}  // namespace

RunBar::RunBar(ProjectSession& session, const Actions& actions, QWidget* parent)
    : QToolBar(tr("Run"), parent),
      m_session(session),
      m_task(new QComboBox),
      m_target(new QComboBox),
      m_budget(new QComboBox),
      m_optionsButton(new QToolButton),
      m_options(new RunOptions),
      m_progress(new QProgressBar),
      m_stage(new ElidedLabel),
      m_best(new StatLabel(tr("best"), u"100.00×"_s)),
      m_tried(new StatLabel(tr("tried"), u"100,000"_s)),
      m_correct(new StatLabel(tr("correct"), u"100,000"_s)),
      m_rate(new StatLabel(tr("rate"), u"100.0/s"_s)) {
  setObjectName(u"runBar"_s);
  setMovable(false);
  setContextMenuPolicy(Qt::PreventContextMenu);
  makeFields();
  addWidget(m_task);
  addWidget(m_target);
  addWidget(m_budget);
  addWidget(m_optionsButton);
  addSeparator();
  for (QAction* action : {actions.start, actions.pause, actions.stop}) {
    addWidget(labelledButton(action));
  }
  addSeparator();
  addWidget(makeProgress());
  for (StatLabel* stat : {m_best, m_tried, m_correct, m_rate}) {
    addWidget(stat);
  }
  setTheme(Theme::light());
  connect(&session, &ProjectSession::stateChanged, this, &RunBar::showState);
  connect(&session, &ProjectSession::progressChanged, this, &RunBar::showProgress);
  connect(&session, &ProjectSession::runShown, this, &RunBar::showProgress);
  connect(this, &RunBar::edited, this, &RunBar::showProgress);
  showState();
}

void RunBar::makeFields() {
  m_task->setObjectName(u"taskPicker"_s);
  m_task->setAccessibleName(tr("Task"));
  m_task->setPlaceholderText(tr("Choose a task"));
  m_task->setMinimumContentsLength(16);
  m_task->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_target->setObjectName(u"target"_s);
  m_target->setAccessibleName(tr("Target"));
  m_target->setToolTip(tr("Where the kernel runs"));
  for (const auto& target : {u"auto"_s, u"cpu"_s, u"cuda"_s}) {
    m_target->addItem(target, target);
  }
  m_budget->setObjectName(u"timeBudget"_s);
  m_budget->setAccessibleName(tr("Budget"));
  m_budget->setToolTip(
      tr("When the search ends: after a time, for example 90 s, 5 min or 1h30m, or after a number of "
         "candidates, for example 500 candidates"));
  m_budget->setEditable(true);
  m_budget->setInsertPolicy(QComboBox::NoInsert);
  m_budget->addItems({u"30 s"_s, u"60 s"_s, u"2 min"_s, u"5 min"_s, u"10 min"_s, u"30 min"_s, u"1 h"_s,
                      tr("500 candidates"), tr("2000 candidates")});
  m_budget->setCurrentText(editableBudget(m_budgetSet));
  m_budget->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_budget->setMinimumContentsLength(8);
  auto* panel = new QWidgetAction(this);
  panel->setDefaultWidget(m_options);
  auto* menu = new QMenu(m_optionsButton);
  menu->addAction(panel);
  m_optionsButton->setObjectName(u"runOptions"_s);
  m_optionsButton->setToolTip(tr("Overrides, seed, limits and baselines of the run"));
  m_optionsButton->setAccessibleName(tr("Run options"));
  m_optionsButton->setMenu(menu);
  m_optionsButton->setPopupMode(QToolButton::InstantPopup);
  m_optionsButton->setAutoRaise(true);
  connect(m_task, &QComboBox::currentIndexChanged, this, [this] {
    m_task->setToolTip(m_task->currentData(Qt::ToolTipRole).toString());
    Q_EMIT edited();
    Q_EMIT taskChosen();
  });
  connect(m_options, &RunOptions::changed, this, &RunBar::edited);
  whenEditingFinished(m_budget->lineEdit(), this, &RunBar::restoreBudget);
  connect(m_budget, &QComboBox::currentTextChanged, this, [this](const QString& text) {
    m_budgetSet = parseBudget(text).value_or(m_budgetSet);
    Q_EMIT edited();
  });
}

QWidget* RunBar::makeProgress() {
  auto* box = new QWidget;
  m_progress->setObjectName(u"budgetBar"_s);
  m_progress->setAccessibleName(tr("Budget used"));
  m_progress->setRange(0, kPermille);
  m_progress->setTextVisible(false);
  m_progress->setFixedHeight(8);
  m_stage->setObjectName(u"stage"_s);
  QFont small = m_stage->font();
  small.setPointSizeF(small.pointSizeF() * 0.9);
  m_stage->setFont(small);
  m_stage->setForegroundRole(QPalette::PlaceholderText);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(6, 2, 6, 0);
  column->setSpacing(4);
  column->addWidget(m_progress);
  column->addWidget(m_stage);
  box->setMinimumWidth(140);
  box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  return box;
}

void RunBar::setTheme(const Theme& theme) {
  m_optionsButton->setIcon(themedIcon(u"options"_s, theme));
}

void RunBar::setTasks(const std::vector<TaskEntry>& bundled, const QStringList& recent) {
  const QString chosen = task();
  {
    const QSignalBlocker blocker(m_task);
    m_task->clear();
    const auto add = [this](const TaskEntry& entry) {
      m_task->addItem(entry.name, entry.path);
      const QString tip = entry.description.isEmpty() ? entry.path : QString(entry.description % u"\n"_s % entry.path);
      m_task->setItemData(m_task->count() - 1, tip, Qt::ToolTipRole);
    };
    std::for_each(bundled.begin(), bundled.end(), add);
    const auto isBundled = [&bundled](const QString& path) {
      return std::any_of(bundled.begin(), bundled.end(), [&path](const auto& entry) { return entry.path == path; });
    };
    bool separated = bundled.empty();
    for (const QString& path : recent) {
      if (isBundled(path)) {
        continue;
      }
      if (!separated) {
        m_task->insertSeparator(m_task->count());
        separated = true;
      }
      add(taskEntry(path));
    }
    m_task->setCurrentIndex(m_task->findData(chosen));
  }
  Q_EMIT edited();
}

void RunBar::chooseTask(const QString& path) {
  const int known = m_task->findData(path);
  if (known < 0) {
    const TaskEntry entry = taskEntry(path);
    m_task->addItem(entry.name, entry.path);
  }
  m_task->setCurrentIndex(known < 0 ? m_task->count() - 1 : known);
}

QString RunBar::task() const {
  return m_task->currentData().toString();
}

bool RunBar::isComplete() const {
  return !task().isEmpty() && parseBudget(m_budget->currentText()) && m_options->isValid();
}

void RunBar::setSettings(const services::RunSpec& spec) {
  if (const int index = m_target->findData(toQString(spec.target)); index >= 0) {
    m_target->setCurrentIndex(index);
  }
  const bool isCounted = spec.timeBudgetSeconds <= 0.0 && spec.maxEvaluations > 0;
  m_budgetSet = isCounted ? Budget{.seconds = 0.0, .evaluations = spec.maxEvaluations}
                          : Budget{.seconds = spec.timeBudgetSeconds};
  m_budget->setCurrentText(editableBudget(m_budgetSet));
  services::RunSpec rest = spec;
  rest.maxEvaluations = isCounted ? 0 : spec.maxEvaluations;
  m_options->setFrom(rest);
}

services::RunSpec RunBar::spec() const {
  services::RunSpec spec;
  spec.task = task().toStdString();
  spec.target = m_target->currentData().toString().toStdString();
  m_options->writeTo(spec);
  spec.timeBudgetSeconds = m_budgetSet.seconds;
  if (m_budgetSet.evaluations > 0) {
    spec.maxEvaluations = m_budgetSet.evaluations;
  }
  return spec;
}

void RunBar::restoreBudget() {
  if (!parseBudget(m_budget->currentText())) {
    m_budget->setCurrentText(editableBudget(m_budgetSet));
  }
}

void RunBar::showState() {
  for (QWidget* field : std::initializer_list<QWidget*>{m_task, m_target, m_budget, m_optionsButton}) {
    field->setEnabled(!m_session.isActive());
  }
  showProgress();
}

void RunBar::showProgress() {
  const services::Progress& progress = m_session.progress();
  const bool isPreparing =
      m_session.state() == services::RunState::Importing || m_session.state() == services::RunState::Preparing;
  const bool isCounted = isPreparing && progress.steps > 0;
  m_progress->setRange(0, isCounted ? progress.steps : isPreparing ? 0 : kPermille);
  m_progress->setValue(isCounted ? progress.step : static_cast<int>(std::lround(shareDone(progress) * kPermille)));
  m_stage->setFullText(stageText());
  m_best->setValue(formatSpeedup(progress.bestSpeedup));
  m_best->setToolTip(progress.bestSpeedup.isKnown()
                         ? tr("%1, with its 95 % interval").arg(formatSpeedupInterval(progress.bestSpeedup))
                         : QString());
  m_tried->setValue(formatCount(progress.evaluations));
  m_correct->setValue(formatCount(progress.correct));
  m_rate->setValue(formatRate(progress.perSecond));
}

QString RunBar::stageText() {
  const services::Progress& progress = m_session.progress();
  if (!m_session.isActive()) {
    m_selfTest.invalidate();
    return endedText();
  }
  if (progress.steps > 0 && m_session.state() == services::RunState::Preparing) {
    return selfTestText(progress);
  }
  m_selfTest.invalidate();
  QString text = progressText(m_session.state(), progress);
  if (!progress.stage.empty()) {
    text += u" · "_s % toQString(progress.stage);
  }
  return text;
}

QString RunBar::endedText() const {
  const auto& summary = m_session.summary();
  const bool isRecorded = m_session.state() == services::RunState::Idle;
  if (isRecorded && !summary) {
    return isComplete() ? tr("Not started. Press Start to search for a faster kernel.")
                        : tr("Choose a task, then press Start.");
  }
  const QString text =
      isRecorded ? tr("recorded run: %1 · %2").arg(statusWord(summary->status), formatDuration(summary->elapsedSeconds))
                 : progressText(m_session.state(), m_session.progress());
  const QString pytorch = summary ? pytorchWinsText(*summary) : QString();
  return pytorch.isEmpty() ? text : QString(text % u" · "_s % pytorch);
}

QString RunBar::selfTestText(const services::Progress& progress) {
  if (!m_selfTest.isValid()) {
    m_selfTest.start();
  }
  const double seconds = static_cast<double>(m_selfTest.elapsed()) / 1000.0;
  QString text = tr("self-test %1 of %2 · %3").arg(progress.step).arg(progress.steps).arg(formatDuration(seconds));
  if (progress.step > 0) {
    text +=
        u" · "_s % tr("about %1 left").arg(formatDuration(seconds / progress.step * (progress.steps - progress.step)));
  }
  return text % u" · "_s % tr("checks once that wrong kernels are found on this device");
}

}  // namespace swage::ui
