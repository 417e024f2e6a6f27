// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "core/engine/baseline_stage.h"
#include "core/engine/doctor_service_impl.h"
#include "core/engine/locations.h"
#include "core/engine/safetensors.h"
#include "core/engine/search_clock.h"
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

// A measurement of `ns`, certain to one per cent, of a program with `launches` launches.
Remeasured measured(double ns, double speedupLow, int launches = 1, double relativeError = 1e-7) {
  Remeasured result;
  result.timing.candidate.medianNs = ns;
  result.timing.candidate.lowNs = 0.99 * ns;
  result.timing.candidate.highNs = 1.01 * ns;
  result.timing.speedup = 1.02 * speedupLow;
  result.timing.speedupLow = speedupLow;
  result.launches = launches;
  result.relativeError = relativeError;
  return result;
}

constexpr domain::CandidateId kIdentity(1);

TEST(ChooseWinner, TheFastestWinsWhenItIsSurelyFasterThanEager) {
  EXPECT_EQ(chooseWinner({{kIdentity, measured(100, 0.99)},
                          {domain::CandidateId(2), measured(80, 1.2)},
                          {domain::CandidateId(3), std::nullopt},
                          {domain::CandidateId(4), measured(90, 1.1)}},
                         kIdentity),
            domain::CandidateId(2));
}

TEST(ChooseWinner, TheTasksOwnOperatorsWinWhenNothingIsSurelyFaster) {
  EXPECT_EQ(chooseWinner({{kIdentity, measured(100, 0.97)}, {domain::CandidateId(2), measured(99, 0.98)}}, kIdentity),
            kIdentity);
}

TEST(ChooseWinner, NothingCorrectHasNoWinner) {
  EXPECT_FALSE(chooseWinner({{kIdentity, std::nullopt}}, kIdentity).isValid());
}

TEST(ChooseWinner, InsideTheIntervalsItIsNotTimeThatDecides) {
  EXPECT_EQ(chooseWinner({{domain::CandidateId(2), measured(80.0, 1.20, 3)},
                          {domain::CandidateId(3), measured(81.0, 1.19, 1)},
                          {domain::CandidateId(4), measured(90.0, 1.10, 1)}},
                         kIdentity),
            domain::CandidateId(3))
      << "fewer launches";
  EXPECT_EQ(chooseWinner({{domain::CandidateId(2), measured(80.0, 1.20, 1, 2e-7)},
                          {domain::CandidateId(3), measured(80.5, 1.19, 1, 1e-7)}},
                         kIdentity),
            domain::CandidateId(3))
      << "a smaller error";
  EXPECT_EQ(
      chooseWinner({{domain::CandidateId(5), measured(80.0, 1.20)}, {domain::CandidateId(3), measured(80.5, 1.19)}},
                   kIdentity),
      domain::CandidateId(3))
      << "the older one";
}

TEST(ChooseWinner, ADifferenceThatEagerSharedIsDrift) {
  Remeasured hurried = measured(80.0, 1.2, 2);
  const Remeasured patient = measured(90.0, 1.3, 1);
  EXPECT_FALSE(isSurelyFaster(hurried.timing, patient.timing));
  EXPECT_EQ(chooseWinner({{domain::CandidateId(2), hurried}, {domain::CandidateId(3), patient}}, kIdentity),
            domain::CandidateId(3));
}

TEST(ChooseWinner, AThrottledMeasurementDoesNotBeatASolidOne) {
  Remeasured hot = measured(70, 1.5);
  hot.timing.candidate.stopReason = "throttled";
  EXPECT_EQ(chooseWinner({{domain::CandidateId(2), hot}, {domain::CandidateId(3), measured(80, 1.2)}}, kIdentity),
            domain::CandidateId(3));
  EXPECT_EQ(chooseWinner({{domain::CandidateId(2), hot}, {kIdentity, measured(100, 0.99)}}, kIdentity),
            domain::CandidateId(2))
      << "where there is no other";
}

TEST(ChooseWinner, WhoIsExcludedDoesNotWin) {
  EXPECT_EQ(chooseWinner({{kIdentity, measured(100, 0.99)},
                          {domain::CandidateId(2), measured(5, 20)},
                          {domain::CandidateId(3), measured(80, 1.2)}},
                         kIdentity, {domain::CandidateId(2)}),
            domain::CandidateId(3));
}

