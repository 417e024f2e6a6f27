// SPDX-License-Identifier: Apache-2.0
#include "ui/models/export_assistant.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QDir>
#include <QSignalSpy>
#include <QTest>

#include <filesystem>

#include "core/base/files.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/ui/demo_export.h"
#include "ui/models/export_gate_model.h"
#include "ui/models/export_text.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using domain::AssuranceKind;
using domain::AssuranceVerdict;
using domain::CandidateId;
using services::ExportFormat;
using services::ExportGate;
using Kind = ExportGate::Kind;
using State = ExportGate::State;

class ExportAssistantTest : public ::testing::Test {
 protected:
  ExportAssistantTest() {
    testing::fillDemoExport(m_exporter);
    QObject::connect(&m_assistant, &ExportAssistant::failed, &m_assistant,
                     [this](const Error& error) { m_failures.push_back(error.message()); });
  }
  void open(std::int64_t candidate = 212) { m_assistant.open("/project", CandidateId(candidate)); }
  [[nodiscard]] State stateOf(Kind kind) const { return m_assistant.gates().at(static_cast<std::size_t>(kind)).state; }
  [[nodiscard]] QString path(const char* name) const { return QString::fromStdString((m_folder / name).string()); }

  testing::TempDir m_folder;
  testing::FakeExportService m_exporter;
  testing::FakeExportCheckService m_checks;
  ExportAssistant m_assistant{m_exporter, &m_checks};
  std::vector<std::string> m_failures;
};

TEST_F(ExportAssistantTest, KnowsTheCandidateAndItsFilesAndWritesNothing) {
  open();
  EXPECT_EQ(m_exporter.asked, "/project");
  ASSERT_TRUE(m_assistant.facts().has_value());
  EXPECT_EQ(m_assistant.gates().size(), 7U);
  ASSERT_TRUE(m_assistant.files().has_value());
  EXPECT_EQ(m_assistant.target(), QDir(QDir::homePath()).filePath(u"softmax_rows_new.py"_s));
  EXPECT_FALSE(m_assistant.isLoading());
  EXPECT_EQ(m_exporter.writes, 0);
}

TEST_F(ExportAssistantTest, DropsAnswersToWhatIsNoLongerAsked) {
  m_exporter.isSlow = true;
  open(1);
  open(2);
  m_assistant.setFormat(ExportFormat::Project);
  EXPECT_TRUE(m_assistant.isLoading());
  EXPECT_FALSE(m_assistant.canWrite());
  const QSignalSpy shown(&m_assistant, &ExportAssistant::factsChanged);
  m_exporter.answerAll();
  ASSERT_TRUE(QTest::qWaitFor([this] { return !m_assistant.isLoading(); }, 5000));
  EXPECT_EQ(shown.count(), 1);
  EXPECT_EQ(m_assistant.facts()->candidate, CandidateId(2));
  EXPECT_EQ(m_assistant.files()->candidate, CandidateId(2));
  EXPECT_EQ(m_assistant.files()->format, ExportFormat::Project);
}

TEST_F(ExportAssistantTest, AFileThatIsThereIsOnlyReplacedWhenTheUserSaysSo) {
  ASSERT_THAT(writeFileAtomically(m_folder / "mine.py", "precious"), testing::IsOk());
  open();
  m_assistant.setTarget(path("mine.py"));
  EXPECT_TRUE(m_assistant.isTargetOccupied());
  EXPECT_FALSE(m_assistant.canWrite());
  m_assistant.write();
  EXPECT_EQ(m_exporter.writes, 0);
  m_assistant.setReplace(true);
  m_assistant.write();
  EXPECT_EQ(m_exporter.writes, 1);
  EXPECT_TRUE(m_exporter.replaced);
  m_assistant.setTarget(path("other.py"));
  EXPECT_FALSE(m_assistant.mayReplace()) << "another place is another question";
}

