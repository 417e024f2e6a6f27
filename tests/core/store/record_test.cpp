// SPDX-License-Identifier: Apache-2.0
#include "core/store/record.h"

#include <fstream>

#include "core/base/files.h"
#include "core/domain/json.h"
#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::CandidateId;
using domain::Cell;
using domain::RunId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::TempDir;

class RecordTest : public ::testing::Test {
 protected:
  TempDir m_directory;
  std::filesystem::path m_project = m_directory / "project";
};

TEST_F(RecordTest, KeepsRunsAndTheirTask) {
  RunId id;
  {
    Record record = testing::openForWriting(m_project);
    id = record.createRun(testing::sampleRun()).value();
    ASSERT_THAT(record.setRunStatus(id, RunStatus::Finished, 12.5), IsOk());
  }
  const Record record = Record::open(m_project, Record::Mode::ReadOnly).value();
  const auto runs = record.runs();
  ASSERT_THAT(runs, IsOk());
  ASSERT_EQ(runs->size(), 1U);
  const RunRow& run = runs->front();
  EXPECT_EQ(run.id, id);
  EXPECT_EQ(run.taskId, domain::taskId(testing::sampleTask()));
  EXPECT_EQ(run.taskName, "23_Softmax");
  EXPECT_EQ(run.bundlePath, "/bundle.swage");
  EXPECT_EQ(run.device.uuid, "GPU-1");
  EXPECT_EQ(run.status, RunStatus::Finished);
  EXPECT_EQ(run.seed, ~0ULL);
  EXPECT_EQ(run.timeBudgetSeconds, 60.0);
  EXPECT_EQ(run.maxEvaluations, 500);
  EXPECT_EQ(run.optionsJson, R"({"islands":4})");
  EXPECT_GT(run.startedAtMs, 1'700'000'000'000);
  EXPECT_EQ(run.elapsedSeconds, 12.5);
  EXPECT_FALSE(run.best.isValid());
  EXPECT_EQ(record.run(id).value().taskId, run.taskId);
  const auto task = record.task(run.taskId);
  ASSERT_THAT(task, IsOk());
  EXPECT_EQ(domain::toJson(*task), domain::toJson(testing::sampleTask()));
  EXPECT_EQ(task->id, run.taskId);
}

TEST_F(RecordTest, KeepsACandidateWithEverything) {
  CandidateId id;
  {
    Record record = testing::openForWriting(m_project);
    const RunId run = record.createRun(testing::sampleRun()).value();
    id = testing::addCorrect(record, run, 7, 2, "A2B1C1", 1000.0, 3.5);
  }
  const Record record = Record::open(m_project, Record::Mode::ReadOnly).value();
  const auto candidate = record.candidate(id);
  ASSERT_THAT(candidate, IsOk());
  NewCandidate expected = testing::sampleCandidate(RunId(1), 7, 2);
  expected.program.parts.clear();  // only compilers need them
  EXPECT_EQ(candidate->proposal, 7);
  EXPECT_EQ(candidate->island, 2);
  EXPECT_EQ(candidate->madeBy, domain::OperatorKind::PatternSwap);
  EXPECT_EQ(candidate->parents, expected.parents);
  EXPECT_EQ(candidate->genome, expected.genome);
  EXPECT_EQ(domain::dumpJson(domain::toJson(candidate->program)), domain::dumpJson(domain::toJson(expected.program)));
  EXPECT_EQ(candidate->sourceHash, "source-7");
  EXPECT_EQ(candidate->binaryHash, "binary-7");
  EXPECT_EQ(candidate->assembly, "ld.global binary-7");
  EXPECT_EQ(candidate->compileLog, "warning: \xFF");
  EXPECT_EQ(candidate->compileSeconds, 1.25);
  ASSERT_EQ(candidate->kernels.size(), 1U);
  EXPECT_EQ(candidate->kernels[0].evidence, testing::sampleFacts().evidence);
  EXPECT_EQ(candidate->cell->name(), "A2B1C1");
  EXPECT_EQ(domain::toJson(*candidate->evaluation), domain::toJson(domain::Evaluation(testing::correctIn(1000.0))));
  EXPECT_EQ(candidate->elapsedSeconds, 3.5);
  EXPECT_GT(candidate->createdAtMs, 1'700'000'000'000);
  EXPECT_EQ(record.binary("binary-7").value(), testing::sampleBinary("binary-7").bytes);
}

