// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include "tests/ui/kernel_page_fixture.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using ::testing::ElementsAre;

TEST_F(KernelPageTest, ShowsAnotherKernelFromWhereItIsItsOwn) {
  QString prologue;
  for (int line = 0; line < 400; ++line) {
    prologue += u"// the same in every file\n"_s;
  }
  prepared.program.source = prologue.toStdString() + "void rows_kernel() {}\n" + std::string(400, '\n');
  domain::KernelStep kernel;
  kernel.entry = "rows_kernel";
  prepared.program.plan.steps = {kernel};
  open();
  auto* source = page->findChild<KernelView*>(u"sourceView"_s);
  EXPECT_EQ(source->firstVisibleLine(), 400);
  source->goToLine(10);
  session->report(Error(ErrorKind::Io, "something else happens"));
  EXPECT_EQ(source->caretLine(), 10);
}

TEST_F(KernelPageTest, F8GoesThroughTheCompilersMessages) {
  prepared.evaluation = domain::CompileFailed{
      domain::CompileFailureReason::Error,
      "source.cu(2): error: first\nptxas fatal   : aborted\nsource.cu(3): warning #1-D: second\n"};
  open();
  auto* problems = child<QTableView>(u"problemTable"_s);
  EXPECT_TRUE(problems->isVisible());
  EXPECT_EQ(problems->model()->rowCount(), 3);
  view(u"sourceView"_s).setFocus();
  press(Qt::Key_F8);
  EXPECT_EQ(view(u"sourceView"_s).caretLine(), 1);
  press(Qt::Key_F8);
  EXPECT_EQ(view(u"sourceView"_s).caretLine(), 2);
  press(Qt::Key_F8, Qt::ShiftModifier);
  EXPECT_EQ(view(u"sourceView"_s).caretLine(), 1);
  prepared.evaluation.reset();
  session->selectCandidate(second());
  EXPECT_FALSE(problems->isVisible());
}

TEST_F(KernelPageTest, CtrlEnterEvaluatesTheDraft) {
  open();
  EXPECT_FALSE(child<QAction>(u"evaluateEdit"_s)->isEnabled()) << "nothing was edited";
  type(u"// "_s);
  EXPECT_TRUE(state().startsWith(u"Draft"_s)) << state().toStdString();
  press(Qt::Key_Return, Qt::ControlModifier);
  ASSERT_EQ(edits.evaluations, 1);
  EXPECT_EQ(edits.spec.parent, first());
  EXPECT_EQ(edits.spec.project, folder / "project");
  EXPECT_EQ(std::get<services::SourceEdit>(edits.spec.change).source, std::string("// ") + kSource);
  Q_EMIT edits.stageChanged("compiling");
  EXPECT_EQ(state(), u"Evaluating: compiling"_s);
  press(Qt::Key_X);
  EXPECT_EQ(view(u"sourceView"_s).text(), u"// "_s + QLatin1StringView(kSource)) << "not changed while it is evaluated";
  prepared.program.source = std::string("// ") + kSource;
  edits.finish(outcome(record.rows[1]));
  EXPECT_EQ(session->selectedCandidate(), second());
  EXPECT_TRUE(state().startsWith(u"Recorded"_s)) << state().toStdString();
}

TEST_F(KernelPageTest, ARefusedEditStaysADraftAndSaysWhy) {
  open();
  const QSignalSpy noticed(session.get(), &ProjectSession::noticed);
  type(u"// "_s);
  press(Qt::Key_Return, Qt::ControlModifier);
  edits.finish(Error(ErrorKind::Locked, "the project is being written"));
  EXPECT_EQ(noticed.count(), 1);
  EXPECT_TRUE(state().startsWith(u"Draft"_s));
  EXPECT_TRUE(view(u"sourceView"_s).text().startsWith(u"// "_s));
  EXPECT_TRUE(child<QAction>(u"evaluateEdit"_s)->isEnabled());
}

