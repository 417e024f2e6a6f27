// SPDX-License-Identifier: Apache-2.0
// What the bars of the window say of a search and let one do with it.
#include <QAbstractButton>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QKeySequence>
#include <QLabel>
#include <QMap>
#include <QMenuBar>

#include "tests/support/fake_profile_service.h"
#include "tests/ui/window_fixture.h"
#include "ui/shell/run_bar.h"
#include "ui/shell/status_strip.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/stat_label.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using services::RunState;

class RunBarTest : public WindowTest {
 protected:
  [[nodiscard]] QString stage() const { return child<ui::ElidedLabel>(u"stage"_s)->fullText(); }
};

TEST_F(RunBarTest, SaysWherePyTorchIsNotBeaten) {
  record.runRows.front().bestSpeedup = {1.01, 0.98, 1.04};
  record.runRows.front().winner = domain::CandidateId(1);
  const QString said = u"no candidate is significantly faster than PyTorch (torch.compile)"_s;
  write(folder / "project" / "runs.sqlite", "");
  openWithTask();
  EXPECT_TRUE(stage().startsWith(u"recorded run: finished"_s)) << stage().toStdString();
  EXPECT_TRUE(stage().endsWith(said)) << stage().toStdString();
  startRun();
  EXPECT_FALSE(stage().contains(said)) << "a search that goes on may still find something";
  run.finish({});
  EXPECT_TRUE(stage().startsWith(u"finished"_s)) << stage().toStdString();
  EXPECT_TRUE(stage().endsWith(said)) << stage().toStdString();
}

TEST_F(RunBarTest, TheBestSpeedupHasItsInterval) {
  record.runRows.front().bestSpeedup = {2.23, 2.2, 2.26};
  write(folder / "project" / "runs.sqlite", "");
  openWithTask();
  const auto stats = child<ui::RunBar>(u"runBar"_s)->findChildren<ui::StatLabel*>();
  ASSERT_FALSE(stats.isEmpty());
  EXPECT_EQ(stats.front()->value(), u"2.23×"_s);
  EXPECT_EQ(stats.front()->toolTip(), u"2.23× (2.20 to 2.26), with its 95 % interval"_s);
}

TEST_F(RunBarTest, ASearchCanBeEndedAtOnce) {
  openWithTask();
  QAction* stopNow = window->actions().stopNow;
  EXPECT_FALSE(stopNow->isEnabled());
  startRun();
  EXPECT_TRUE(stopNow->isEnabled());
  window->actions().stop->trigger();
  run.enter(RunState::Stopping);
  EXPECT_TRUE(stopNow->isEnabled()) << "the evaluation in progress may take long";
  stopNow->trigger();
  EXPECT_EQ(run.kills, 1);
  run.finish({});
  EXPECT_FALSE(stopNow->isEnabled());
}

TEST_F(RunBarTest, ATargetSpeedupEndsTheSearch) {
  options.spec.targetSpeedup = 1.5;
  openWithTask();
  auto* target = window->findChild<QDoubleSpinBox*>(u"targetSpeedup"_s);
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->text(), u"1.50×"_s);
  target->setValue(0.0);
  EXPECT_EQ(target->text(), u"none"_s);
  target->setValue(2.25);
  window->actions().start->trigger();
  EXPECT_DOUBLE_EQ(run.spec.targetSpeedup, 2.25);
}

TEST_F(RunBarTest, TheBaselinesOfASearchAreChosen) {
  openWithTask();
  auto* baselines = window->findChild<QComboBox*>(u"baselines"_s);
  ASSERT_NE(baselines, nullptr);
  EXPECT_EQ(baselines->currentText(), u"automatic"_s);
  const auto start = [&](const QString& chosen) {
    baselines->setCurrentText(chosen);
    window->actions().start->trigger();
    run.finish({});
    return run.spec;
  };
  EXPECT_TRUE(start(u"automatic"_s).baselines.empty());
  EXPECT_TRUE(run.spec.compileBaselines);
  EXPECT_EQ(start(u"eager, compile, max-autotune"_s).baselines,
            (std::vector<std::string>{"eager", "compile", "max-autotune"}));
  EXPECT_EQ(start(u"eager"_s).baselines, std::vector<std::string>{"eager"});
  EXPECT_FALSE(run.spec.compileBaselines);
}

