// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "core/engine/baseline_stage.h"
#include "core/engine/doctor_service_impl.h"
#include "core/engine/locations.h"
#include "core/engine/safetensors.h"
#include "core/engine/search_clock.h"
#include "core/engine/task_list.h"
#include "core/engine/winner_choice.h"
#include "tests/support/fake_clock.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

// A measurement whose speedup over eager is certain to two per cent, of a program with `launches` launches.
Remeasured measured(double speedupLow, int launches = 1, double relativeError = 1e-7) {
  Remeasured result;
  result.timing.candidate.samples = result.timing.eager.samples = 50;
  result.timing.candidate.medianNs = 100.0 / speedupLow;
  result.timing.speedup = 1.02 * speedupLow;
  result.timing.speedupLow = speedupLow;
  result.timing.speedupHigh = 1.04 * speedupLow;
  result.launches = launches;
  result.relativeError = relativeError;
  return result;
}

// As sure to be faster than eager, but by how much nobody knows.
Remeasured uncertain(double value) {
  Remeasured result = measured(0.6 * value);
  result.timing.speedup = value;
  result.timing.speedupHigh = 1.4 * value;
  return result;
}

constexpr domain::CandidateId kIdentity(1);
constexpr domain::Speedup kEagerIsFastest = domain::Speedup::exactly(1.0);

TEST(ChooseWinner, TheHighestLowerEndWinsWhenItIsSurelyFaster) {
  EXPECT_EQ(chooseWinner({{kIdentity, measured(0.99)},
                          {domain::CandidateId(2), measured(1.2)},
                          {domain::CandidateId(3), std::nullopt},
                          {domain::CandidateId(4), measured(1.1)}},
                         kIdentity, kEagerIsFastest),
            domain::CandidateId(2));
}

TEST(ChooseWinner, TheTasksOwnOperatorsWinWhenNothingIsSurelyFaster) {
  EXPECT_EQ(
      chooseWinner({{kIdentity, measured(0.97)}, {domain::CandidateId(2), measured(0.98)}}, kIdentity, kEagerIsFastest),
      kIdentity);
}

TEST(ChooseWinner, TheTasksOwnOperatorsDoNotWinByASpeedupOfTheirOwn) {
  EXPECT_EQ(
      chooseWinner({{kIdentity, measured(45.0)}, {domain::CandidateId(2), measured(1.1)}}, kIdentity, kEagerIsFastest),
      domain::CandidateId(2));
}

TEST(ChooseWinner, WhatOnlyBeatsEagerDoesNotBeatCompile) {
  const domain::Speedup againstCompile{0.5, 0.48, 0.52};
  EXPECT_EQ(
      chooseWinner({{kIdentity, measured(0.99)}, {domain::CandidateId(2), measured(1.9)}}, kIdentity, againstCompile),
      kIdentity);
  EXPECT_EQ(
      chooseWinner({{kIdentity, measured(0.99)}, {domain::CandidateId(2), measured(2.3)}}, kIdentity, againstCompile),
      domain::CandidateId(2));
}

TEST(ChooseWinner, NothingCorrectHasNoWinner) {
  EXPECT_FALSE(chooseWinner({{kIdentity, std::nullopt}}, kIdentity, kEagerIsFastest).isValid());
}

TEST(ChooseWinner, OfEqualSpeedupsTheSimplerWins) {
  EXPECT_EQ(chooseWinner({{domain::CandidateId(2), measured(1.2, 3)}, {domain::CandidateId(3), measured(1.2, 1)}},
                         kIdentity, kEagerIsFastest),
            domain::CandidateId(3))
      << "fewer launches";
  EXPECT_EQ(
      chooseWinner({{domain::CandidateId(2), measured(1.2, 1, 2e-7)}, {domain::CandidateId(3), measured(1.2, 1, 1e-7)}},
                   kIdentity, kEagerIsFastest),
      domain::CandidateId(3))
      << "a smaller error";
  EXPECT_EQ(chooseWinner({{domain::CandidateId(5), measured(1.2)}, {domain::CandidateId(3), measured(1.2)}}, kIdentity,
                         kEagerIsFastest),
            domain::CandidateId(3))
      << "the older one";
}