TEST_F(ExportAssistantTest, AnEmptyFolderIsNotInTheWayOfAProject) {
  open();
  m_assistant.setFormat(ExportFormat::Project);
  m_assistant.setTarget(path("."));
  EXPECT_FALSE(m_assistant.isTargetOccupied());
  ASSERT_THAT(writeFileAtomically(m_folder / "mine.py", "precious"), testing::IsOk());
  m_assistant.setTarget(path("./"));
  EXPECT_TRUE(m_assistant.isTargetOccupied());
}

TEST_F(ExportAssistantTest, SuggestsTheFolderOfTheLastExport) {
  open();
  m_assistant.setTarget(path("first.py"));
  m_assistant.write();
  EXPECT_FALSE(m_exporter.replaced);
  EXPECT_EQ(m_assistant.written(), path("first.py"));
  EXPECT_FALSE(m_assistant.canWrite()) << "it is written";
  m_assistant.setFormat(ExportFormat::Project);
  EXPECT_EQ(m_assistant.target(), path("softmax_rows_new"));
  EXPECT_TRUE(m_assistant.written().isEmpty());
}

TEST_F(ExportAssistantTest, WhatIsRefusedCannotBeWritten) {
  m_exporter.refusal = Error(ErrorKind::InvalidInput, "candidate 212 cannot be exported", "");
  open();
  EXPECT_FALSE(m_assistant.canWrite());
  ASSERT_TRUE(m_assistant.refusal().has_value());
  EXPECT_EQ(m_assistant.gates().size(), 7U) << "why is still told";
}

TEST_F(ExportAssistantTest, AFailureToWriteIsToldOnceAndCanBeTriedAgain) {
  m_exporter.writeFailure = Error(ErrorKind::Io, "No space left on device", "make room");
  open();
  m_assistant.setTarget(path("new.py"));
  m_assistant.write();
  EXPECT_THAT(m_failures, ::testing::ElementsAre("No space left on device"));
  EXPECT_TRUE(m_assistant.written().isEmpty());
  EXPECT_TRUE(m_assistant.canWrite());
}

TEST_F(ExportAssistantTest, ChecksShowWhereTheyAreAndEndInTheRecord) {
  open();
  m_assistant.verify();
  EXPECT_EQ(m_checks.starts, 1);
  EXPECT_EQ(m_checks.project, "/project");
  EXPECT_FALSE(m_assistant.canWrite()) << "the files say what was checked";
  Q_EMIT m_checks.checkStarted(AssuranceKind::FreshProcess);
  EXPECT_EQ(stateOf(Kind::FreshProcess), State::Running);
  Q_EMIT m_checks.checkEnded({AssuranceKind::FreshProcess, AssuranceVerdict::Passed, "27 us", 1.0});
  EXPECT_EQ(stateOf(Kind::FreshProcess), State::Passed);
  Q_EMIT m_checks.checkStarted(AssuranceKind::Racecheck);
  EXPECT_EQ(stateOf(Kind::Sanitizer), State::Running);
  m_exporter.factRows.gates = testing::demoPassedGates();
  m_checks.finish({});
  EXPECT_FALSE(m_assistant.isChecking());
  EXPECT_EQ(stateOf(Kind::Sanitizer), State::Passed);
  EXPECT_TRUE(m_assistant.canWrite());
}

TEST_F(ExportAssistantTest, ACancelledCheckIsNoFailure) {
  open();
  m_assistant.verify();
  Q_EMIT m_checks.checkStarted(AssuranceKind::FreshProcess);
  m_assistant.cancel();
  EXPECT_EQ(m_checks.cancels, 1);
  m_checks.finish(Error(ErrorKind::Cancelled, "the checks were cancelled"));
  EXPECT_TRUE(m_failures.empty());
  EXPECT_EQ(stateOf(Kind::FreshProcess), State::NotRun) << "as the record has it";
  m_assistant.verify();
  m_checks.finish(Error(ErrorKind::Locked, "another run measures on this GPU", "wait"));
  EXPECT_THAT(m_failures, ::testing::ElementsAre("another run measures on this GPU"));
}

