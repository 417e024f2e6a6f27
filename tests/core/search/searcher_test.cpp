// SPDX-License-Identifier: Apache-2.0
#include "core/search/searcher.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "tests/core/search/fake_space.h"

namespace swage::search::testing {
namespace {

using domain::OperatorKind;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

const FakeSpace& space() {
  static const FakeSpace shared({.nodes = 3, .patterns = 3, .parameters = 2, .levels = 5, .seeds = 3});
  return shared;
}

std::vector<std::string> texts(const std::vector<Step>& steps) {
  std::vector<std::string> lines;
  for (const Step& step : steps) {
    lines.push_back(text(step.proposal));
  }
  return lines;
}

std::vector<std::string> archiveTexts(const Searcher& searcher) {
  std::vector<std::string> lines;
  const Archive& archive = searcher.archive();
  for (int island = 0; island < archive.islandCount(); ++island) {
    for (int index = 0; index < domain::kCellCount; ++index) {
      const CellState& state = archive.at(island, cell(index));
      if (state.tried > 0 || state.elite) {
        lines.push_back(fmt::format("{} {} tried {} correct {} elite {} {}", island, index, state.tried, state.correct,
                                    state.elite ? state.elite->candidate.value() : -1,
                                    state.elite ? state.elite->timeNs : 0.0));
      }
    }
  }
  return lines;
}

std::vector<std::string> creditTexts(const Searcher& searcher) {
  std::vector<std::string> lines;
  for (const OperatorCredit& credit : searcher.credits()) {
    lines.push_back(fmt::format("{} {} {} {} {:.6f}", domain::name(credit.name), credit.proposed, credit.correct,
                                credit.improved, credit.weight));
  }
  return lines;
}

Outcome correct(std::int64_t candidate, int cellIndex, double time) {
  return {Outcome::Kind::Correct, domain::CandidateId(candidate), cell(cellIndex), time,
          time > 0.0 ? domain::Speedup::exactly(1000.0 / time) : domain::Speedup()};
}

TEST(Searcher, LeavesSeedsThatAreEstimatedFarBehindForTheEnd) {
  FakeSpace estimated({.nodes = 1, .patterns = 3, .parameters = 0, .levels = 1, .seeds = 3});
  const std::map<std::string, double> seconds{{"p0", 1.0}, {"p1", 2.5}, {"p2", 1.9}};
  estimated.seconds = [&](const domain::Genome& genome) { return seconds.at(genome.regions.front().pattern); };
  Searcher searcher(estimated, {.islands = 1});
  std::vector<std::string> patterns;
  for (int i = 0; i < 3; ++i) {
    const auto proposal = searcher.next();
    ASSERT_TRUE(proposal.has_value());
    patterns.push_back(proposal->genome->regions.front().pattern);
    searcher.report(proposal->id, correct(i, 1, 10.0 + i));
  }
  EXPECT_THAT(patterns, ElementsAre("p0", "p2", "p1"));
}

TEST(Searcher, GoesOnFromTheFirstOfManySeedsWhoseTimesAreEstimated) {
  FakeSpace many({.nodes = 1, .patterns = 30, .parameters = 1, .levels = 3, .seeds = 30});
  const auto seedsAmong = [&many](int count) {
    Searcher searcher(many, {.islands = 1});
    int seeds = 0;
    for (const Step& step : drive(searcher, count)) {
      seeds += step.proposal.made_by == OperatorKind::Synthesis ? 1 : 0;
    }
    return seeds;
  };
  EXPECT_EQ(seedsAmong(30), 30) << "in whatever order they are";
  many.seconds = [](const domain::Genome& /*genome*/) { return 1.0; };
  EXPECT_LT(seedsAmong(30), 26);
}

// Seeds with the parameter that patterns of tensor cores have: 3 multiplies floats as one half each.
class SpaceOfModes final : public GenomeSpace {
 public:
  [[nodiscard]] std::vector<domain::Genome> seeds() const override {
    std::vector<domain::Genome> seeds;
    for (const auto& [mode, tile] : std::vector<std::pair<int, int>>{{3, 1}, {3, 2}, {3, 3}, {3, 4}, {1, 1}, {1, 2}}) {
      domain::Genome genome;
      genome.regions.push_back({{0}, "p0", {{"mode", mode}, {"tile", tile}}});
      seeds.push_back(std::move(genome));
    }
    return seeds;
  }
  [[nodiscard]] domain::Genome fresh(Random& /*random*/) const override { return seeds().front(); }
  [[nodiscard]] std::optional<domain::Genome> vary(domain::OperatorKind /*kind*/, const domain::Genome& /*genome*/,
                                                   const domain::Genome* /*other*/, const domain::Cell* /*aim*/,
                                                   Random& /*random*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::vector<domain::Genome> neighbours(const domain::Genome& /*genome*/) const override { return {}; }
  [[nodiscard]] std::vector<double> features(const domain::Genome& /*genome*/) const override { return {}; }
};

std::vector<std::int64_t> modesWhereHalvesEnd(Outcome::Kind kind) {
  const SpaceOfModes modesSpace;
  Searcher searcher(modesSpace, {.islands = 1});
  std::vector<std::int64_t> modes;
  for (int i = 0; i < 6; ++i) {
    const auto proposal = searcher.next();
    if (!proposal) {
      break;
    }
    modes.push_back(proposal->genome->regions.front().parameters.at("mode"));
    Outcome outcome = correct(i, 1, 10.0 + i);
    outcome.kind = modes.back() == 3 ? kind : outcome.kind;
    searcher.report(proposal->id, outcome);
  }
  return modes;
}

TEST(Searcher, PutsOffWhatMultipliesHalvesWhereThatIsWrong) {
  EXPECT_THAT(modesWhereHalvesEnd(Outcome::Kind::Failed), ElementsAre(3, 3, 3, 1, 1, 3));
  EXPECT_THAT(modesWhereHalvesEnd(Outcome::Kind::Correct), ElementsAre(3, 3, 3, 3, 1, 1));
}

TEST(Searcher, SeldomProposesStructuresThatAreEstimatedFarBehind) {
  FakeSpace estimated({.nodes = 4, .patterns = 2, .parameters = 2, .levels = 5, .seeds = 1});
  const auto isSlow = [](const domain::Genome& genome) {
    return std::any_of(genome.regions.begin(), genome.regions.end(),
                       [](const domain::RegionGene& gene) { return gene.pattern == "p1"; });
  };
  const auto slowAmong = [&](int count) {
    Searcher searcher(estimated, {.islands = 1, .aimedShare = 0.0});
    const std::vector<Step> steps = drive(searcher, count);
    return std::count_if(steps.begin(), steps.end(), [&](const Step& step) { return isSlow(*step.proposal.genome); });
  };
  const auto before = slowAmong(60);
  estimated.seconds = [&](const domain::Genome& genome) { return isSlow(genome) ? 5.0 : 1.0; };
  EXPECT_LT(slowAmong(60), before * 2 / 3);
}

TEST(Searcher, DealsTheSeedsToTheIslandsFirst) {
  Searcher searcher(space(), {.islands = 2});
  EXPECT_THAT(texts(drive(searcher, 3)),
              ElementsAre("0 synthesis @0 0,1,2:p0(a=2,b=2) <>", "1 synthesis @1 0,1,2:p1(a=2,b=2) <>",
                          "2 synthesis @0 0,1,2:p2(a=2,b=2) <>"));
}

TEST(Searcher, GivesTheSameProposalsForTheSameSeedAndOutcomes) {
  Searcher first(space(), {.seed = 5});
  Searcher second(space(), {.seed = 5});
  Searcher other(space(), {.seed = 6});
  const auto lines = texts(drive(first, 120));
  EXPECT_EQ(lines.size(), 120U);
  EXPECT_EQ(lines, texts(drive(second, 120)));
  EXPECT_NE(lines, texts(drive(other, 120)));
}

// Pinned, so that a change of the sequence is a decision and not an accident: old records would go on differently.
TEST(Searcher, KeepsItsSequence) {
  Searcher searcher(space(), {.seed = 1});
  const std::vector<std::string> golden{
      "0 synthesis @0 0,1,2:p0(a=2,b=2) <>",
      "1 synthesis @1 0,1,2:p1(a=2,b=2) <>",
      "2 synthesis @2 0,1,2:p2(a=2,b=2) <>",
      "3 parameter @1 0,1,2:p1(a=1,b=2) <1001>",
      "4 parameter @0 0,1,2:p0(a=2,b=3) <1000>",
      "5 aimed @1 0,1,2:p2(a=1,b=2) <1003> -> A1B1C1",
      "6 parameter @1 0,1,2:p1(a=0,b=2) <1003>",
      "7 parameter @0 0,1,2:p0(a=1,b=2) <1000>",
      "8 parameter @0 0,1,2:p0(a=1,b=3) <1007>",
      "9 parameter @0 0,1,2:p0(a=0,b=2) <1007>",
      "10 synthesis @2 0,1,2:p1(a=0,b=0) <>",
      "11 parameter @1 0,1,2:p1(a=1,b=1) <1003>",
      "12 split @0 0,1:p0(a=1,b=2) 2:p0(a=1,b=2) <1007>",
      "13 parameter @0 0,1,2:p0(a=1,b=1) <1007>",
      "14 split @2 0,1:p1(a=0,b=0) 2:p1(a=0,b=0) <1010>",
      "15 synthesis @3 0:p0(a=3,b=1) 1:p1(a=4,b=3) 2:p2(a=0,b=3) <>",
      "16 aimed @0 0,1,2:p0(a=4,b=1) <1013> -> A0B0C2",
      "17 parameter @0 0,1,2:p0(a=0,b=1) <1013>",
      "18 split @2 0,1:p2(a=2,b=2) 2:p2(a=2,b=2) <1002>",
      "19 synthesis @3 0:p0(a=1,b=2) 1,2:p0(a=1,b=4) <>",
      "20 synthesis @0 0,1:p0(a=1,b=4) 2:p1(a=2,b=1) <>",
      "21 parameter @0 0,1,2:p0(a=0,b=3) <1007>",
      "22 split @2 0:p1(a=0,b=0) 1:p1(a=0,b=0) 2:p1(a=0,b=0) <1014>",
      "23 aimed @3 0:p0(a=3,b=1) 1,2:p1(a=4,b=3) <1015> -> A3B1C0",
  };
  EXPECT_THAT(texts(drive(searcher, static_cast<int>(golden.size()))), ElementsAreArray(golden));
}

TEST(Searcher, NeverProposesTheSameGenomeTwice) {
  Searcher searcher(space(), {.seed = 2});
  std::set<std::string> seen;
  for (const Step& step : drive(searcher, 400)) {
    EXPECT_TRUE(seen.insert(domain::canonicalText(*step.proposal.genome)).second) << text(step.proposal);
    EXPECT_TRUE(searcher.hasTried(*step.proposal.genome));
  }
  EXPECT_EQ(searcher.triedTexts().size(), 400U);
}

TEST(Searcher, UsesEveryOperator) {
  std::map<domain::ProposerName, int> used;
  for (const std::uint64_t seed : {1U, 3U}) {  // in one search, one of them may earn nothing and get no turn
    Searcher searcher(space(), {.seed = seed});
    for (const Step& step : drive(searcher, 400)) {
      ++used[step.proposal.made_by];
      EXPECT_EQ(step.proposal.parents.size(), step.proposal.made_by == OperatorKind::Synthesis   ? 0U
                                              : step.proposal.made_by == OperatorKind::Crossover ? 2U
                                                                                                 : 1U);
      EXPECT_EQ(step.proposal.aim.has_value(), step.proposal.made_by == OperatorKind::Aimed);
    }
  }
  EXPECT_EQ(used.size(), 7U);
  EXPECT_GT(used[OperatorKind::Parameter], 400);
}

TEST(Searcher, AimsAtEmptyReachableCellsOnly) {
  const FakeSpace fake({.nodes = 3, .patterns = 3, .parameters = 2, .levels = 5, .seeds = 3});
  SearchOptions options{.seed = 4, .aimedShare = 1.0};
  for (int index = 9; index < domain::kCellCount; ++index) {
    options.reachable[static_cast<std::size_t>(index)] = false;
  }
  Searcher searcher(fake, options);
  int aimed = 0;
  for (int i = 0; i < 100; ++i) {
    const auto proposal = searcher.next();
    ASSERT_TRUE(proposal.has_value());
    if (proposal->aim) {
      ++aimed;
      EXPECT_LT(proposal->aim->index(), 9);
      EXPECT_EQ(searcher.archive().best(*proposal->aim), nullptr);
    }
    searcher.report(proposal->id, measure(*proposal->genome, domain::CandidateId(i)));
  }
  EXPECT_GT(aimed, 10);
  EXPECT_GE(fake.aims().size(), static_cast<std::size_t>(aimed));
}

TEST(Searcher, AcceptsReportsInAnyOrder) {
  Searcher searcher(space(), {.seed = 7});
  std::vector<Proposal> out;
  std::set<std::string> seen;
  Random order(1);
  int reported = 0;
  while (reported < 200) {
    while (out.size() < 8) {
      auto proposal = searcher.next();
      ASSERT_TRUE(proposal.has_value());
      EXPECT_TRUE(seen.insert(domain::canonicalText(*proposal->genome)).second);
      out.push_back(std::move(*proposal));
    }
    const auto chosen = out.begin() + static_cast<std::ptrdiff_t>(order.below(out.size()));
    searcher.report(chosen->id, measure(*chosen->genome, domain::CandidateId(reported)));
    out.erase(chosen);
    ++reported;
  }
  EXPECT_EQ(searcher.outstanding(), 7U);
  EXPECT_GT(searcher.archive().filledCells(), 4);
}

TEST(Searcher, IgnoresReportsOfWhatIsNotOut) {
  Searcher searcher(space(), {});
  const auto proposal = searcher.next();
  searcher.report(ProposalId(77), correct(1, 0, 10.0));
  EXPECT_EQ(searcher.archive().filledCells(), 0);
  searcher.report(proposal->id, correct(1, 0, 10.0));
  searcher.report(proposal->id, correct(1, 1, 5.0));
  EXPECT_EQ(searcher.archive().filledCells(), 1);
  EXPECT_EQ(searcher.outstanding(), 0U);
}

TEST(Searcher, TakesEachKindOfOutcomeForWhatItIs) {
  Searcher searcher(space(), {.islands = 1});
  const auto report = [&](Outcome outcome) { searcher.report(searcher.next()->id, outcome); };
  report(correct(1, 4, 10.0));
  EXPECT_EQ(searcher.eliteSpeedup(cell(4)), domain::Speedup::exactly(100.0));
  EXPECT_FALSE(searcher.eliteSpeedup(cell(5)).isKnown());
  report({Outcome::Kind::ScreenedOut, domain::CandidateId(2), cell(4), 5.0, domain::Speedup::exactly(200.0)});
  report({Outcome::Kind::Failed, domain::CandidateId(3), cell(4), 0.0, {}});
  report({Outcome::Kind::Duplicate, domain::CandidateId(4), cell(4), 0.0, {}});
  report(correct(5, 4, 0.0));  // no real time: counts as failed
  const CellState& state = searcher.archive().at(0, cell(4));
  EXPECT_EQ(state.elite->candidate, domain::CandidateId(1));
  EXPECT_EQ(state.tried, 4);
  EXPECT_EQ(state.correct, 2);
}

TEST(Searcher, CoversASmallSpaceAndThenSaysSo) {
  const FakeSpace small({.nodes = 2, .patterns = 2, .parameters = 1, .levels = 3, .seeds = 1});
  Searcher searcher(small, {.seed = 1});
  const auto steps = drive(searcher, 1000);
  EXPECT_EQ(steps.size(), 2U * 3U + 4U * 9U);  // one region, or two
  EXPECT_FALSE(searcher.next().has_value());
}

TEST(Searcher, CoversAGridInWhichEverythingFails) {
  const FakeSpace grid({.nodes = 1, .patterns = 1, .parameters = 3, .levels = 8, .seeds = 1});
  Searcher searcher(grid, {.seed = 1});
  const auto steps = drive(searcher, 1000, [](const auto&, auto id) {
    return Outcome{Outcome::Kind::Failed, id, std::nullopt, 0.0, {}};
  });
  EXPECT_EQ(steps.size(), 512U);
  EXPECT_FALSE(searcher.next().has_value());
}

TEST(Searcher, GoesOnWhenAnOutcomeOpensANewNeighbourhood) {
  // Everything there is to vary and to synthesise is out, but nothing has come back yet.
  const FakeSpace single({.nodes = 1, .patterns = 1, .parameters = 1, .levels = 2, .seeds = 1});
  Searcher searcher(single, {});
  const auto first = searcher.next();
  const auto second = searcher.next();
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(searcher.next().has_value());
  EXPECT_EQ(searcher.outstanding(), 2U);
  searcher.report(first->id, correct(1, 0, 2.0));
  searcher.report(second->id, correct(2, 0, 1.0));
  EXPECT_FALSE(searcher.next().has_value());
  EXPECT_EQ(searcher.archive().bestOverall()->candidate, domain::CandidateId(2));
}

TEST(Searcher, WorksWithoutSeeds) {
  const FakeSpace seedless({.nodes = 2, .patterns = 2, .parameters = 2, .levels = 4, .seeds = 0});
  Searcher searcher(seedless, {});
  EXPECT_EQ(searcher.next()->made_by, OperatorKind::Synthesis);
  EXPECT_EQ(drive(searcher, 50).size(), 50U);
}

TEST(Searcher, MovesOptionsIntoTheirRange) {
  Searcher searcher(space(), {.islands = 0, .migrationInterval = -1, .aimedShare = -3.0, .localSearchShare = 7.0});
  EXPECT_EQ(searcher.archive().islandCount(), 1);
  EXPECT_EQ(drive(searcher, 60).size(), 60U);
}

TEST(Searcher, MigratesTheBestEliteToTheNextIsland) {
  Searcher searcher(space(), {.islands = 3, .migrationInterval = 3});
  searcher.report(searcher.next()->id, correct(1, 0, 10.0));  // island 0
  searcher.report(searcher.next()->id, correct(2, 1, 20.0));  // island 1
  EXPECT_FALSE(searcher.archive().at(1, cell(0)).elite.has_value());
  searcher.report(searcher.next()->id, correct(3, 2, 30.0));  // island 2, third report
  EXPECT_EQ(searcher.archive().at(1, cell(0)).elite->candidate, domain::CandidateId(1));
  EXPECT_EQ(searcher.archive().at(2, cell(1)).elite->candidate, domain::CandidateId(2));
  EXPECT_EQ(searcher.archive().at(0, cell(2)).elite->candidate, domain::CandidateId(3));
  EXPECT_FALSE(searcher.archive().at(2, cell(0)).elite.has_value());  // one step at a time
  EXPECT_EQ(searcher.archive().at(1, cell(0)).tried, 0);
  EXPECT_EQ(searcher.exchange().migrations, 1);
  EXPECT_EQ(searcher.exchange().adopted, 3);
  EXPECT_EQ(searcher.exchange().reportsSinceImprovement, 0);
}

TEST(Searcher, MigratesEarlyWhenNothingImproves) {
  Searcher searcher(space(), {.islands = 2, .migrationInterval = 8});
  const auto fail = [&] {
    searcher.report(searcher.next()->id, {Outcome::Kind::Failed, domain::CandidateId(9), std::nullopt, 0.0, {}});
  };
  searcher.report(searcher.next()->id, correct(1, 0, 10.0));
  for (int i = 0; i < 3; ++i) {
    fail();
    EXPECT_FALSE(searcher.archive().at(1, cell(0)).elite.has_value());
  }
  fail();
  EXPECT_TRUE(searcher.archive().at(1, cell(0)).elite.has_value());
  fail();
  EXPECT_EQ(searcher.exchange().migrations, 1);
  EXPECT_EQ(searcher.exchange().reportsSinceImprovement, 5) << "new blood is no improvement";
}

TEST(Searcher, GivesAllToSynthesisUntilThereIsAnElite) {
  Searcher searcher(space(), {.aimedShare = 0.25, .localSearchShare = 0.6});
  const auto weight = [&](OperatorKind kind) {
    const auto credits = searcher.credits();
    return std::find_if(credits.begin(), credits.end(), [kind](const auto& c) { return c.name == kind; })->weight;
  };
  EXPECT_EQ(weight(OperatorKind::Synthesis), 1.0);
  EXPECT_EQ(weight(OperatorKind::Parameter), 0.0);
  drive(searcher, 1);
  EXPECT_DOUBLE_EQ(weight(OperatorKind::Parameter), 0.6);
  EXPECT_DOUBLE_EQ(weight(OperatorKind::Aimed), 0.1);
  EXPECT_NEAR(weight(OperatorKind::Synthesis), 0.3 * 0.2, 1e-12);
}

TEST(Searcher, RestoreGoesOnAsTheFirstRunWouldHave) {
  Searcher first(space(), {.seed = 11});
  const auto steps = drive(first, 150);
  Searcher second(space(), {.seed = 11});
  for (const Step& step : steps) {
    second.restore(step.proposal, step.outcome);
  }
  EXPECT_EQ(archiveTexts(second), archiveTexts(first));
  EXPECT_EQ(creditTexts(second), creditTexts(first));
  EXPECT_EQ(second.triedTexts(), first.triedTexts());
  EXPECT_EQ(texts(drive(second, 50)), texts(drive(first, 50)));
}

TEST(Searcher, RestoreCountsTheSeedsThatHaveHadTheirTurn) {
  FakeSpace many({.nodes = 1, .patterns = 30, .parameters = 1, .levels = 3, .seeds = 30});
  many.seconds = [](const domain::Genome&) { return 1.0; };
  Searcher first(many, {.seed = 11, .islands = 2});
  Searcher second(many, {.seed = 11, .islands = 2});
  for (const Step& step : drive(first, 25)) {
    second.restore(step.proposal, step.outcome);
  }
  EXPECT_EQ(texts(drive(second, 20)), texts(drive(first, 20)));
}

TEST(Searcher, RestoreProposesInterruptedSeedsAgain) {
  Searcher first(space(), {.islands = 2});
  const auto lost = first.next();
  const auto kept = first.next();
  Searcher second(space(), {.islands = 2});
  second.restore(*kept, correct(1, 0, 10.0));
  const auto again = second.next();
  EXPECT_EQ(text(*again->genome), text(*lost->genome));
  EXPECT_EQ(again->island, lost->island);
  EXPECT_GT(again->id, kept->id);
}

TEST(Searcher, RestoreTakesInCandidatesMadeElsewhere) {
  Searcher searcher(space(), {.islands = 2});
  Proposal edit;
  edit.genome = space().seeds().front();
  edit.made_by = OperatorKind::Human;
  edit.island = 5;  // of a run with more islands
  searcher.restore(edit, correct(1, 7, 3.0));
  EXPECT_EQ(searcher.archive().at(1, cell(7)).elite->candidate, domain::CandidateId(1));
  const auto next = searcher.next();
  EXPECT_EQ(next->id, ProposalId(0));
  EXPECT_EQ(text(*next->genome), text(space().seeds()[1]));
}

TEST(Searcher, AProgramWithoutAGenomeCompetesAndIsNoParent) {
  Searcher searcher(space(), {.seed = 5, .islands = 1});
  const domain::CandidateId foreign(77);
  Proposal imported;
  imported.made_by = OperatorKind::Coder;
  searcher.restore(imported, correct(77, 7, 0.001));
  ASSERT_EQ(searcher.archive().bestOverall()->candidate, foreign);
  for (int i = 0; i < 300; ++i) {
    const auto proposal = searcher.next();
    ASSERT_TRUE(proposal.has_value());
    EXPECT_TRUE(proposal->genome.has_value());
    EXPECT_THAT(proposal->parents, ::testing::Not(::testing::Contains(foreign)));
    searcher.report(proposal->id, measure(*proposal->genome, domain::CandidateId(1000 + i)));
  }
  EXPECT_EQ(searcher.archive().bestOverall()->candidate, foreign);
}

}  // namespace
}  // namespace swage::search::testing