TEST(ChooseWinner, AnUncertainMeasurementDoesNotBeatASolidOne) {
  Remeasured hot = measured(1.5);
  hot.timing.candidate.stopReason = "throttled";
  for (const Remeasured& doubtful : {hot, uncertain(3.0)}) {
    EXPECT_TRUE(isUncertain(doubtful.timing));
    EXPECT_EQ(chooseWinner({{domain::CandidateId(2), doubtful}, {domain::CandidateId(3), measured(1.2)}}, kIdentity,
                           kEagerIsFastest),
              domain::CandidateId(3));
    EXPECT_EQ(
        chooseWinner({{domain::CandidateId(2), doubtful}, {kIdentity, measured(0.99)}}, kIdentity, kEagerIsFastest),
        domain::CandidateId(2))
        << "where there is no other";
    EXPECT_EQ(
        chooseWinner(
            {{domain::CandidateId(2), doubtful}, {domain::CandidateId(3), measured(0.9)}, {kIdentity, measured(0.99)}},
            kIdentity, kEagerIsFastest),
        domain::CandidateId(2))
        << "a solid one that loses is no reason to";
  }
  EXPECT_FALSE(isUncertain(measured(1.2).timing));
}

TEST(ChooseWinner, WhoIsExcludedDoesNotWin) {
  EXPECT_EQ(chooseWinner({{kIdentity, measured(0.99)},
                          {domain::CandidateId(2), measured(20)},
                          {domain::CandidateId(3), measured(1.2)}},
                         kIdentity, kEagerIsFastest, {domain::CandidateId(2)}),
            domain::CandidateId(3));
}

TEST(FreshProcess, IsAskedForAboveTenTimesTheBaseline) {
  EXPECT_TRUE(isIncredible({10.1, 9.0, 11.0}));
  EXPECT_FALSE(isIncredible({9.9, 9.0, 11.0}));
  EXPECT_FALSE(isIncredible({}));
}

TEST(FreshProcess, BearsOutTheSameSpeedupOnly) {
  domain::Correct fresh;
  fresh.timing = measured(2.15).timing;
  EXPECT_THAT(findContradiction(measured(2.0).timing, fresh), ::testing::IsEmpty());
  fresh.timing = measured(3.0).timing;
  EXPECT_THAT(findContradiction(measured(2.0).timing, fresh), HasSubstr("a fresh process measured 3.06x of eager"));
  EXPECT_THAT(findContradiction(measured(2.0).timing, domain::Unstable{"sometimes"}), HasSubstr("not correct"));
}

TEST(Baselines, AreReadFromTheBridgesDocument) {
  const auto baselines = baselinesFromJson(json::parse(
      R"({"torch_version": "2.11.0+cu130",
          "modes": {"eager": {"median_ns": 200, "low_ns": 190, "high_ns": 210, "samples": 9, "accuracy": "tf32",
                              "error": null, "repeated": 2,
                              "conditions": {"sm_clock_mhz": 1980, "lowest_sm_clock_mhz": 1965,
                                             "memory_clock_mhz": 3201, "temperature_celsius": 41,
                                             "power_watts": 310.5, "throttle_reasons": ["power cap"]}},
                    "compile": {"median_ns": null, "samples": 0, "error": "no compiler"},
                    "max-autotune": {"median_ns": 100, "samples": 9, "error": null, "eager_speedup": 0.5,
                                     "eager_speedup_low": 0.4, "eager_speedup_high": 0.6}}})"));
  ASSERT_THAT(baselines, IsOk());
  ASSERT_EQ(baselines->size(), 3U);
  EXPECT_EQ(baselines->at(2).eagerSpeedup, (domain::Speedup{0.5, 0.4, 0.6}));
  EXPECT_EQ(baselines->at(0).mode, "compile");
  EXPECT_EQ(baselines->at(0).failure, "no compiler");
  EXPECT_EQ(baselines->at(1).timing.samples, 9);
  EXPECT_EQ(baselines->at(1).torchVersion, "2.11.0");
  EXPECT_EQ(baselines->at(1).accuracy, domain::AccuracyClass::Tf32);
  EXPECT_EQ(baselines->at(1).timing.repeated, 2);
  const domain::DeviceConditions& conditions = baselines->at(1).timing.conditions;
  EXPECT_EQ(conditions.smClockMhz, 1980);
  EXPECT_EQ(conditions.lowestSmClockMhz, 1965);
  EXPECT_EQ(conditions.memoryClockMhz, 3201);
  EXPECT_EQ(conditions.temperatureCelsius, 41);
  EXPECT_EQ(conditions.powerWatts, 310.5);
  EXPECT_EQ(conditions.throttleReasons, std::vector<std::string>{"power cap"});
  EXPECT_EQ(baselines->at(0).timing.conditions.smClockMhz, 0) << "of a bridge that does not know";
}