TEST_F(RecordTest, KeepsWhichLanguageACandidateIsInAndWhetherItHasAGenome) {
  Record record = testing::openForWriting(m_project);
  NewCandidate candidate = testing::sampleCandidate(record.createRun(testing::sampleRun()).value());
  for (const domain::LanguageFacts& facts : domain::languages()) {
    candidate.program.language = facts.language;
    candidate.genome = facts.language == domain::Language::Cpp ? std::optional(testing::sampleGenome()) : std::nullopt;
    const auto kept = record.candidate(record.addCandidate(candidate).value());
    ASSERT_THAT(kept, IsOk());
    EXPECT_EQ(kept->program.language, facts.language);
    EXPECT_EQ(kept->genome, candidate.genome);
  }
}

TEST_F(RecordTest, KeepsEveryKindOfEvaluation) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  for (const domain::Evaluation& evaluation : testing::sampleEvaluations()) {
    const CandidateId id = record.addCandidate(testing::sampleCandidate(run)).value();
    ASSERT_THAT(record.setEvaluation(id, evaluation, 1.0), IsOk());
    EXPECT_EQ(domain::dumpJson(domain::toJson(*record.candidate(id)->evaluation)),
              domain::dumpJson(domain::toJson(evaluation)));
    const auto lines = record.candidates({.run = run, .descending = true, .limit = 1}).value();
    EXPECT_EQ(lines.at(0).status, domain::statusOf(evaluation));
    EXPECT_EQ(lines.at(0).summary, domain::summary(evaluation));
  }
}

TEST_F(RecordTest, ACandidateIsPendingUntilItIsEvaluated) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  const CandidateId id = record.addCandidate(testing::sampleCandidate(run)).value();
  EXPECT_EQ(record.candidates({.run = run}).value().at(0).status, domain::CandidateStatus::Pending);
  EXPECT_EQ(record.candidate(id)->evaluation, std::nullopt);
  EXPECT_EQ(record.candidate(id)->cell, std::nullopt);
  EXPECT_EQ(record.run(run)->evaluations, 0);
}

TEST_F(RecordTest, APlanOfAtenCallsHasACellWithoutABinary) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  NewCandidate aten = testing::sampleCandidate(run, -1);
  aten.program.source.clear();
  const CandidateId id = record.addCandidate(aten).value();
  ASSERT_THAT(record.setCompiled(id, {}, *Cell::parse("A0B0C1")), IsOk());
  const CandidateRecord candidate = record.candidate(id).value();
  EXPECT_EQ(candidate.cell->name(), "A0B0C1");
  EXPECT_EQ(candidate.binaryHash, "");
  EXPECT_EQ(candidate.program.source, "");
}

TEST_F(RecordTest, TheBestCandidateAndItsCountersFollowEveryEvaluation) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  testing::addCorrect(record, run, 0, 0, "A0B0C1", 900.0, 1.0);
  const CandidateId best = testing::addCorrect(record, run, 1, 0, "A1B0C1", 500.0, 2.0);
  testing::addCorrect(record, run, 2, 1, "A1B0C1", 700.0, 3.0);
  const CandidateId failed = record.addCandidate(testing::sampleCandidate(run, 3)).value();
  ASSERT_THAT(record.setEvaluation(failed, domain::Crashed{11, ""}, 4.0), IsOk());
  const RunRow row = record.run(run).value();
  EXPECT_EQ(row.evaluations, 4);
  EXPECT_EQ(row.correct, 3);
  EXPECT_EQ(row.best, best);
  EXPECT_EQ(row.bestTimeNs, 500.0);
  EXPECT_EQ(row.elapsedSeconds, 4.0);
}