TEST_F(KernelPageTest, CancellingIsNoFailure) {
  open();
  const QSignalSpy noticed(session.get(), &ProjectSession::noticed);
  type(u"// "_s);
  press(Qt::Key_Return, Qt::ControlModifier);
  child<QAction>(u"cancelEvaluation"_s)->trigger();
  EXPECT_EQ(edits.cancels, 1);
  edits.finish(Error(ErrorKind::Cancelled, "cancelled"));
  EXPECT_EQ(noticed.count(), 0);
  EXPECT_TRUE(state().startsWith(u"Draft"_s));
}

TEST_F(KernelPageTest, ADraftSurvivesAnotherSelectionAndTheProgram) {
  open();
  type(u"// kept "_s);
  session->selectCandidate(second());
  EXPECT_EQ(view(u"sourceView"_s).text(), QLatin1StringView(kSource));
  session->selectCandidate(first());
  EXPECT_TRUE(view(u"sourceView"_s).text().startsWith(u"// kept "_s));
  page.reset();
  open();
  EXPECT_TRUE(view(u"sourceView"_s).text().startsWith(u"// kept "_s));
  EXPECT_TRUE(state().startsWith(u"Draft of 20"_s)) << state().toStdString();
  child<QAction>(u"discardDraft"_s)->trigger();
  EXPECT_EQ(view(u"sourceView"_s).text(), QLatin1StringView(kSource));
  page.reset();
  open();
  EXPECT_EQ(view(u"sourceView"_s).text(), QLatin1StringView(kSource));
}

TEST_F(KernelPageTest, ADraftHoldsTheSelectionAgainstARunningSearch) {
  open();
  session->followBest();
  type(u"x"_s);
  EXPECT_EQ(session->follow(), ProjectSession::Follow::Candidate);
}

TEST_F(KernelPageTest, SaysThatASearchWritesTheProject) {
  open();
  type(u"// "_s);
  session->start({});
  run.enter(services::RunState::Running);
  EXPECT_FALSE(child<QAction>(u"evaluateEdit"_s)->isEnabled());
  press(Qt::Key_Return, Qt::ControlModifier);
  EXPECT_EQ(edits.evaluations, 0);
}

TEST_F(KernelPageTest, OtherParametersAreEvaluatedAsAGenome) {
  open();
  auto* choice = child<QComboBox>(u"parameter_0_lanes"_s);
  EXPECT_EQ(choice->currentText(), u"16"_s);
  EXPECT_EQ(choice->itemText(0), u"8 (standard)"_s);
  auto* button = child<QPushButton>(u"evaluateParameters"_s);
  EXPECT_FALSE(button->isEnabled());
  choice->setCurrentIndex(2);
  EXPECT_TRUE(button->isEnabled());
  child<QPushButton>(u"resetParameters"_s)->click();
  EXPECT_FALSE(button->isEnabled());
  choice->setCurrentIndex(2);
  button->click();
  ASSERT_EQ(edits.evaluations, 1);
  EXPECT_EQ(std::get<services::ParameterEdit>(edits.spec.change).genome.regions[0].parameters.at("lanes"), 32);
  EXPECT_EQ(edits.spec.parent, first());
}

TEST_F(KernelPageTest, AProgramWithoutAGenomeHasNoParametersToChoose) {
  open();
  auto* tabs = child<QTabWidget>(u"kernelTabs"_s);
  EXPECT_TRUE(tabs->isTabVisible(1));
  prepared.genome.reset();
  session->selectCandidate(second());
  EXPECT_FALSE(tabs->isTabVisible(1));
  session->selectCandidate(first());
}

TEST_F(KernelPageTest, OnlyReadsWithoutSomebodyToEvaluate) {
  session = std::make_unique<ProjectSession>(run, record);
  session->openProject(folder / "project");
  page = std::make_unique<KernelPage>(*session);
  page->show();
  session->selectCandidate(first());
  type(u"x"_s);
  EXPECT_EQ(view(u"sourceView"_s).text(), QLatin1StringView(kSource));
  EXPECT_FALSE(child<QAction>(u"evaluateEdit"_s)->isVisible());
}