TEST(Baselines, ADocumentWithoutModesIsAProtocolError) {
  EXPECT_THAT(baselinesFromJson(json::object()), IsError(ErrorKind::Protocol, HasSubstr("modes")));
  EXPECT_THAT(baselinesFromJson(json::parse(R"({"modes": {"eager": 3}})")),
              IsError(ErrorKind::Protocol, HasSubstr("eager")));
}

TEST(Baselines, TheEagerThatTheOthersWereMeasuredInTurnsWithStands) {
  domain::Baseline worker;
  worker.mode = "eager";
  worker.timing.medianNs = 10.0;  // at another moment
  worker.accuracy = domain::AccuracyClass::Half;
  domain::Baseline python = worker;
  python.timing.medianNs = 100.0;
  python.accuracy = domain::AccuracyClass::Tf32;
  domain::Baseline compile;
  compile.mode = "compile";
  compile.timing.medianNs = 50.0;
  compile.eagerSpeedup = {0.5, 0.49, 0.51};
  const auto both = merged(worker, {python, compile});
  EXPECT_DOUBLE_EQ(both.at(0).timing.medianNs, 100.0);
  EXPECT_EQ(both.at(0).accuracy, domain::AccuracyClass::Tf32) << "as the bridge found";
  EXPECT_EQ(both.at(1).eagerSpeedup, (domain::Speedup{0.5, 0.49, 0.51}));
  python.failure = "it crashed";
  EXPECT_DOUBLE_EQ(merged(worker, {python}).at(0).timing.medianNs, 10.0);
  EXPECT_EQ(merged(worker, {}).size(), 1U);
}

TEST(Baselines, WithoutTheBridgeTheClassOfEagerIsGuessedFromItsError) {
  domain::Graph graph;
  graph.values = {domain::contiguousTensor(domain::ScalarType::Float32, {4})};
  graph.outputs = {{domain::ValueId(0), domain::OutputKind::User, ""}};
  wire::TaskReady task;
  task.eagerErrors = {{.relativeL2 = 1e-6}};
  EXPECT_EQ(eagerBaseline(task, graph, "2.11.0").accuracy, domain::AccuracyClass::Fp32);
  task.eagerErrors = {{.relativeL2 = 3e-4}};
  EXPECT_EQ(eagerBaseline(task, graph, "2.11.0").accuracy, domain::AccuracyClass::Tf32);
  graph.values[0].dtype = domain::ScalarType::BFloat16;
  EXPECT_EQ(eagerBaseline(task, graph, "2.11.0").accuracy, domain::AccuracyClass::Half);
}

TEST(Baselines, MaxAutotuneIsMeasuredWhereThereIsTimeOrOnRequest) {
  services::RunSpec spec;
  spec.timeBudgetSeconds = 60.0;
  EXPECT_THAT(baselineModes(spec), ElementsAre("eager", "compile"));
  spec.timeBudgetSeconds = 300.0;
  EXPECT_THAT(baselineModes(spec), ElementsAre("eager", "compile", "max-autotune"));
  spec.compileBaselines = false;
  EXPECT_THAT(baselineModes(spec), ElementsAre("eager"));
  spec.baselines = {"eager", "max-autotune"};
  EXPECT_THAT(baselineModes(spec), ElementsAre("eager", "max-autotune"));
}

