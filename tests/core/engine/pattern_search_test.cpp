// SPDX-License-Identifier: Apache-2.0
#include "core/engine/pattern_search.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/engine/pattern_search_service_impl.h"
#include "core/engine/relative_kernels.h"
#include "core/store/record.h"
#include "tests/core/store/large_record.h"
#include "tests/support/no_warnings.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::engine {
namespace {

using ::testing::StartsWith;

TEST(PatternSearch, FindsWhatLiesOnThisMachineAndLearnsOfNewRuns) {
  const testing::TempDir folder;
  PatternPlaces places;
  places.index = folder / "cache/patterns.sqlite";
  places.catalogue = SWAGE_TEST_PATTERNS;
  places.projects = {folder / "project"};
  const auto keyFor = [&places](const retrieval::Question& question) {
    const auto search = PatternSearch::open(places);
    EXPECT_THAT(search, testing::IsOk());
    const auto found = search->find(question);
    EXPECT_THAT(found, testing::IsOk());
    return found->empty() ? std::string() : found->front().entry.key;
  };
  const retrieval::Question won{.text = "won a search on this machine", .limit = 1};
  EXPECT_THAT(keyFor(won), ::testing::Not(StartsWith("record/")));
  EXPECT_EQ(keyFor({.text = "softmax with thread block clusters", .limit = 1}), "catalogue/cuda/row_cluster");
  testing::makeLargeRecord(folder / "project", 50);
  EXPECT_THAT(keyFor(won), StartsWith("record/"));
}

TEST(PatternSearch, TheWindowIsAnsweredOnAnotherThread) {
  const testing::TempDir folder;
  int asked = 0;
  PatternSearchServiceImpl service([&] {
    ++asked;
    PatternPlaces places;
    places.index = folder / "cache/patterns.sqlite";
    places.catalogue = SWAGE_TEST_PATTERNS;
    return places;
  });
  EXPECT_EQ(asked, 0) << "nothing is read before somebody asks";
  for (int i = 0; i < 2; ++i) {
    auto future = service.search("softmax with thread block clusters");
    future.waitForFinished();
    const auto found = future.result();
    ASSERT_THAT(found, testing::IsOk());
    ASSERT_FALSE((*found)->empty());
    EXPECT_EQ((*found)->front().key, "catalogue/cuda/row_cluster");
    EXPECT_FALSE((*found)->front().body.empty());
  }
  EXPECT_EQ(asked, 1);
}

TEST(PatternSearch, WhatCannotBeRankedOnceMoreIsFoundAllTheSame) {
  const testing::TempDir folder;
  const auto places = [&] {
    PatternPlaces found;
    found.index = folder / "cache/patterns.sqlite";
    found.catalogue = SWAGE_TEST_PATTERNS;
    return found;
  };
  const auto keys = [](PatternSearchServiceImpl& service) {
    auto future = service.search("softmax with thread block clusters");
    future.waitForFinished();
    const auto found = future.result();
    EXPECT_THAT(found, testing::IsOk());
    std::vector<std::string> all;
    for (const domain::PatternEntry& entry : **found) {
      all.push_back(entry.key);
    }
    return all;
  };
  PatternSearchServiceImpl alone(places);
  const std::vector<std::string> ownOrder = keys(alone);
  testing::expectWarnings();
  PatternSearchServiceImpl failing(places, [](const auto&, auto&, const auto&) {
    return Result<>(Error(ErrorKind::Environment, "nobody answers"));
  });
  EXPECT_EQ(keys(failing), ownOrder);
  PatternSearchServiceImpl turning(places, [](const std::string& question, auto& found, const auto&) {
    EXPECT_EQ(question, "softmax with thread block clusters");
    std::reverse(found.begin(), found.end());
    return Result<>();
  });
  EXPECT_NE(keys(turning), ownOrder);
}

TEST(RelativeKernels, AWinnerOnAnotherDeviceIsFoundByItsTask) {
  const testing::TempDir folder;
  testing::makeLargeRecord(folder / "project", 50);
  const std::vector<std::filesystem::path> projects{folder / "nothing", folder / "project"};
  store::RunRow run;
  {
    const auto record = store::Record::open(folder / "project", store::Record::Mode::ReadOnly);
    ASSERT_THAT(record, testing::IsOk());
    run = record->runs()->front();
  }
  EXPECT_FALSE(relativeIn(projects, run.taskId, run.device)) << "of the same device";
  domain::DeviceInfo other = run.device;
  other.architecture = "other";
  EXPECT_FALSE(relativeIn(projects, "another task", other));
  const auto found = relativeIn(projects, run.taskId, other);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->device, run.deviceName);
  EXPECT_FALSE(found->source.empty());
  EXPECT_EQ(found->speedup, run.bestSpeedup.value);

  const auto meanwhile = relativesMeanwhile([projects] { return projects; });
  ASSERT_TRUE(testing::waitFor([&] { return meanwhile(run.taskId, other).has_value(); }));
  EXPECT_EQ(meanwhile(run.taskId, other)->source, found->source);
}

TEST(PatternSearch, StandardPlacesAreThoseOfTheInstallation) {
  process::Locations locations;
  locations.patterns = "/somewhere/patterns";
  locations.rules = "/somewhere/resources/rules";
  locations.python = "/env/bin/python";
  const PatternPlaces places = PatternPlaces::standard(locations);
  EXPECT_EQ(places.catalogue, "/somewhere/patterns");
  EXPECT_EQ(places.dataSheets, "/somewhere/resources/devices");
  EXPECT_EQ(places.python, "/env/bin/python");
  EXPECT_EQ(places.index.filename(), "patterns.sqlite");
}

}  // namespace
}  // namespace swage::engine
