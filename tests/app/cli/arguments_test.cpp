// SPDX-License-Identifier: Apache-2.0
#include "app/cli/arguments.h"

#include <gmock/gmock.h>

#include "core/services/drawn_seed.h"
#include "tests/support/result_matchers.h"

namespace swage::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using ::testing::Pair;

Arguments parsed(const std::vector<std::string>& arguments) {
  auto result = parseArguments(arguments);
  EXPECT_THAT(result, testing::IsOk());
  return std::get<Arguments>(*result);
}

template <class T>
T command(const std::vector<std::string>& arguments) {
  return std::get<T>(parsed(arguments).command);
}

TEST(Arguments, OfTheSelfTest) {
  EXPECT_FALSE(command<DoctorArguments>({"doctor"}).selfTest);
  const auto doctor = command<DoctorArguments>({"doctor", "--self-test", "--target", "cpu"});
  EXPECT_TRUE(doctor.selfTest);
  EXPECT_EQ(doctor.target, "cpu");
  EXPECT_THAT(parseArguments({"doctor", "--target", "cpu"}), IsError(ErrorKind::Usage, HasSubstr("--self-test")));
  EXPECT_TRUE(command<OptimizeArguments>({"optimize", "t"}).selfTest);
  EXPECT_FALSE(command<OptimizeArguments>({"optimize", "t", "--no-self-test"}).selfTest);
  EXPECT_THAT(command<OptimizeArguments>({"optimize", "--devices", "0,2", "t"}).devices, ElementsAre("0", "2"));
  EXPECT_THAT(command<ResumeArguments>({"resume", "--devices", "1,GPU-01ab-cd"}).devices,
              ElementsAre("1", "GPU-01ab-cd"));
  EXPECT_FALSE(command<ResumeArguments>({"resume", "--no-self-test"}).selfTest);
  for (const char* devices : {"first", "GPU-", "GPU-xyz", "0,", "5000"}) {
    EXPECT_THAT(parseArguments({"optimize", "t", "--devices", devices}), IsError(ErrorKind::Usage, HasSubstr(devices)));
  }
}

TEST(Arguments, OfProjectsAndTheirRecords) {
  EXPECT_EQ(command<InitArguments>({"init"}).folder, "");
  EXPECT_EQ(command<InitArguments>({"init", "runs/softmax"}).folder, "runs/softmax");
  EXPECT_EQ(command<DbArguments>({"db", "check"}).action, DbArguments::Action::Check);
  EXPECT_EQ(parsed({"db", "vacuum", "--project", "p"}).common.project, "p");
  const auto backup = command<DbArguments>({"db", "backup", "copy.sqlite"});
  EXPECT_EQ(backup.action, DbArguments::Action::Backup);
  EXPECT_EQ(backup.file, "copy.sqlite");
  EXPECT_THAT(parseArguments({"db", "backup"}), IsError(ErrorKind::Usage, HasSubstr("file is required")));
  EXPECT_THAT(parseArguments({"db"}), IsError(ErrorKind::Usage, HasSubstr("subcommand")));
}

TEST(Arguments, OfKeysNeverHaveAKey) {
  EXPECT_EQ(command<KeysArguments>({"keys", "list"}).action, KeysArguments::Action::List);
  const auto set = command<KeysArguments>({"keys", "set", "cloud", "--file", "cloud.key"});
  EXPECT_EQ(set.action, KeysArguments::Action::Set);
  EXPECT_EQ(set.name, "cloud");
  EXPECT_EQ(set.file, "cloud.key");
  EXPECT_FALSE(set.inKeychain);
  EXPECT_TRUE(command<KeysArguments>({"keys", "set", "cloud", "--keychain"}).inKeychain);
  EXPECT_EQ(command<KeysArguments>({"keys", "remove", "cloud"}).action, KeysArguments::Action::Remove);
  EXPECT_THAT(parseArguments({"keys", "set", "cloud", "--keychain", "--file", "x"}),
              IsError(ErrorKind::Usage, HasSubstr("excludes")));
  for (const char* secret : {"topsecret", "--key=topsecret"}) {
    const auto refused = parseArguments({"keys", "set", "cloud", secret});
    EXPECT_THAT(refused, IsError(ErrorKind::Usage, HasSubstr("the key is asked for")));
    EXPECT_THAT(refused.error().message() + refused.error().hint(), ::testing::Not(HasSubstr("topsecret")));
  }
}

