// SPDX-License-Identifier: Apache-2.0
#include "core/run/edit_evaluation.h"

#include <algorithm>

#include "core/domain/json.h"
#include "core/trust/held_out_shapes.h"
#include "core/trust/trust.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::waitFor;

class EditEvaluationTest : public testing::SessionFixture {
 protected:
  EditEvaluationTest() {
    m_spaceSize = 14;  // so that 13, which is wrong, is tried
    m_spec.maxEvaluations = 60;
  }

  template <class Kind>
  [[nodiscard]] store::CandidateRecord candidateThatIs() const {
    for (const store::CandidateRecord& candidate : history()) {
      if (candidate.program.plan.hasKernels() && candidate.evaluation &&
          std::holds_alternative<Kind>(*candidate.evaluation)) {
        return candidate;
      }
    }
    ADD_FAILURE() << "the run has no such candidate";
    return {};
  }
  [[nodiscard]] services::EditSpec sourceEdit(const store::CandidateRecord& of, std::string source) const {
    return {.project = m_spec.project, .parent = of.id, .change = services::SourceEdit{std::move(source)}};
  }
  Result<services::EditOutcome> evaluate(const services::EditSpec& spec, bool cancel = false) {
    EditEvaluation evaluation(m_parts, spec);
    std::optional<Result<services::EditOutcome>> result;
    QObject::connect(&evaluation, &EditEvaluation::finished, &evaluation,
                     [&result](const Result<services::EditOutcome>& outcome) {
                       EXPECT_FALSE(result.has_value());
                       result = outcome;
                     });
    evaluation.start();
    if (cancel) {
      QObject::connect(&evaluation, &EditEvaluation::stageChanged, &evaluation, &EditEvaluation::cancel);
    }
    EXPECT_TRUE(waitFor([&] { return result.has_value(); }));
    return result.value_or(Error(ErrorKind::Internal, "no result"));
  }
};

TEST_F(EditEvaluationTest, ARightEditIsRecordedWithItsParent) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  const auto outcome = evaluate(sourceEdit(parent, parent.program.source + " // by hand"));
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(outcome->detail.row.status, domain::CandidateStatus::Correct);
  const auto stored = record().candidate(outcome->detail.row.id);
  ASSERT_THAT(stored, IsOk());
  EXPECT_EQ(stored->run, parent.run);
  EXPECT_EQ(stored->madeBy, domain::OperatorKind::Human);
  EXPECT_THAT(stored->parents, ElementsAre(parent.id));
  EXPECT_EQ(stored->program.source, parent.program.source + " // by hand");
  EXPECT_EQ(stored->program.plan, parent.program.plan);
  EXPECT_EQ(stored->island, parent.island);
  EXPECT_TRUE(stored->evaluation.has_value());
  EXPECT_EQ(onlyRun().status, store::RunStatus::Finished);
}

TEST_F(EditEvaluationTest, AProgramOfSomebodyElseIsRecordedUnderTheirName) {
  run();
  const store::CandidateRecord first = candidateThatIs<domain::Correct>();
  services::ProgramEdit edit{.program = first.program,
                             .madeBy = *domain::ProposerName::parse("mcp/tester"),
                             .isVariant = false,
                             .note = "one pass"};
  edit.program.source += " // by an agent";
  const auto submit = [&] { return evaluate({.project = m_spec.project, .parent = first.id, .change = edit}); };
  const auto outcome = submit();
  ASSERT_THAT(outcome, IsOk());
  const auto stored = record().candidate(outcome->detail.row.id);
  ASSERT_THAT(stored, IsOk());
  EXPECT_EQ(stored->madeBy.text(), "mcp/tester");
  EXPECT_THAT(stored->parents, ::testing::IsEmpty());
  EXPECT_FALSE(stored->genome.has_value());
  EXPECT_EQ(outcome->detail.row.status, domain::CandidateStatus::Correct);
  const auto events = record().events(first.run);
  ASSERT_THAT(events, IsOk());
  EXPECT_TRUE(std::any_of(events->begin(), events->end(), [](const domain::RunEvent& event) {
    return event.kind == domain::EventKind::Offer && event.json.find("one pass") != std::string::npos;
  }));
  edit.isVariant = true;
  edit.program.source += " // again";
  const auto variant = submit();
  ASSERT_THAT(variant, IsOk());
  EXPECT_THAT(variant->detail.row.parents, ElementsAre(first.id));
}