TEST_F(RecordTest, TheWinnerIsTheBestUntilTheRunGoesOn) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  const CandidateId lucky = testing::addCorrect(record, run, 0, 0, "A0B0C1", 400.0, 1.0);
  const CandidateId winner = testing::addCorrect(record, run, 1, 0, "A1B0C1", 500.0, 2.0);
  ASSERT_THAT(record.setWinner(run, winner), IsOk());
  ASSERT_THAT(record.setRunStatus(run, RunStatus::Finished, 3.0), IsOk());
  EXPECT_EQ(record.run(run)->best, winner);
  EXPECT_EQ(record.run(run)->bestTimeNs, 500.0);
  ASSERT_THAT(record.setRunStatus(run, RunStatus::Running, 3.0), IsOk());
  EXPECT_EQ(record.run(run)->best, lucky);
  EXPECT_EQ(record.run(run)->bestTimeNs, 400.0);
  EXPECT_THAT(record.setWinner(RunId(99), winner), IsError(ErrorKind::NotFound, HasSubstr("run 99")));
}

TEST_F(RecordTest, AScreenedOutCandidateIsCorrectButNeverBest) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  const CandidateId id = record.addCandidate(testing::sampleCandidate(run)).value();
  domain::Correct screened = testing::correctIn(10.0);
  screened.timing.screenedOut = true;
  ASSERT_THAT(record.setEvaluation(id, screened, 1.0), IsOk());
  EXPECT_EQ(record.run(run)->correct, 1);
  EXPECT_FALSE(record.run(run)->best.isValid());
  EXPECT_EQ(record.candidates({.run = run}).value().at(0).timeNs, 10.0);
}

TEST_F(RecordTest, TheBaselineIsTheFastestThatWorked) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  EXPECT_EQ(record.run(run)->baselineNs, 0.0);
  const auto add = [&](const char* mode, double medianNs, const char* failure) {
    domain::Baseline baseline = testing::sampleBaseline();
    baseline.eagerSpeedup = {};
    baseline.mode = mode;
    baseline.timing = testing::sampleTiming(medianNs);
    baseline.failure = failure;
    ASSERT_THAT(record.addBaseline(run, baseline), IsOk());
  };
  add("eager", 2000.0, "");
  add("compile", 1500.0, "");
  add("max-autotune", 1.0, "it crashed");
  EXPECT_EQ(record.run(run)->baselineMode, "compile");
  EXPECT_EQ(record.run(run)->baselineNs, 1500.0);
  add("compile", 3000.0, "");
  EXPECT_EQ(record.run(run)->baselineMode, "eager") << "a mode measured again replaces its first measurement";
  const auto baselines = record.baselines(run).value();
  ASSERT_EQ(baselines.size(), 3U);
  EXPECT_EQ(baselines[0].mode, "eager");
  EXPECT_EQ(baselines[1].timing.medianNs, 3000.0);
  EXPECT_EQ(baselines[2].failure, "it crashed");
  testing::addCorrect(record, run, 0, 0, "A0B0C1", 500.0, 1.0);
  EXPECT_EQ(record.candidates({.run = run}).value().at(0).speedup.value, 4.0);
}

TEST_F(RecordTest, ASpeedupGoesByEagerMeasuredInTurnsWithBoth) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  domain::Baseline eager = testing::sampleBaseline();
  eager.mode = "eager";
  eager.eagerSpeedup = {};
  ASSERT_THAT(record.addBaseline(run, eager), IsOk());
  testing::addCorrect(record, run, 0, 0, "A0B0C1", 500.0, 1.0);
  EXPECT_EQ(record.run(run)->eagerSpeedup, domain::Speedup::exactly(1.0));
  EXPECT_DOUBLE_EQ(record.run(run)->bestSpeedup.value, 4.0);
  domain::Baseline compile = testing::sampleBaseline();
  compile.timing = testing::sampleTiming(9000.0);  // at a slow moment, when eager took 18000
  compile.eagerSpeedup = {0.5, 0.4, 0.6};
  ASSERT_THAT(record.addBaseline(run, compile), IsOk());
  EXPECT_EQ(record.run(run)->baselineMode, "compile");
  const domain::Speedup best = record.run(run)->bestSpeedup;
  EXPECT_DOUBLE_EQ(best.value, 2.0);
  EXPECT_DOUBLE_EQ(best.low, 1900.0 / 500.0 * 0.4);
  EXPECT_DOUBLE_EQ(best.high, 2100.0 / 500.0 * 0.6);
}