TEST_F(KernelPageTest, GoesToALineThatAProfileNames) {
  open();
  page->goToSourceLine(3);
  EXPECT_EQ(view(u"sourceView"_s).caretLine(), 2);
}

domain::CompileOutcome compiledTo(const std::string& assembly) {
  domain::CompiledBinary binary;
  binary.assembly = assembly;
  return binary;
}

domain::CompileOutcome failedWith(const std::string& log) {
  return domain::CompileFailed{domain::CompileFailureReason::Error, log};
}

class DraftOnThePageTest : public KernelPageTest {
 protected:
  DraftOnThePageTest() { compiles = &compileService; }
  // Types, and waits until the keys have rested long enough.
  void typeAndRest(const QString& text) {
    const std::size_t before = compileService.drafts.size();
    type(text);
    EXPECT_TRUE(testing::waitFor([this, before] { return compileService.drafts.size() > before; }));
  }
};

TEST_F(DraftOnThePageTest, ShowsTheAssemblyOfWhatIsTyped) {
  open();
  typeAndRest(u"x"_s);
  EXPECT_EQ(compileService.drafts.back().source, std::string("x") + kSource);
  EXPECT_EQ(compileService.drafts.back().parent, first());
  EXPECT_TRUE(state().contains(u"compiling"_s)) << state().toStdString();
  compileService.answer(compiledTo("new_assembly\n"));
  EXPECT_EQ(view(u"assemblyView"_s).text(), u"new_assembly\n"_s);
  EXPECT_TRUE(state().contains(u"compiles"_s)) << state().toStdString();
  EXPECT_EQ(edits.evaluations, 0);
  child<QAction>(u"discardDraft"_s)->trigger();
  EXPECT_TRUE(view(u"assemblyView"_s).text().contains(u"add.s32"_s)) << "that of the record again";
}

TEST_F(DraftOnThePageTest, ShowsErrorsWhereTheyAreAndKeepsTheListing) {
  open();
  typeAndRest(u"x"_s);
  compileService.answer(failedWith("source.cu(2): error: expected a \";\"\n"));
  ASSERT_EQ(view(u"sourceView"_s).marks().diagnostics().size(), 1U);
  EXPECT_EQ(view(u"sourceView"_s).marks().diagnostics()[0].line, 2);
  EXPECT_TRUE(child<QTableView>(u"problemTable"_s)->isVisible());
  EXPECT_TRUE(state().contains(u"1 error"_s)) << state().toStdString();
  EXPECT_TRUE(view(u"assemblyView"_s).text().contains(u"add.s32"_s));
  EXPECT_FALSE(child<QLabel>(u"assemblyViewNote"_s)->text().isEmpty()) << "it says that the listing is older";
}

TEST_F(DraftOnThePageTest, NothingIsEvaluatedThatDoesNotCompile) {
  open();
  type(u"x"_s);
  press(Qt::Key_Return, Qt::ControlModifier);
  ASSERT_EQ(compileService.drafts.size(), 1U) << "without waiting for the keys to rest";
  EXPECT_EQ(edits.evaluations, 0);
  compileService.answer(failedWith("source.cu(2): error: expected a \";\"\n"));
  EXPECT_EQ(edits.evaluations, 0);
  EXPECT_EQ(view(u"sourceView"_s).caretLine(), 1) << "at the error";
}

TEST_F(DraftOnThePageTest, WhatCompilesIsEvaluated) {
  open();
  type(u"x"_s);
  press(Qt::Key_Return, Qt::ControlModifier);
  compileService.answer(compiledTo("new\n"));
  EXPECT_EQ(edits.evaluations, 1);
}