TEST(Arguments, OfTheSandboxOfCompilers) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"optimize", "t"},
                                                    {"resume"},
                                                    {"verify", "17"},
                                                    {"evaluate", "17", "--source", "-"},
                                                    {"export", "17", "--preview"},
                                                    {"mcp"},
                                                    {"doctor"}}) {
    EXPECT_EQ(parsed(arguments).common.sandbox, "") << "what is set";
    std::vector<std::string> more = arguments;
    more.insert(more.end(), {"--sandbox", "none"});
    EXPECT_EQ(parsed(more).common.sandbox, "none") << arguments.front();
  }
  EXPECT_THAT(parseArguments({"optimize", "t", "--sandbox", "jail"}), IsError(ErrorKind::Usage, HasSubstr("jail")));
  EXPECT_THAT(parseArguments({"list", "--sandbox", "none"}), IsError(ErrorKind::Usage, HasSubstr("--sandbox")));
}

TEST(Arguments, OfTheListOfTasks) {
  EXPECT_EQ(command<TasksArguments>({"tasks"}).folder, "");
  EXPECT_EQ(command<TasksArguments>({"tasks", "mine"}).folder, "mine");
}

TEST(Arguments, OfWhatIsAskedOfTheWinner) {
  const services::RunSpec none = command<OptimizeArguments>({"optimize", "t"}).spec;
  EXPECT_EQ(none.targetSpeedup, 0.0);
  EXPECT_EQ(none.requiredSpeedup, 0.0);
  const services::RunSpec spec =
      command<OptimizeArguments>({"optimize", "t", "--target-speedup", "1.5", "--required-speedup", "1.2"}).spec;
  EXPECT_EQ(spec.targetSpeedup, 1.5);
  EXPECT_EQ(spec.requiredSpeedup, 1.2);
  EXPECT_EQ(command<ResumeArguments>({"resume", "--target-speedup", "2"}).targetSpeedup, 2.0);
  EXPECT_THAT(parseArguments({"optimize", "t", "--target-speedup", "0"}), IsError(ErrorKind::Usage, HasSubstr("0")));
}

TEST(Arguments, OptimizeStartsFromWhatIsSet) {
  const services::Settings settings{{"search.target", std::string("cpu")},
                                    {"search.time_budget", std::string("5 min")},
                                    {"search.seed", std::int64_t{7}},
                                    {"search.compile_baselines", false}};
  const auto specOf = [&settings](const std::vector<std::string>& arguments) {
    const auto result = parseArguments(arguments, settings);
    EXPECT_THAT(result, testing::IsOk());
    return std::get<OptimizeArguments>(std::get<Arguments>(*result).command).spec;
  };
  const services::RunSpec set = specOf({"optimize", "t"});
  EXPECT_EQ(set.target, "cpu");
  EXPECT_EQ(set.timeBudgetSeconds, 300.0);
  EXPECT_EQ(set.seed, 7U);
  EXPECT_FALSE(set.compileBaselines);
  const services::RunSpec given =
      specOf({"optimize", "t", "--target", "cuda", "--time-budget", "10s", "--seed", "3", "--max-evaluations", "9"});
  EXPECT_EQ(given.target, "cuda");
  EXPECT_EQ(given.timeBudgetSeconds, 10.0);
  EXPECT_EQ(given.seed, 3U);
}