TEST_F(ExportAssistantTest, NobodyVerifiesWhileASearchHasTheDevice) {
  open();
  EXPECT_TRUE(m_assistant.canVerify());
  m_assistant.setBusy(true);
  EXPECT_FALSE(m_assistant.canVerify());
  m_assistant.verify();
  EXPECT_EQ(m_checks.starts, 0);
  EXPECT_TRUE(m_assistant.canWrite()) << "what is recorded can leave meanwhile";
}

TEST_F(ExportAssistantTest, AnotherCandidateEndsTheChecksOfTheFirst) {
  open();
  m_assistant.verify();
  open(7);
  EXPECT_EQ(m_checks.cancels, 1);
  m_checks.finish(Error(ErrorKind::Cancelled, "the checks were cancelled"));
  EXPECT_TRUE(m_assistant.canVerify());
}

TEST(ExportGateModel, KeepsItsRowsWhenAStateChanges) {
  ExportGateModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
  model.updateRows(testing::demoGates());
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  model.updateRows(testing::demoPassedGates());
  EXPECT_EQ(resets.count(), 0);
  EXPECT_EQ(model.rowCount(), 7);
  EXPECT_EQ(model.index(3, 0).data().toString(), u"passed"_s);
}

TEST(ExportGateModel, WhatFailedIsBadAndWhatWasNotRunIsAWarning) {
  ExportGateModel model;
  model.updateRows(testing::demoWrongGates());
  const auto tone = [&](Kind kind) {
    return static_cast<GateTone>(model.index(static_cast<int>(kind), 0).data(kGateToneRole).toInt());
  };
  EXPECT_EQ(tone(Kind::Verified), GateTone::Bad);
  EXPECT_EQ(tone(Kind::HeldOutShapes), GateTone::Bad);
  EXPECT_EQ(tone(Kind::Faster), GateTone::Caution);
}

TEST(ExportText, SaysTheFigureAndWhatItMeans) {
  const std::vector<ExportGate> gates = testing::demoGates();
  const auto found = [&](Kind kind) { return describeGate(gates[static_cast<std::size_t>(kind)]).found; };
  EXPECT_EQ(found(Kind::Verified), u"5 seeds; relative error 1.2e-07 (eager 1.3e-07)"_s);
  EXPECT_EQ(found(Kind::HeldBackSeeds), u"3 seeds; relative error 1.2e-07 (eager 1.3e-07)"_s);
  EXPECT_EQ(found(Kind::Faster),
            u"1.50× (1.46 to 1.54) against the fastest baseline; 2.31× (2.27 to 2.34) against eager; 120 samples; "
            u"fastest baseline: compile, 41.2 us (40.9 to 41.6)"_s);
  EXPECT_TRUE(describeGate(gates.back()).meaning.contains(u"for the searched shape only"_s));
}

TEST(ExportText, TimesOfOldRecordsAreReadable) {
  ExportGate gate;
  gate.kind = Kind::FreshProcess;
  gate.state = State::Failed;
  gate.detail = "a fresh process measured 11949350 ns, not 8120 ns";
  EXPECT_EQ(describeGate(gate).found, u"a fresh process measured 11.9 ms, not 8.12 µs"_s);
}

TEST(ExportText, EveryGateMeansSomethingInEveryState) {
  for (int kind = 0; kind <= static_cast<int>(Kind::HeldOutShapes); ++kind) {
    for (const State state : {State::Passed, State::Failed, State::NotRun, State::NotApplicable}) {
      ExportGate gate;
      gate.kind = static_cast<Kind>(kind);
      gate.state = state;
      const GateText text = describeGate(gate);
      EXPECT_FALSE(text.name.isEmpty() || text.state.isEmpty() || text.meaning.isEmpty()) << kind;
    }
  }
}

}  // namespace
}  // namespace swage::ui