TEST_F(EditEvaluationTest, AWrongEditEntersNoCell) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Wrong>();
  const auto before = record().cells(parent.run, std::nullopt);
  const auto outcome = evaluate(sourceEdit(parent, parent.program.source + " // still wrong"));
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(outcome->detail.row.status, domain::CandidateStatus::Wrong);
  EXPECT_FALSE(outcome->isElite);
  const auto after = record().cells(parent.run, std::nullopt);
  ASSERT_THAT(after, IsOk());
  for (const domain::CellSummary& line : *after) {
    EXPECT_NE(line.best, outcome->detail.row.id);
  }
  ASSERT_EQ(before->size(), after->size());
}

TEST_F(EditEvaluationTest, AnEditThatDoesNotCompileIsRecordedWithWhatTheCompilerSaid) {
  run();
  m_parts.programs.compilerCommand = testing::fakeCompiler("compile_error");
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  const auto outcome = evaluate(sourceEdit(parent, "nonsense"));
  ASSERT_THAT(outcome, IsOk());
  ASSERT_TRUE(outcome->detail.evaluation.has_value());
  const auto* failure = std::get_if<domain::CompileFailed>(&*outcome->detail.evaluation);
  ASSERT_NE(failure, nullptr);
  EXPECT_FALSE(failure->log.empty());
}

TEST_F(EditEvaluationTest, WhatDoesNotCompileEndsWithoutWaitingForItsWorker) {
  run();
  constexpr const char* kMuchLaterThanTheTestEnds = "1000000";
  m_parts.programs.compilerCommand = testing::fakeCompiler("compile_error");
  m_parts.programs.workerCommand = [](domain::DeviceKind) {
    return testing::fakeWorker("ok", {"--start-ms", kMuchLaterThanTheTestEnds});
  };
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  const auto outcome = evaluate(sourceEdit(parent, "nonsense"));
  ASSERT_THAT(outcome, IsOk());
  const auto stored = record().candidate(outcome->detail.row.id);
  ASSERT_THAT(stored, IsOk());
  ASSERT_TRUE(stored->evaluation.has_value());
  EXPECT_TRUE(std::holds_alternative<domain::CompileFailed>(*stored->evaluation));
  EXPECT_THAT(stored->parents, ElementsAre(parent.id));
}

TEST_F(EditEvaluationTest, ASourceIsCompiledOnce) {
  run();
  m_parts.programs.compilerCommand = testing::fakeCompiler("hang", {"--from", "2"});
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  const auto outcome = evaluate(sourceEdit(parent, parent.program.source + " // by hand"));
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(outcome->detail.row.status, domain::CandidateStatus::Correct);
}

TEST_F(EditEvaluationTest, WithoutASandboxItsRunSaysSo) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  ASSERT_THAT(evaluate(sourceEdit(parent, "other")), IsOk());
  EXPECT_EQ(*trust::sandboxOf(record(), parent.run), "");
  m_parts.programs.sandbox = "none";
  ASSERT_THAT(evaluate(sourceEdit(parent, "another")), IsOk());
  EXPECT_EQ(*trust::sandboxOf(record(), parent.run), "none");
}

TEST_F(EditEvaluationTest, AnUnchangedSourceIsADuplicateOfItsParent) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  const auto outcome = evaluate(sourceEdit(parent, parent.program.source));
  ASSERT_THAT(outcome, IsOk());
  const auto* duplicate = std::get_if<domain::Duplicate>(&*outcome->detail.evaluation);
  ASSERT_NE(duplicate, nullptr);
  EXPECT_EQ(duplicate->of, parent.id);
}