TEST(Arguments, WhatIsSetAndMakesNoSenseIsLeftOut) {
  const services::Settings settings{{"search.target", std::string("toaster")},
                                    {"search.time_budget", std::string("soon")},
                                    {"search.seed", std::string("x")}};
  const auto result = parseArguments({"optimize", "t"}, settings);
  ASSERT_THAT(result, testing::IsOk());
  const auto spec = std::get<OptimizeArguments>(std::get<Arguments>(*result).command).spec;
  EXPECT_EQ(spec.target, services::RunSpec().target);
  EXPECT_EQ(spec.timeBudgetSeconds, 60.0);
  EXPECT_EQ(spec.seed, services::kDrawnSeed);
}

TEST(Arguments, OptimizeTakesEverythingTheReadmeNames) {
  const auto arguments = parsed({"optimize",
                                 "task.py",
                                 "--set",
                                 "dim=64",
                                 "--set",
                                 "name=\"x\"",
                                 "--target",
                                 "cpu",
                                 "--time-budget",
                                 "2m",
                                 "--max-evaluations",
                                 "7",
                                 "--seed",
                                 "9",
                                 "--project",
                                 "/p",
                                 "--jsonl",
                                 "--eval",
                                 "--no-compile-baseline",
                                 "--inputs",
                                 "float32[2]"});
  EXPECT_EQ(arguments.common.form, OutputForm::JsonLines);
  EXPECT_EQ(arguments.common.project, "/p");
  const auto& spec = std::get<OptimizeArguments>(arguments.command).spec;
  EXPECT_EQ(spec.task, "task.py");
  EXPECT_THAT(spec.overrides, ElementsAre(Pair("dim", "64"), Pair("name", "\"x\"")));
  EXPECT_EQ(spec.target, "cpu");
  EXPECT_DOUBLE_EQ(spec.timeBudgetSeconds, 120.0);
  EXPECT_EQ(spec.maxEvaluations, 7);
  EXPECT_EQ(spec.seed, 9U);
  EXPECT_TRUE(spec.eval);
  EXPECT_FALSE(spec.compileBaselines);
  EXPECT_EQ(spec.inputs, "float32[2]");
}

TEST(Arguments, BaselinesAreChosenByNameAndMeasuredAgainOnRequest) {
  const auto spec =
      command<OptimizeArguments>({"optimize", "t.py", "--baselines", "eager,max-autotune", "--remeasure"}).spec;
  EXPECT_THAT(spec.baselines, ElementsAre("eager", "max-autotune"));
  EXPECT_TRUE(spec.remeasureBaselines);
  EXPECT_TRUE(command<OptimizeArguments>({"optimize", "t.py"}).spec.baselines.empty());
  EXPECT_THAT(parseArguments({"optimize", "t.py", "--baselines", "fastest"}),
              IsError(ErrorKind::Usage, HasSubstr("--baselines")));
}

TEST(Arguments, TheDefaultBudgetIsAMinuteUnlessEvaluationsAreCounted) {
  EXPECT_DOUBLE_EQ(command<OptimizeArguments>({"optimize", "t"}).spec.timeBudgetSeconds, 60.0);
  EXPECT_DOUBLE_EQ(command<OptimizeArguments>({"optimize", "t", "--max-evaluations", "3"}).spec.timeBudgetSeconds, 0.0);
}

TEST(Arguments, WhatIsAboutModelsNeedsOne) {
  const auto choice = command<OptimizeArguments>({"optimize", "t", "--model", "local,far", "--only-models"}).models;
  EXPECT_THAT(choice.names, ElementsAre("local", "far"));
  EXPECT_TRUE(choice.alone);
  EXPECT_FALSE(command<OptimizeArguments>({"optimize", "t", "--model", "local"}).models.alone);
  EXPECT_TRUE(command<ResumeArguments>({"resume", "--model", "local", "--only-models"}).models.alone);
  EXPECT_THAT(parseArguments({"optimize", "t", "--only-models"}), IsError(ErrorKind::Usage, HasSubstr("--model")));
  EXPECT_THAT(parseArguments({"optimize", "t", "--budget-usd", "1"}), IsError(ErrorKind::Usage, HasSubstr("--model")));
}