TEST(FreshProcess, IsAskedForAboveTenTimesTheBaseline) {
  EXPECT_TRUE(isIncredible(measured(9.9, 2).timing, 100.0));
  EXPECT_FALSE(isIncredible(measured(10.1, 2).timing, 100.0));
  EXPECT_FALSE(isIncredible(measured(9.9, 2).timing, 0.0));
}

TEST(FreshProcess, BearsOutTheSameTimeOnly) {
  domain::Correct fresh;
  fresh.timing = measured(108.0, 2).timing;
  EXPECT_THAT(findContradiction(measured(100.0, 2).timing, fresh), ::testing::IsEmpty());
  fresh.timing = measured(150.0, 2).timing;
  EXPECT_THAT(findContradiction(measured(100.0, 2).timing, fresh), HasSubstr("another process measured 150 ns"));
  EXPECT_THAT(findContradiction(measured(100.0, 2).timing, domain::Unstable{"sometimes"}), HasSubstr("not correct"));
}

domain::Baseline baseline(const std::string& mode, double ns, domain::AccuracyClass accuracy) {
  domain::Baseline result;
  result.mode = mode;
  result.timing.medianNs = ns;
  result.timing.lowNs = 0.98 * ns;
  result.timing.highNs = 1.02 * ns;
  result.accuracy = accuracy;
  return result;
}

TEST(Beats, MeansOutsideTheIntervalsOfTheFastestComparableBaseline) {
  using enum domain::AccuracyClass;
  const auto candidate = measured(90.0, 1.05).timing;
  EXPECT_TRUE(beats(candidate, {baseline("eager", 100, Fp32)}));
  EXPECT_FALSE(beats(candidate, {baseline("eager", 100, Fp32), baseline("compile", 92, Fp32)})) << "92 may be 90.2";
  EXPECT_TRUE(beats(candidate, {baseline("eager", 100, Fp32), baseline("compile", 50, Tf32)})) << "it computes less";
  EXPECT_FALSE(beats(measured(90.0, 1.0).timing, {baseline("eager", 100, Fp32)}));
  EXPECT_FALSE(beats(candidate, {}));
}

TEST(Baselines, AreReadFromTheBridgesDocument) {
  const auto baselines = baselinesFromJson(json::parse(
      R"({"torch_version": "2.11.0+cu130",
          "modes": {"eager": {"median_ns": 200, "low_ns": 190, "high_ns": 210, "samples": 9, "accuracy": "tf32",
                              "error": null, "repeated": 2,
                              "conditions": {"sm_clock_mhz": 1980, "lowest_sm_clock_mhz": 1965,
                                             "memory_clock_mhz": 3201, "temperature_celsius": 41,
                                             "power_watts": 310.5, "throttle_reasons": ["power cap"]}},
                    "compile": {"median_ns": null, "samples": 0, "error": "no compiler"}}})"));
  ASSERT_THAT(baselines, IsOk());
  ASSERT_EQ(baselines->size(), 2U);
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

TEST(Baselines, TheFasterOfTheTwoEagerMeasurementsStands) {
  domain::Baseline worker;
  worker.mode = "eager";
  worker.timing.medianNs = 90.0;
  domain::Baseline python = worker;
  python.timing.medianNs = 100.0;
  EXPECT_DOUBLE_EQ(merged(worker, {python}).at(0).timing.medianNs, 90.0);
  python.timing.medianNs = 80.0;
  EXPECT_DOUBLE_EQ(merged(worker, {python}).at(0).timing.medianNs, 80.0);
  EXPECT_EQ(merged(worker, {}).size(), 1U);
}

TEST(Baselines, TheAccuracyClassIsWhatTheBridgeFound) {
  const domain::Baseline worker = baseline("eager", 90.0, domain::AccuracyClass::Half);
  const domain::Baseline python = baseline("eager", 100.0, domain::AccuracyClass::Tf32);
  EXPECT_EQ(merged(worker, {python}).at(0).accuracy, domain::AccuracyClass::Tf32);
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