TEST_F(EditEvaluationTest, AProgramWithoutAGenomeCanBeEditedAsASource) {
  run();
  const store::CandidateRecord known = candidateThatIs<domain::Correct>();
  domain::CandidateId imported;
  {
    store::Record record = store::Record::open(m_spec.project, store::Record::Mode::ReadWrite).value();
    imported = record
                   .addCandidate({.run = known.run,
                                  .island = 0,
                                  .madeBy = domain::OperatorKind::Coder,
                                  .parents = {},
                                  .genome = std::nullopt,
                                  .program = known.program,
                                  .sourceHash = "imported",
                                  .proposal = -1})
                   .value();
    ASSERT_THAT(record.setEvaluation(imported, *known.evaluation, 1.0), IsOk());
  }
  const auto parent = record().candidate(imported);
  ASSERT_THAT(parent, IsOk());
  const auto outcome = evaluate(sourceEdit(*parent, parent->program.source + " // by hand"));
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(outcome->detail.row.status, domain::CandidateStatus::Correct);
  EXPECT_EQ(outcome->detail.genome, std::nullopt);
  EXPECT_EQ(outcome->detail.program.language, known.program.language);
}

TEST_F(EditEvaluationTest, ParametersWriteTheSourceAnew) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  domain::Genome genome = *parent.genome;
  genome.regions[0].parameters["n"] = 200;
  const auto outcome =
      evaluate({.project = m_spec.project, .parent = parent.id, .change = services::ParameterEdit{genome}});
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(outcome->detail.program.source, "kernel 200");
  EXPECT_EQ(outcome->detail.genome, genome);
  EXPECT_EQ(outcome->detail.row.timeNs, 200e3) << "timed in full, however slow";
  EXPECT_FALSE(outcome->isElite);
}

TEST_F(EditEvaluationTest, ParametersThatDoNotFitAreRefusedAndNotRecorded) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  const std::size_t before = history().size();
  domain::Genome genome = *parent.genome;
  genome.regions[0].parameters["n"] = 7;
  EXPECT_THAT(evaluate({.project = m_spec.project, .parent = parent.id, .change = services::ParameterEdit{genome}}),
              IsError(ErrorKind::InvalidInput, HasSubstr("7 does not fit")));
  EXPECT_EQ(history().size(), before);
}

TEST_F(EditEvaluationTest, TheFastestBecomesTheWinnerOfAFinishedRun) {
  m_spec.maxEvaluations = 3;
  m_spaceSize = 60;
  run();
  const domain::CandidateId winner = onlyRun().best;
  const auto timesOf = [this](const domain::CandidateId id) { return record().candidate(id)->evaluation; };
  const std::string identity = domain::dumpJson(domain::toJson(*timesOf(history()[0].id)));
  const auto improvements = record().improvements(onlyRun().id).value();
  ASSERT_GT(onlyRun().bestTimeNs, 11e3) << "of this seed";
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  domain::Genome genome = *parent.genome;
  genome.regions[0].parameters["n"] = 11;  // eager takes 100, so nobody doubts it
  const auto outcome =
      evaluate({.project = m_spec.project, .parent = parent.id, .change = services::ParameterEdit{genome}});
  ASSERT_THAT(outcome, IsOk());
  EXPECT_TRUE(outcome->isElite);
  EXPECT_TRUE(outcome->isWinner);
  EXPECT_EQ(onlyRun().best, outcome->detail.row.id);
  EXPECT_NE(onlyRun().best, winner);
  EXPECT_EQ(domain::dumpJson(domain::toJson(*timesOf(history()[0].id))), identity) << "PyTorch is not timed again";
  const auto after = record().improvements(onlyRun().id).value();
  ASSERT_EQ(after.size(), improvements.size() + 1);
  for (std::size_t i = 0; i < improvements.size(); ++i) {
    EXPECT_EQ(after[i].candidate, improvements[i].candidate) << "the chart goes on as it was";
    EXPECT_EQ(after[i].speedup, improvements[i].speedup);
  }
}