TEST(Arguments, SetTakesOneValueEach) {
  const auto arguments = command<ImportArguments>({"import", "--set", "a=1", "task.py", "-o", "out"});
  EXPECT_EQ(arguments.task, "task.py");
  EXPECT_EQ(arguments.output, "out");
  EXPECT_THAT(arguments.overrides, ElementsAre(Pair("a", "1")));
}

TEST(Arguments, ExportNamesARunOrACandidate) {
  const auto run = command<ExportArguments>({"export", "r2", "--format", "modelnew", "-o", "x.py"});
  EXPECT_EQ(run.what.kind, RecordReference::Kind::Run);
  EXPECT_EQ(run.what.number, 2);
  EXPECT_EQ(run.format, services::ExportFormat::ModelNew);
  EXPECT_EQ(command<ExportArguments>({"export", "5", "-o", "x.py"}).what.kind, RecordReference::Kind::Candidate);
}

TEST(Arguments, ExportOfAProjectTakesAFolder) {
  const auto project =
      command<ExportArguments>({"export", "5", "--format", "project", "-o", "out", "--force", "--verify"});
  EXPECT_EQ(project.format, services::ExportFormat::Project);
  EXPECT_EQ(project.output, "out");
  EXPECT_TRUE(project.force);
  EXPECT_TRUE(project.verify);
  EXPECT_THAT(parseArguments({"export", "5", "--format", "zip", "-o", "x"}),
              IsError(ErrorKind::Usage, HasSubstr("zip")));
}

TEST(Arguments, APreviewOfAnExportNeedsNoOutput) {
  EXPECT_TRUE(command<ExportArguments>({"export", "5", "--preview"}).preview);
  EXPECT_THAT(parseArguments({"export", "5", "-o", "x", "--verify", "--no-checks"}),
              IsError(ErrorKind::Usage, HasSubstr("--no-checks")));
}

TEST(Arguments, BenchNeedsToBeToldWhatToMeasure) {
  EXPECT_THAT(parseArguments({"bench"}), IsError(ErrorKind::Usage, HasSubstr("subcommand")));
  const auto bench = command<BenchArguments>({"bench", "engine", "--time-budget", "2m", "--processes", "4", "--json"});
  EXPECT_EQ(bench.spec.task, "");
  EXPECT_EQ(bench.spec.timeBudgetSeconds, 120.0);
  EXPECT_EQ(bench.freshProcesses, 4);
  EXPECT_EQ(parsed({"bench", "engine", "--json"}).common.form, OutputForm::Json);
  const auto exporting = command<BenchExportArguments>({"bench", "export", "--target", "cpu", "--calls", "400"});
  EXPECT_EQ(exporting.target, "cpu");
  EXPECT_EQ(exporting.calls, 400);
  EXPECT_THAT(parseArguments({"bench", "export", "--calls", "1"}), IsError(ErrorKind::Usage, HasSubstr("1")));
  EXPECT_THAT(parseArguments({"bench", "engine", "--processes", "-1"}), IsError(ErrorKind::Usage, HasSubstr("-1")));
}

