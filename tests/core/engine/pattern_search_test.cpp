// SPDX-License-Identifier: Apache-2.0
#include "core/engine/pattern_search.h"

#include <gmock/gmock.h>

#include "core/engine/pattern_search_service_impl.h"
#include "tests/core/store/large_record.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

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