TEST_F(RecordTest, WhatAnEndedRunDidNotReachIsNotPending) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  const domain::CandidateId id = record.addCandidate(testing::sampleCandidate(run)).value();
  const auto status = [&] { return record.candidates({.run = run}).value().at(0).status; };
  ASSERT_THAT(record.setRunStatus(run, RunStatus::Paused, 1.0), IsOk());
  EXPECT_EQ(status(), domain::CandidateStatus::Pending);
  ASSERT_THAT(record.setRunStatus(run, RunStatus::Finished, 2.0), IsOk());
  EXPECT_EQ(status(), domain::CandidateStatus::NotEvaluated);
  EXPECT_EQ(record.run(run)->evaluations, 0);
  ASSERT_THAT(record.setRunStatus(run, RunStatus::Running, 2.0), IsOk());
  EXPECT_EQ(status(), domain::CandidateStatus::Pending) << "a run that goes on takes it up";
  ASSERT_THAT(record.setRunStatus(run, RunStatus::Interrupted, 3.0), IsOk());
  ASSERT_THAT(record.setEvaluation(id, testing::correctIn(10.0), 3.0), IsOk());
  EXPECT_EQ(status(), domain::CandidateStatus::Correct);
  EXPECT_EQ(record.run(run)->evaluations, 1);
}

TEST_F(RecordTest, ABaselineThatIsLessExactThanEagerIsNoCompetition) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  const auto add = [&](const char* mode, double medianNs, domain::AccuracyClass accuracy) {
    domain::Baseline baseline = testing::sampleBaseline();
    baseline.eagerSpeedup = {};
    baseline.mode = mode;
    baseline.timing = testing::sampleTiming(medianNs);
    baseline.failure.clear();
    baseline.accuracy = accuracy;
    ASSERT_THAT(record.addBaseline(run, baseline), IsOk());
  };
  add("compile", 1000.0, domain::AccuracyClass::Tf32);
  EXPECT_EQ(record.run(run)->baselineMode, "compile") << "of eager nothing is known yet";
  add("eager", 2000.0, domain::AccuracyClass::Fp32);
  EXPECT_EQ(record.run(run)->baselineMode, "eager");
  add("eager", 2000.0, domain::AccuracyClass::Tf32);
  EXPECT_EQ(record.run(run)->baselineMode, "compile");
  add("max-autotune", 900.0, domain::AccuracyClass::Fp32);
  EXPECT_EQ(record.run(run)->baselineMode, "max-autotune") << "more exact and faster";
}

TEST_F(RecordTest, HistoryIsInTheOrderOfProposals) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  const RunId other = record.createRun(testing::sampleRun()).value();
  for (const std::int64_t proposal : {3, 1, 2}) {
    testing::addCorrect(record, run, proposal, 0, "A0B0C1", 100.0, 1.0);
  }
  testing::addCorrect(record, other, 0, 0, "A0B0C1", 100.0, 1.0);
  const auto history = record.history(run).value();
  ASSERT_EQ(history.size(), 3U);
  for (std::size_t i = 0; i < history.size(); ++i) {
    EXPECT_EQ(history[i].proposal, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(history[i].program.source, testing::sampleCandidate(run, history[i].proposal).program.source);
    EXPECT_EQ(history[i].program.plan.steps.size(), 3U);
    EXPECT_EQ(history[i].assembly, "");
    EXPECT_TRUE(history[i].evaluation.has_value());
  }
}

TEST_F(RecordTest, EventsAreKeptInOrder) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  ASSERT_THAT(record.addEvent(run, domain::EventKind::SelfTest, "{}"), IsOk());
  ASSERT_THAT(record.addEvent(run, domain::EventKind::WorkerReplaced, R"({"signal":9})"), IsOk());
  const auto events = record.events(run).value();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, domain::EventKind::SelfTest);
  EXPECT_EQ(events[1].json, R"({"signal":9})");
}