TEST(SearchClock, OnlyRunsWhileTheSearchRuns) {
  testing::FakeClock clock;
  SearchClock search(clock.now());
  search.reset(10.0);
  clock.advance(std::chrono::seconds(5));
  EXPECT_DOUBLE_EQ(search.elapsedSeconds(), 10.0);
  search.run();
  clock.advance(std::chrono::seconds(5));
  search.hold();
  clock.advance(std::chrono::seconds(5));
  EXPECT_DOUBLE_EQ(search.elapsedSeconds(), 15.0);
}

class LocationsTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("XDG_DATA_HOME", m_folder.path().c_str(), 1); }
  void TearDown() override {
    ::unsetenv("XDG_DATA_HOME");
    ::unsetenv("SWAGE_PYTHON");
  }
  testing::TempDir m_folder;
};

TEST_F(LocationsTest, FindsResourcesOfAnInstallation) {
  std::filesystem::create_directories(m_folder / "share/swage/bridge");
  const Locations found = Locations::find(m_folder / "bin");
  EXPECT_EQ(found.worker, m_folder / "bin/swage-worker");
  EXPECT_EQ(found.patterns, m_folder / "share/swage/patterns");
}

TEST_F(LocationsTest, FindsResourcesOfTheSourceTreeAroundTheBuild) {
  std::filesystem::create_directories(m_folder / "resources/bridge/swage_bridge");
  const Locations found = Locations::find(m_folder / "build/release/bin");
  EXPECT_EQ(found.bridge, m_folder / "resources/bridge");
  EXPECT_EQ(found.patterns, m_folder / "patterns");
}

TEST_F(LocationsTest, TheEnvironmentChoosesPython) {
  ::setenv("SWAGE_PYTHON", "/my/python", 1);
  EXPECT_EQ(Locations::find(m_folder / "bin").python, "/my/python");
}

TEST_F(LocationsTest, ProjectsAreNamedAfterTheirTask) {
  const auto projects = m_folder / "swage/projects";
  EXPECT_EQ(defaultProject("some/23_Softmax.py"), projects / "23_Softmax");
  EXPECT_EQ(defaultProject("some/net.py:Block"), projects / "net");
  EXPECT_EQ(defaultProject("some/tiny.swage/"), projects / "tiny");
}

TEST_F(LocationsTest, TheProjectUsedLastComesFirst) {
  const auto projects = m_folder / "swage/projects";
  for (const char* name : {"old", "new", "empty"}) {
    std::filesystem::create_directories(projects / name);
  }
  std::ofstream(projects / "old/runs.sqlite") << "x";
  std::ofstream(projects / "new/runs.sqlite") << "x";
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(projects / "old/runs.sqlite", now - std::chrono::hours(1));
  EXPECT_THAT(knownProjects(), ElementsAre(projects / "new", projects / "old"));
}

TEST_F(LocationsTest, ABundledTaskIsFoundByItsName) {
  Locations locations;
  locations.tasks = m_folder.path();
  std::ofstream(m_folder / "softmax_rows.py") << "";
  EXPECT_EQ(resolveTask("softmax_rows", locations), m_folder / "softmax_rows.py");
  EXPECT_EQ(resolveTask("no_such_task", locations), "no_such_task");
  EXPECT_EQ(resolveTask("./softmax_rows", locations), "./softmax_rows");
}

TEST_F(LocationsTest, ATaskOfThePersonsOwnIsFoundByItsName) {
  std::filesystem::create_directories(taskFolder());
  std::ofstream(taskFolder() / "mine.py") << "";
  EXPECT_EQ(resolveTask("mine", {}), taskFolder() / "mine.py");
}

