// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "core/engine/baseline_stage.h"
#include "core/engine/doctor_service_impl.h"
#include "core/engine/finishing_pass.h"
#include "core/engine/locations.h"
#include "core/engine/safetensors.h"
#include "core/engine/search_clock.h"
#include "core/engine/snapshots.h"
#include "tests/support/fake_clock.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

domain::PairedTiming timing(double ns, double speedupLow) {
  domain::PairedTiming result;
  result.candidate.medianNs = ns;
  result.speedupLow = speedupLow;
  return result;
}

TEST(ChooseWinner, TheFastestWinsWhenItIsSurelyFasterThanEager) {
  EXPECT_EQ(chooseWinner({{domain::CandidateId(1), timing(100, 0.99)},
                          {domain::CandidateId(2), timing(80, 1.2)},
                          {domain::CandidateId(3), std::nullopt}},
                         domain::CandidateId(1)),
            domain::CandidateId(2));
}

TEST(ChooseWinner, TheTasksOwnOperatorsWinWhenNothingIsSurelyFaster) {
  EXPECT_EQ(chooseWinner({{domain::CandidateId(1), timing(100, 0.97)}, {domain::CandidateId(2), timing(99, 0.98)}},
                         domain::CandidateId(1)),
            domain::CandidateId(1));
}

TEST(ChooseWinner, NothingCorrectHasNoWinner) {
  EXPECT_FALSE(chooseWinner({{domain::CandidateId(1), std::nullopt}}, domain::CandidateId(1)).isValid());
}

TEST(Baselines, AreReadFromTheBridgesDocument) {
  const auto baselines = baselinesFromJson(json::parse(
      R"({"modes": {"eager": {"median_ns": 200, "low_ns": 190, "high_ns": 210, "samples": 9, "error": null},
                    "compile": {"median_ns": null, "samples": 0, "error": "no compiler"}}})"));
  ASSERT_THAT(baselines, IsOk());
  ASSERT_EQ(baselines->size(), 2U);
  EXPECT_EQ(baselines->at(0).mode, "compile");
  EXPECT_EQ(baselines->at(0).failure, "no compiler");
  EXPECT_EQ(baselines->at(1).timing.samples, 9);
  EXPECT_DOUBLE_EQ(fastest(*baselines)->timing.medianNs, 200.0);
}

TEST(Baselines, ADocumentWithoutModesIsAProtocolError) {
  EXPECT_THAT(baselinesFromJson(json::object()), IsError(ErrorKind::Protocol, HasSubstr("modes")));
  EXPECT_THAT(baselinesFromJson(json::parse(R"({"modes": {"eager": 3}})")),
              IsError(ErrorKind::Protocol, HasSubstr("eager")));
}

TEST(Baselines, TheFasterOfTheTwoEagerMeasurementsStands) {
  domain::Baseline worker{.mode = "eager", .timing = {}, .failure = {}};
  worker.timing.medianNs = 90.0;
  domain::Baseline python = worker;
  python.timing.medianNs = 100.0;
  EXPECT_DOUBLE_EQ(merged(worker, {python}).at(0).timing.medianNs, 90.0);
  python.timing.medianNs = 80.0;
  EXPECT_DOUBLE_EQ(merged(worker, {python}).at(0).timing.medianNs, 80.0);
  EXPECT_EQ(merged(worker, {}).size(), 1U);
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
  EXPECT_THAT(knownProjects(), ::testing::ElementsAre(projects / "new", projects / "old"));
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