TEST(Arguments, BenchKernelBenchWritesAFileUnderTheNameOfAFlag) {
  const auto bench =
      command<BenchKernelBenchArguments>({"bench", "kernelbench", "--checkout", "kb", "--levels", "1,2", "--problems",
                                          "odd", "--time-budget", "10s", "--small", "--json", "out.json"});
  EXPECT_EQ(bench.checkout, "kb");
  EXPECT_EQ(bench.levels, (std::vector<int>{1, 2}));
  EXPECT_EQ(bench.problems.kind, engine::ProblemChoice::Kind::Odd);
  EXPECT_EQ(bench.spec.timeBudgetSeconds, 10.0);
  EXPECT_EQ(bench.largestTensorBytes, 1'048'576);
  EXPECT_EQ(bench.file, "out.json");
  const auto plain = command<BenchKernelBenchArguments>(
      {"bench", "kernelbench", "--checkout", "kb", "--json", "out.json", "--max-evaluations", "5"});
  EXPECT_EQ(plain.levels, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(plain.problems.kind, engine::ProblemChoice::Kind::All);
  EXPECT_EQ(plain.spec.timeBudgetSeconds, 0.0);
  EXPECT_EQ(plain.largestTensorBytes, 0);
  EXPECT_THAT(parseArguments({"bench", "kernelbench", "--checkout", "kb"}),
              IsError(ErrorKind::Usage, HasSubstr("--json")));
  EXPECT_THAT(parseArguments({"bench", "kernelbench", "--checkout", "kb", "--json", "o", "--problems", "some"}),
              IsError(ErrorKind::Usage, HasSubstr("'some'")));
  EXPECT_THAT(
      parseArguments({"bench", "kernelbench", "--checkout", "kb", "--json", "o", "--small", "--largest-tensor", "2"}),
      IsError(ErrorKind::Usage, HasSubstr("excludes")));
}

TEST(Arguments, BenchReportTakesTheFiles) {
  const auto report =
      command<BenchReportArguments>({"bench", "report", "a.json", "b.json", "--format", "svg", "-o", "a.svg"});
  EXPECT_THAT(report.files, ::testing::ElementsAre("a.json", "b.json"));
  EXPECT_EQ(report.format, "svg");
  EXPECT_EQ(report.output, "a.svg");
}

TEST(Arguments, ResumeAndListTakeARunWithOrWithoutItsLetter) {
  EXPECT_EQ(command<ResumeArguments>({"resume", "4"}).run->kind, RecordReference::Kind::Run);
  EXPECT_EQ(command<ListArguments>({"list", "r4"}).run->number, 4);
  EXPECT_FALSE(command<ResumeArguments>({"resume"}).run.has_value());
}

TEST(Arguments, WrongUsageNamesWhatIsWrong) {
  EXPECT_THAT(parseArguments({}), IsError(ErrorKind::Usage, HasSubstr("subcommand")));
  EXPECT_THAT(parseArguments({"fly"}), IsError(ErrorKind::Usage, HasSubstr("fly")));
  EXPECT_THAT(parseArguments({"optimize"}), IsError(ErrorKind::Usage, HasSubstr("task")));
  EXPECT_THAT(parseArguments({"optimize", "t", "--target", "tpu"}), IsError(ErrorKind::Usage, HasSubstr("tpu")));
  EXPECT_THAT(parseArguments({"optimize", "t", "--time-budget", "soon"}), IsError(ErrorKind::Usage, HasSubstr("soon")));
  EXPECT_THAT(parseArguments({"optimize", "t", "--devices", "0,,1"}), IsError(ErrorKind::Usage, HasSubstr("0,,1")));
  EXPECT_THAT(parseArguments({"optimize", "t", "--devices", "0,"}), IsError(ErrorKind::Usage, HasSubstr("'0,'")));
  EXPECT_THAT(parseArguments({"optimize", "t", "--json", "--jsonl"}), IsError(ErrorKind::Usage, HasSubstr("json")));
  EXPECT_THAT(parseArguments({"optimize", "t", "--max-evaluations", "0"}), IsError(ErrorKind::Usage, HasSubstr("0")));
  EXPECT_THAT(parseArguments({"show", "r3"}), IsError(ErrorKind::Usage, HasSubstr("is a run")));
  EXPECT_THAT(parseArguments({"export", "3"}), IsError(ErrorKind::Usage, HasSubstr("output")));
  EXPECT_THAT(parseArguments({"import", "t.py", "--set", "dim"}), IsError(ErrorKind::Usage, HasSubstr("NAME=VALUE")));
}

}  // namespace
}  // namespace swage::cli
