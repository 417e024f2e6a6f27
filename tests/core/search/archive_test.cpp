// SPDX-License-Identifier: Apache-2.0
#include "core/search/archive.h"

#include <gmock/gmock.h>

#include "tests/core/search/fake_space.h"

namespace swage::search::testing {
namespace {

using Insertion = Archive::Insertion;

Elite elite(std::int64_t candidate, double time) {
  return {domain::CandidateId(candidate), point({candidate}), time, {100.0 / time, 90.0 / time, 110.0 / time}};
}

TEST(Archive, KeepsTheFasterOfTwo) {
  Archive archive(1);
  EXPECT_EQ(archive.insert(0, cell(3), elite(1, 10.0)), Insertion::NewCell);
  EXPECT_EQ(archive.insert(0, cell(3), elite(2, 11.0)), Insertion::NotBetter);
  EXPECT_EQ(archive.insert(0, cell(3), elite(3, 10.0)), Insertion::NotBetter);
  EXPECT_EQ(archive.insert(0, cell(3), elite(4, 9.0)), Insertion::Improved);
  EXPECT_EQ(archive.at(0, cell(3)).elite->candidate, domain::CandidateId(4));
  EXPECT_EQ(archive.at(0, cell(3)).elite->overEager.low, 90.0 / 9.0);
  EXPECT_EQ(archive.at(0, cell(3)).tried, 4);
  EXPECT_EQ(archive.at(0, cell(3)).correct, 4);
}

TEST(Archive, RanksByTheLowerEndOfTheSpeedup) {
  Archive archive(1);
  const Elite solid{domain::CandidateId(1), point({1}), 10.0, {2.0, 1.9, 2.1}};
  const Elite lucky{domain::CandidateId(2), point({2}), 1.0, {45.0, 0.4, 90.0}};
  EXPECT_EQ(archive.insert(0, cell(3), solid), Insertion::NewCell);
  EXPECT_EQ(archive.insert(0, cell(3), lucky), Insertion::NotBetter);
  archive.insert(0, cell(4), lucky);
  EXPECT_EQ(archive.bestOverall()->candidate, domain::CandidateId(1));
}

TEST(Archive, RemovesACandidateFromEveryIsland) {
  Archive archive(2);
  archive.insert(0, cell(3), elite(1, 10.0));
  archive.adopt(1, cell(3), elite(1, 10.0));
  archive.insert(1, cell(4), elite(2, 12.0));
  archive.remove(domain::CandidateId(1));
  EXPECT_EQ(archive.best(cell(3)), nullptr);
  ASSERT_NE(archive.bestOverall(), nullptr);
  EXPECT_EQ(archive.bestOverall()->candidate, domain::CandidateId(2));
  EXPECT_EQ(archive.at(0, cell(3)).tried, 1) << "it was tried all the same";
  EXPECT_EQ(archive.insert(0, cell(3), elite(3, 20.0)), Insertion::NewCell);
}

TEST(Archive, CountsFailuresOnlyWhereTheCellIsKnown) {
  Archive archive(2);
  archive.countFailure(1, cell(5));
  archive.countFailure(1, std::nullopt);
  archive.countScreenedOut(1, cell(5));
  EXPECT_EQ(archive.at(1, cell(5)).tried, 2);
  EXPECT_EQ(archive.at(1, cell(5)).correct, 1);
  EXPECT_FALSE(archive.at(1, cell(5)).elite.has_value());
  EXPECT_EQ(archive.tried(cell(5)), 2);
  EXPECT_EQ(archive.at(0, cell(5)).tried, 0);
  EXPECT_EQ(archive.filledCells(), 0);
  EXPECT_EQ(archive.bestOverall(), nullptr);
}

TEST(Archive, FindsTheBestOverIslandsAndCells) {
  Archive archive(3);
  archive.insert(0, cell(1), elite(1, 30.0));
  archive.insert(2, cell(1), elite(2, 20.0));
  archive.insert(1, cell(35), elite(3, 25.0));
  EXPECT_EQ(archive.best(cell(1))->candidate, domain::CandidateId(2));
  EXPECT_EQ(archive.best(cell(35))->candidate, domain::CandidateId(3));
  EXPECT_EQ(archive.best(cell(0)), nullptr);
  EXPECT_EQ(archive.bestOverall()->candidate, domain::CandidateId(2));
  EXPECT_EQ(archive.filledCells(), 2);
  ASSERT_EQ(archive.elites().size(), 3U);
  EXPECT_EQ(archive.elites()[1].island, 1);
  EXPECT_EQ(archive.elites()[1].cell, cell(35));
  EXPECT_EQ(archive.elites(0).size(), 1U);
}

TEST(Archive, AdoptsByTheSameRuleWithoutCountingATry) {
  Archive archive(1);
  EXPECT_EQ(archive.adopt(0, cell(0), elite(1, 10.0)), Insertion::NewCell);
  EXPECT_EQ(archive.adopt(0, cell(0), elite(2, 12.0)), Insertion::NotBetter);
  EXPECT_EQ(archive.adopt(0, cell(0), elite(3, 8.0)), Insertion::Improved);
  EXPECT_EQ(archive.at(0, cell(0)).tried, 0);
}

TEST(Archive, HasAtLeastOneIsland) {
  EXPECT_EQ(Archive(0).islandCount(), 1);
}

}  // namespace
}  // namespace swage::search::testing