TEST_F(RecordTest, SaysWhatItDoesNotHave) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  const RunId noRun(99);
  const CandidateId noCandidate(99);
  EXPECT_THAT(record.run(noRun), IsError(ErrorKind::NotFound, "the record has no run 99"));
  EXPECT_THAT(record.candidate(noCandidate), IsError(ErrorKind::NotFound, "the record has no candidate 99"));
  EXPECT_THAT(record.task("x"), IsError(ErrorKind::NotFound, "the record has no task x"));
  EXPECT_THAT(record.binary("y"), IsError(ErrorKind::NotFound, "the record has no binary y"));
  EXPECT_THAT(record.addCandidate(testing::sampleCandidate(noRun)), IsError(ErrorKind::NotFound, HasSubstr("run 99")));
  EXPECT_THAT(record.addBaseline(noRun, {}), IsError(ErrorKind::NotFound, HasSubstr("run 99")));
  EXPECT_THAT(record.addEvent(noRun, domain::EventKind::SelfTest, "{}"),
              IsError(ErrorKind::NotFound, HasSubstr("run 99")));
  EXPECT_THAT(record.setRunStatus(noRun, RunStatus::Paused, 0), IsError(ErrorKind::NotFound, HasSubstr("run 99")));
  EXPECT_THAT(record.setCompiled(noCandidate, testing::sampleBinary("b"), {}),
              IsError(ErrorKind::NotFound, HasSubstr("candidate 99")));
  EXPECT_THAT(record.setEvaluation(noCandidate, domain::Unstable{}, 0),
              IsError(ErrorKind::NotFound, HasSubstr("candidate 99")));
  EXPECT_THAT(record.binary("b"), IsError(ErrorKind::NotFound, HasSubstr("binary b"))) << "it was rolled back";
  EXPECT_EQ(record.candidateCount({.run = run}).value(), 0);
}

TEST_F(RecordTest, KeepsLargeBinariesInFilesAndEqualContentOnce) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  Random random(1);
  std::string bytes;
  while (bytes.size() < (std::size_t{3} << 20U)) {
    bytes += static_cast<char>(random.next() & 0xFFU);
  }
  for (const char* hash : {"first", "second"}) {
    const CandidateId id = record.addCandidate(testing::sampleCandidate(run)).value();
    domain::CompiledBinary binary = testing::sampleBinary(hash);
    binary.bytes = bytes;
    ASSERT_THAT(record.setCompiled(id, binary, {}), IsOk());
    EXPECT_EQ(record.binary(hash).value(), bytes);
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(m_project / "artifacts")) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].extension(), ".zst");
  EXPECT_EQ(files[0].parent_path().filename().string(), files[0].stem().string().substr(0, 2));

  std::filesystem::resize_file(files[0], 1000);
  EXPECT_THAT(record.binary("first"), IsError(ErrorKind::Storage, HasSubstr("is damaged")));
  std::filesystem::remove(files[0]);
  EXPECT_THAT(record.binary("first"), IsError(ErrorKind::Storage, HasSubstr(files[0].filename().string())));
}

TEST_F(RecordTest, WritesIgnoreRulesOnceAndKeepsTheUsersOwn) {
  static_cast<void>(testing::openForWriting(m_project));
  EXPECT_THAT(readTextFile(m_project / ".gitignore").value(), HasSubstr("/runs.sqlite*"));
  ASSERT_THAT(writeFileAtomically(m_project / ".gitignore", "mine"), IsOk());
  static_cast<void>(testing::openForWriting(m_project));
  EXPECT_EQ(readTextFile(m_project / ".gitignore").value(), "mine");
}

TEST_F(RecordTest, ReadersCannotWrite) {
  RunId run;
  {
    Record record = testing::openForWriting(m_project);
    run = record.createRun(testing::sampleRun()).value();
  }
  Record reader = Record::open(m_project, Record::Mode::ReadOnly).value();
  EXPECT_THAT(reader.createRun(testing::sampleRun()), IsError(ErrorKind::Storage, HasSubstr("record a new run")));
  EXPECT_THAT(reader.setRunStatus(run, RunStatus::Finished, 1.0), IsError(ErrorKind::Storage, ::testing::_));
  EXPECT_EQ(reader.runs().value().size(), 1U);
}

TEST_F(RecordTest, AReaderSeesWhatTheWriterCommitsWithoutReopening) {
  Record writer = testing::openForWriting(m_project);
  const Record reader = Record::open(m_project, Record::Mode::ReadOnly).value();
  EXPECT_EQ(reader.runs().value().size(), 0U);
  const RunId run = writer.createRun(testing::sampleRun()).value();
  EXPECT_EQ(reader.runs().value().size(), 1U);
  testing::addCorrect(writer, run, 0, 0, "A0B0C1", 100.0, 1.0);
  EXPECT_EQ(reader.run(run)->bestTimeNs, 100.0);
}

}  // namespace
}  // namespace swage::store