TEST_F(RunBarTest, BaselinesComeFromTheSettingsAndTheCommandLine) {
  options.spec.compileBaselines = false;
  openWithTask();
  EXPECT_EQ(window->findChild<QComboBox*>(u"baselines"_s)->currentText(), u"eager"_s);
  window.reset();
  options.spec.baselines = {"eager", "max-autotune"};
  openWithTask();
  EXPECT_EQ(window->findChild<QComboBox*>(u"baselines"_s)->currentText(), u"eager, max-autotune"_s);
  window->actions().start->trigger();
  EXPECT_EQ(run.spec.baselines, options.spec.baselines);
}

TEST(StatusStrip, SaysWhatIsDoneForAnEditOrAProfile) {
  FakeRunService run;
  FakeRecordService record;
  FakeEditService edits;
  FakeProfileService profiles;
  ui::ProjectSession session(run, record);
  const ui::StatusStrip strip(session, &edits, &profiles);
  const auto* workers = strip.findChild<ui::ElidedLabel*>(u"workerStatus"_s);
  EXPECT_EQ(workers->fullText(), u"no search is running"_s);
  Q_EMIT edits.stageChanged("compiling");
  EXPECT_EQ(workers->fullText(), u"evaluating an edit: compiling"_s);
  edits.finish(Error(ErrorKind::Cancelled, "cancelled"));
  EXPECT_EQ(workers->fullText(), u"no search is running"_s);
  profiles.tell(services::ProfileProgress::Stage::LoadingTask, 1.0);
  EXPECT_EQ(workers->fullText(), u"making a profile: loading the task"_s);
  profiles.finish(Error(ErrorKind::Cancelled, "cancelled"));
  EXPECT_EQ(workers->fullText(), u"no search is running"_s);
}

// The letter that is pressed with Alt; none: an empty one.
QKeySequence mnemonicOf(const QWidget& widget) {
  if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
    return QKeySequence::mnemonic(button->text());
  }
  const auto* label = qobject_cast<const QLabel*>(&widget);
  return label != nullptr && label->buddy() != nullptr ? QKeySequence::mnemonic(label->text()) : QKeySequence();
}

// Of a find bar, which is hidden until it is asked for, a letter is as good as that of a dialog.
bool isInFindBar(const QWidget* widget) {
  while (widget != nullptr && !widget->inherits("swage::ui::FindBar")) {
    widget = widget->parentWidget();
  }
  return widget != nullptr;
}

TEST_F(RunBarTest, NoLetterOfAPageIsThatOfAMenuOrOfAnotherPage) {
  FakeEditService edits;
  FakeProfileService profiles;
  ui::WindowServices all = services();
  all.edits = &edits;
  all.profiles = &profiles;
  window = std::make_unique<ui::MainWindow>(all, options);
  QMap<QString, QString> owners;
  for (const QAction* menu : window->menuBar()->actions()) {
    owners.insert(QKeySequence::mnemonic(menu->text()).toString(), menu->text());
  }
  EXPECT_TRUE(owners.contains(u"Alt+C"_s));
  for (const QWidget* widget : window->findChildren<QWidget*>()) {
    const QString letter = mnemonicOf(*widget).toString();
    if (letter.isEmpty() || widget->window() != window.get() || isInFindBar(widget)) {
      continue;
    }
    EXPECT_FALSE(owners.contains(letter)) << letter.toStdString() << ": " << owners.value(letter).toStdString()
                                          << " and " << widget->objectName().toStdString();
    owners.insert(letter, widget->objectName());
  }
  window.reset();
}

}  // namespace
}  // namespace swage::testing