TEST_F(DraftOnThePageTest, WhoTypesOnDoesNotWantTheOldTextEvaluated) {
  open();
  type(u"x"_s);
  press(Qt::Key_Return, Qt::ControlModifier);
  typeAndRest(u"y"_s);
  compileService.answer(compiledTo("new\n"));
  EXPECT_EQ(edits.evaluations, 0);
}

TEST_F(DraftOnThePageTest, WhereNothingCanBeCompiledTheEvaluationIsAsked) {
  open();
  type(u"x"_s);
  press(Qt::Key_Return, Qt::ControlModifier);
  compileService.answer(Error(ErrorKind::Environment, "no compiler"));
  EXPECT_TRUE(state().contains(u"no compiler"_s) || edits.evaluations == 1);
  EXPECT_EQ(edits.evaluations, 1);
}

TEST_F(KernelPageTest, AnEvaluationLeavesTheCaretWhereItIs) {
  QString text;
  for (int line = 0; line < 300; ++line) {
    text += u"int line%1;\n"_s.arg(line);
  }
  prepared.program.source = text.toStdString();
  open();
  KernelView& source = view(u"sourceView"_s);
  source.goToLine(150);
  type(u"x"_s);
  const int top = source.firstVisibleLine();
  press(Qt::Key_Return, Qt::ControlModifier);
  prepared.program.source = source.text().toStdString();
  edits.finish(outcome(record.rows[1]));
  EXPECT_EQ(session->selectedCandidate(), second());
  EXPECT_EQ(source.caretLine(), 150);
  EXPECT_EQ(source.firstVisibleLine(), top);
}

TEST_F(KernelPageTest, MarksTheLinesThatADraftChanged) {
  open();
  KernelView& source = view(u"sourceView"_s);
  EXPECT_TRUE(source.marks().changes().changed.empty());
  source.setFocus();
  press(Qt::Key_Down);
  type(u"x"_s);
  EXPECT_THAT(source.marks().changes().changed, ElementsAre(1));
  child<QAction>(u"discardDraft"_s)->trigger();
  EXPECT_TRUE(source.marks().changes().changed.empty());
}

TEST_F(KernelPageTest, ParametersAreThoseThatAnEditedSourceSays) {
  prepared.program.source = "namespace region_0 {\nconstexpr int kLanes = 24;\n}  // namespace region_0\n";
  open();
  EXPECT_EQ(edits.lastGenome.regions.at(0).parameters.at("lanes"), 24);
}

TEST_F(KernelPageTest, OpensOnTheTabAndTheLineThatWereLeft) {
  open();
  page->goToSourceLine(3);
  child<QTabWidget>(u"kernelTabs"_s)->setCurrentIndex(3);
  const QJsonObject state = page->saveState();
  page.reset();
  session = std::make_unique<ProjectSession>(run, record);
  page = std::make_unique<KernelPage>(*session, KernelServices{&record, &edits, {}, nullptr}, nullptr);
  page->restoreState(state);
  EXPECT_EQ(child<QTabWidget>(u"kernelTabs"_s)->currentIndex(), 3);
  session->openProject(folder / "project");
  session->selectCandidate(second());
  EXPECT_EQ(view(u"sourceView"_s).caretLine(), 0);
  session->selectCandidate(first());
  EXPECT_EQ(view(u"sourceView"_s).caretLine(), 2);
}

TEST_F(KernelPageTest, CtrlHReplacesAndCtrlGGoesToALine) {
  open();
  view(u"sourceView"_s).setFocus();
  press(Qt::Key_G, Qt::ControlModifier);
  auto* line = view(u"sourceView"_s).findChild<QLineEdit*>(u"findText"_s);
  ASSERT_TRUE(line->isVisible());
  QTest::keyClicks(line, u"3"_s);
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_EQ(view(u"sourceView"_s).caretLine(), 2);
  press(Qt::Key_H, Qt::ControlModifier);
  EXPECT_TRUE(line->isVisible());
}

}  // namespace
}  // namespace swage::ui