TEST_F(LocationsTest, TasksAreListedByNameWithTheFirstLineOfTheirDocstring) {
  std::ofstream(m_folder / "b.py") << "# SPDX-License-Identifier: MIT\n\n\"\"\"Sums rows.\n\nMore of it.\n\"\"\"\n";
  std::ofstream(m_folder / "a.py") << "import torch\n\n\"\"\"no docstring\"\"\"\n";
  std::ofstream(m_folder / "notes.txt") << "";
  const std::vector<ListedTask> tasks = listTasks(m_folder.path());
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].name, "a");
  EXPECT_EQ(tasks[0].description, "");
  EXPECT_EQ(tasks[1].path, m_folder / "b.py");
  EXPECT_EQ(tasks[1].description, "Sums rows.");
  EXPECT_TRUE(listTasks(m_folder / "none").empty());
  EXPECT_EQ(firstDocLine(R"("""  One line. """)"), "One line.");
  EXPECT_EQ(firstDocLine("# only a comment"), "");
}

class SafetensorsTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<std::map<std::string, std::string>> read(const std::string& header, const std::string& data,
                                                                std::int64_t lengthChange = 0) {
    const auto file = m_folder / "w.safetensors";
    std::ofstream stream(file, std::ios::binary);
    const auto length = static_cast<std::uint64_t>(static_cast<std::int64_t>(header.size()) + lengthChange);
    for (unsigned i = 0; i < 8; ++i) {
      stream.put(static_cast<char>((length >> (8U * i)) & 0xFFU));
    }
    stream << header << data;
    stream.close();
    return readSafetensors(file, {"a"});
  }
  testing::TempDir m_folder;
};

TEST_F(SafetensorsTest, ReadsTheBytesOfATensor) {
  const auto tensors = read(R"({"z":{"data_offsets":[0,2]},"a":{"data_offsets":[2,5]}})", "zzabc");
  ASSERT_THAT(tensors, IsOk());
  EXPECT_EQ(tensors->at("a"), "abc");
}

TEST_F(SafetensorsTest, RefusesOffsetsOutsideTheFile) {
  EXPECT_THAT(read(R"({"a":{"data_offsets":[2,6]}})", "zzabc"), IsError(ErrorKind::InvalidInput, HasSubstr("outside")));
  EXPECT_THAT(read(R"({"a":{"data_offsets":[3,2]}})", "zzabc"), IsError(ErrorKind::InvalidInput, HasSubstr("outside")));
  EXPECT_THAT(read(R"({"a":{"data_offsets":[-1,2]}})", "zzabc"),
              IsError(ErrorKind::InvalidInput, HasSubstr("offsets")));
}

TEST_F(SafetensorsTest, RefusesAHeaderThatIsCutOffOrNoJson) {
  EXPECT_THAT(read("{}", "", 1000), IsError(ErrorKind::InvalidInput, HasSubstr("cut off")));
  EXPECT_THAT(read("{}", "x", -100), IsError(ErrorKind::InvalidInput, HasSubstr("cut off")));
  EXPECT_THAT(read("{}", "x"), IsError(ErrorKind::InvalidInput, HasSubstr("no tensor 'a'")));
  EXPECT_FALSE(read("nonsense", "x"));
}

TEST(DoctorProbe, NamesTheMissingTorch) {
  const auto checks = checksFromProbe(Error(ErrorKind::Environment, "no torch"), "/usr/bin/python3");
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].status, services::DoctorCheck::Status::Failed);
  EXPECT_TRUE(checks[0].required);
  EXPECT_THAT(checks[0].detail, HasSubstr("no torch"));
  EXPECT_FALSE(checks[0].fix.empty());
}

TEST(DoctorProbe, AnotherTorchIsAWarningAndNoNvrtcToo) {
  const auto checks =
      checksFromProbe(json::parse(R"({"torch": {"version": "2.3.0"}, "nvidia": {"nvrtc": null}})"), "/usr/bin/python3");
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].status, services::DoctorCheck::Status::Warning);
  EXPECT_EQ(checks[1].status, services::DoctorCheck::Status::Warning);
}

}  // namespace
}  // namespace swage::engine