TEST_F(EditEvaluationTest, LaunchSizesMustBeOneForEachKernel) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  services::SourceEdit edit{"other", {{.grid = {2, 1, 1}, .block = {64, 1, 1}}}};
  const auto outcome = evaluate({.project = m_spec.project, .parent = parent.id, .change = edit});
  ASSERT_THAT(outcome, IsOk());
  EXPECT_EQ(std::get<domain::KernelStep>(outcome->detail.program.plan.steps[0]).block.x, 64U);
  edit.launches.emplace_back();
  EXPECT_THAT(evaluate({.project = m_spec.project, .parent = parent.id, .change = edit}),
              IsError(ErrorKind::InvalidInput, HasSubstr("launches 1 kernels, but there are sizes for 2")));
}

TEST_F(EditEvaluationTest, IsRefusedWhileAnotherWritesTheProject) {
  run();
  const auto writer = store::Record::open(m_spec.project, store::Record::Mode::ReadWrite);
  ASSERT_THAT(writer, IsOk());
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  const auto outcome = evaluate(sourceEdit(parent, "other"));
  EXPECT_THAT(outcome, IsError(ErrorKind::Locked, HasSubstr("project")));
  EXPECT_THAT(outcome.error().hint(), HasSubstr("stop the search"));
}

TEST_F(EditEvaluationTest, IsRefusedOnAnotherDevice) {
  run();
  m_parts.programs.workerCommand = [](domain::DeviceKind) {
    return testing::fakeWorker("ok", {"--gpu", "--uuid", "GPU-x", "--model", "Another"});
  };
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  const std::size_t before = history().size();
  EXPECT_THAT(evaluate(sourceEdit(parent, "other")), IsError(ErrorKind::Environment, HasSubstr("and this is Another")));
  EXPECT_EQ(history().size(), before);
}

TEST_F(EditEvaluationTest, ACandidateWithoutSourceCannotBeEdited) {
  run();
  EXPECT_THAT(evaluate(sourceEdit(history().front(), "other")),
              IsError(ErrorKind::InvalidInput, HasSubstr("has no source")));
}

TEST_F(EditEvaluationTest, CancellingLeavesAnOpenableRecord) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  EXPECT_THAT(evaluate(sourceEdit(parent, "other"), true), IsError(ErrorKind::Cancelled, HasSubstr("cancelled")));
  EXPECT_THAT(store::Record::open(m_spec.project, store::Record::Mode::ReadWrite), IsOk());
}

TEST_F(EditEvaluationTest, ASourceEditedByHandIsNotJudgedByItsGenomeAtOtherSizes) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  const auto edit = evaluate(sourceEdit(parent, "other"));
  ASSERT_THAT(edit, IsOk());
  trust::HeldOutShapes shapes(m_parts.programs, m_spec.project, edit->detail.row.id);
  std::optional<Result<domain::Assurance>> result;
  QObject::connect(&shapes, &trust::HeldOutShapes::finished, &shapes,
                   [&result](const Result<domain::Assurance>& assurance) { result = assurance; });
  shapes.start();
  ASSERT_TRUE(waitFor([&] { return result.has_value(); }));
  ASSERT_THAT(*result, IsOk());
  EXPECT_EQ((*result)->verdict, domain::AssuranceVerdict::Unavailable);
  EXPECT_THAT((*result)->detail, HasSubstr("edited by hand"));
}

TEST_F(EditEvaluationTest, ARunThatGoesOnTakesTheEditIn) {
  run();
  const store::CandidateRecord parent = candidateThatIs<domain::Correct>();
  ASSERT_THAT(evaluate(sourceEdit(parent, "other")), IsOk());
  m_spec.resume = parent.run;
  m_spec.maxEvaluations = 70;
  EXPECT_EQ(run().state, services::RunState::Finished);
}

}  // namespace
}  // namespace swage::run
