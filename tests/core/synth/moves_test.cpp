// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/synth/genome_moves.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"
#include "tests/support/result_matchers.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::Language;
using domain::OperatorKind;
using swage::testing::IsError;
using Type = domain::ScalarType;

domain::Graph softmaxChain() {
  GraphBuilder b;
  const auto x = b.input({256, 4096});
  const auto y = b.input({256, 4096});
  b.output(b.mul(b.softmax(b.mul(b.relu(b.add(x, y)), 0.5), -1), y));
  return b.graph();
}

domain::Graph normAndLoss() {
  GraphBuilder b;
  const auto x = b.input({64, 1024});
  const auto weight = b.input({1024});
  const auto bias = b.input({1024});
  const auto target = b.input({64}, Type::Int64);
  const auto normal = b.like("aten.layer_norm.default", x, {listArg({1024}), arg(weight), arg(bias), arg(1e-5)});
  const auto active = b.like("aten.gelu.default", normal);
  const auto mixed = b.call("aten.mm.default", {arg(active), arg(b.input({1024, 128}))}, {64, 128});
  b.output(b.call("aten.cross_entropy_loss.default", {arg(b.relu(mixed)), arg(target), noArg(), arg(1)}, {}));
  b.output(b.call("aten.max.dim", {arg(mixed), arg(1), arg(false)}, {64}));
  return b.graph();
}

domain::Graph columnsAndHalves() {
  GraphBuilder b;
  const auto x = b.input({8, 64, 96}, Type::Float16);
  const auto shown = b.silu(x);
  b.output(b.like("aten.sigmoid.default", b.softmax(shown, 1)));
  b.output(b.call("aten.mean.dim", {arg(shown), listArg({1}), arg(false)}, {8, 96}, Type::Float16));
  b.output(b.call("aten.gt.Scalar", {arg(shown), arg(0.5)}, {8, 64, 96}, Type::Bool));
  return b.graph();
}

// 1 - mean of the cosines of rows: its last operation is a region of one element, which has no axes.
domain::Graph cosineLoss() {
  GraphBuilder b;
  const auto normalised = [&b](domain::ValueId x) {
    return b.like(
        "aten.div.Tensor", x,
        {arg(b.call("aten.linalg_vector_norm.default", {arg(x), arg(2.0), listArg({-1}), arg(true)}, {60, 1}))});
  };
  const auto x = b.input({60, 96});
  const auto y = b.input({60, 96});
  const auto cosines = b.call("aten.sum.dim_IntList", {arg(b.mul(normalised(x), normalised(y))), listArg({-1})}, {60});
  const auto mean = b.call("aten.mean.default", {arg(cosines)}, {});
  b.output(b.like("aten.rsub.Scalar", mean, {arg(1.0)}));
  return b.graph();
}

struct Case {
  std::string name;
  domain::Graph (*graph)();
  Language language;
  friend void PrintTo(const Case& self, std::ostream* out) { *out << self.name; }
};

constexpr OperatorKind kKinds[] = {OperatorKind::Parameter, OperatorKind::Split, OperatorKind::Merge,
                                   OperatorKind::PatternSwap, OperatorKind::Crossover};

class Moves : public ::testing::TestWithParam<Case> {
 protected:
  Moves()
      : m_device(device(GetParam().language)),
        m_lab(GetParam().graph()),
        m_synthesizer(makeSynthesizer(m_lab.graph(), m_device)) {}

  // Legal by the rules themselves, not by the function that the moves ask.
  void expectLegal(const Genome& genome) const {
    std::set<int> covered;
    int previous = -1;
    for (const domain::RegionGene& gene : genome.regions) {
      ASSERT_FALSE(gene.nodes.empty());
      EXPECT_GT(gene.nodes.front(), previous);
      previous = gene.nodes.front();
      for (const int operation : gene.nodes) {
        EXPECT_TRUE(covered.insert(operation).second) << "operation " << operation << " is in two regions";
      }
      expectLegalParameters(gene);
    }
    const OperationGraph& operations = m_lab.operations();
    for (std::size_t node = 0; node < operations.operationCount.size(); ++node) {
      int count = 0;
      for (int i = 0; i < operations.operationCount[node]; ++i) {
        count += static_cast<int>(covered.count(*operations.firstOperation[node] + i));
      }
      EXPECT_TRUE(count == 0 || count == operations.operationCount[node]) << "node " << node << " is covered in part";
    }
    const auto program = m_synthesizer->realise(genome);
    ASSERT_TRUE(program.has_value()) << program.error().message() << "\n" << domain::canonicalText(genome);
    EXPECT_EQ(domain::findDefect(program->plan), "") << domain::canonicalText(genome);
  }

  void expectLegalParameters(const domain::RegionGene& gene) const {
    const patterns::Pattern* pattern = catalogue().find(GetParam().language, gene.pattern);
    ASSERT_NE(pattern, nullptr) << gene.pattern;
    EXPECT_EQ(gene.parameters.size(), pattern->parameters.size());
    for (const auto& [name, value] : gene.parameters) {
      const patterns::Parameter* parameter = pattern->parameter(name);
      ASSERT_NE(parameter, nullptr) << name;
      EXPECT_THAT(parameter->values, ::testing::Contains(value)) << name;
    }
  }

  // A walk of random moves; what it met on its way.
  std::vector<Genome> walk(std::uint64_t seed, int steps) const {
    Random random(seed);
    std::vector<Genome> met{m_synthesizer->fresh(random)};
    for (int step = 0; step < steps; ++step) {
      const OperatorKind kind = random.pick(std::span<const OperatorKind>(kKinds));
      const Genome other = m_synthesizer->fresh(random);
      auto next = m_synthesizer->vary(kind, met.back(), &other, nullptr, random);
      met.push_back(next ? std::move(*next) : met.back());
    }
    return met;
  }

  domain::DeviceInfo m_device;
  Lab m_lab;
  std::unique_ptr<Synthesizer> m_synthesizer;
};

TEST_P(Moves, StartFromLegalSeeds) {
  const std::vector<Genome> seeds = seedsWithKernels(*m_synthesizer);
  ASSERT_FALSE(seeds.empty());
  for (const Genome& seed : seeds) {
    EXPECT_FALSE(seed.regions.empty());
    expectLegal(seed);
  }
}

TEST_P(Moves, LeadFromLegalGenomesToLegalGenomesOnly) {
  std::size_t different = 0;
  const std::vector<Genome> met = walk(20240917, 300);
  for (std::size_t i = 0; i < met.size() && !HasFatalFailure(); ++i) {
    if (i == 0 || met[i] != met[i - 1]) {
      ++different;
      expectLegal(met[i]);
    }
  }
  EXPECT_GT(different, 100U) << "most moves were not applicable";
}

TEST_P(Moves, AreTheSameForTheSameSeed) {
  EXPECT_EQ(walk(7, 60), walk(7, 60));
  EXPECT_NE(walk(7, 60), walk(8, 60));
}

TEST_P(Moves, ReachEveryOperator) {
  Random random(3);
  std::map<OperatorKind, int> successes;
  for (const Genome& genome : walk(3, 40)) {
    const Genome other = m_synthesizer->fresh(random);
    for (const OperatorKind kind : kKinds) {
      const auto changed = m_synthesizer->vary(kind, genome, &other, nullptr, random);
      EXPECT_TRUE(!changed || *changed != genome);
      successes[kind] += changed ? 1 : 0;
    }
  }
  for (const OperatorKind kind : kKinds) {
    // Where one pattern only fits each region there is nothing to swap.
    if (kind != OperatorKind::PatternSwap || GetParam().graph != columnsAndHalves) {
      EXPECT_GT(successes[kind], 0) << domain::name(kind);
    }
  }
}

TEST_P(Moves, OfANeighbourhoodChangeOneParameterByOneStep) {
  // Of some seeds, far apart in their order: all of them take minutes under a sanitizer.
  constexpr std::size_t kTried = 24;
  const std::vector<Genome> seeds = m_synthesizer->seeds();
  const std::size_t step = std::max<std::size_t>(1, seeds.size() / kTried);
  for (std::size_t at = 0; at < seeds.size(); at += step) {
    const Genome& seed = seeds[at];
    const std::vector<Genome> around = m_synthesizer->neighbours(seed);
    for (const Genome& next : around) {
      EXPECT_EQ(domain::structureText(next), domain::structureText(seed));
      // The same in all twins.
      std::set<std::pair<std::string, std::ptrdiff_t>> changes;
      for (std::size_t i = 0; i < seed.regions.size(); ++i) {
        for (const auto& [name, value] : seed.regions[i].parameters) {
          const std::int64_t now = next.regions[i].parameters.at(name);
          const auto& values = catalogue().find(GetParam().language, seed.regions[i].pattern)->parameter(name)->values;
          const auto from = std::find(values.begin(), values.end(), value);
          const auto to = std::find(values.begin(), values.end(), now);
          if (to != from) {
            changes.emplace(name, std::abs(to - from));
          }
        }
      }
      ASSERT_EQ(changes.size(), 1U);
      EXPECT_EQ(changes.begin()->second, 1);
      expectLegal(next);
    }
  }
}

TEST_P(Moves, DescribeGenomesOfOneStructureWithEquallyManyNumbers) {
  std::map<std::string, std::size_t> lengths;
  for (const Genome& genome : walk(11, 120)) {
    const std::size_t length = m_synthesizer->features(genome).size();
    EXPECT_GT(length, 0U);
    const auto [known, added] = lengths.emplace(domain::structureText(genome), length);
    EXPECT_EQ(known->second, length) << known->first;
    for (const Genome& next : m_synthesizer->neighbours(genome)) {
      EXPECT_EQ(m_synthesizer->features(next).size(), length);
      EXPECT_NE(m_synthesizer->features(next), m_synthesizer->features(genome));
    }
  }
}

TEST_P(Moves, RefuseGenomesThatDoNotFit) {
  Genome genome = seedsWithKernels(*m_synthesizer).front();
  Genome unknownPattern = genome;
  unknownPattern.regions[0].pattern = "loom";
  Genome badParameter = genome;
  badParameter.regions[0].parameters.begin()->second = 12345;
  Genome missingParameter = genome;
  missingParameter.regions[0].parameters.clear();
  Genome twice = genome;
  twice.regions.push_back(genome.regions[0]);
  Genome nothing = genome;
  nothing.regions[0].nodes.clear();
  for (const Genome& bad : {unknownPattern, badParameter, missingParameter, twice, nothing}) {
    EXPECT_THAT(m_synthesizer->realise(bad), IsError(ErrorKind::InvalidInput, ::testing::Not("")));
  }
}

TEST_P(Moves, RefuseOperationsThatTheGraphDoesNotHave) {
  for (const int operation : {-1, 1000}) {
    Genome outside = seedsWithKernels(*m_synthesizer).front();
    outside.regions[0].nodes = {operation};
    EXPECT_THAT(m_synthesizer->realise(outside), IsError(ErrorKind::InvalidInput, ::testing::Not("")));
  }
}

TEST_P(Moves, ReachEveryCellThatAGenomeAimsAt) {
  const search::ReachableCells cells = m_synthesizer->reachableCells();
  const Fusion fusion(m_lab.graph(), m_lab.operations(), [](const Region& region) {
    return StrategyTable::builtIn().accepts(GetParam().language, region);
  });
  KnownFits known;
  const GenomeMoves moves(fusion, m_lab.operations(), catalogue(), StrategyTable::builtIn(), m_device, known);
  for (const Genome& genome : m_synthesizer->seeds()) {
    const domain::Cell cell = moves.predictCell(genome);
    EXPECT_TRUE(cells[static_cast<std::size_t>(cell.index())]) << cell.name() << " " << domain::canonicalText(genome);
  }
}

TEST(ReachableCells, AreThoseThatTheCatalogueHasStrategiesFor) {
  // No strategy computes elements in tensor cores, though the device has some.
  GraphBuilder b;
  b.output(b.relu(b.input({4096, 4096})));
  const domain::DeviceInfo gpu = device(Language::CudaCpp);
  const auto cells = makeSynthesizer(b.graph(), gpu)->reachableCells();
  int reached = 0;
  for (int index = 0; index < domain::kCellCount; ++index) {
    const domain::Cell cell = domain::Cell::fromIndex(index);
    if (cells[static_cast<std::size_t>(index)]) {
      ++reached;
      EXPECT_NE(cell.arithmetic, domain::Arithmetic::TensorCore) << cell.name();
      EXPECT_TRUE(domain::isReachable(cell, gpu)) << cell.name();
    }
  }
  EXPECT_GT(reached, 1);
  EXPECT_TRUE(domain::isReachable(*domain::Cell::parse("A1B2C1"), gpu));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& [language, suffix] : {std::pair(Language::Cpp, "OnCpu"), std::pair(Language::CudaCpp, "OnCuda")}) {
    all.push_back({std::string("SoftmaxChain") + suffix, softmaxChain, language});
    all.push_back({std::string("NormAndLoss") + suffix, normAndLoss, language});
    all.push_back({std::string("ColumnsAndHalves") + suffix, columnsAndHalves, language});
    all.push_back({std::string("CosineLoss") + suffix, cosineLoss, language});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Graphs, Moves, ::testing::ValuesIn(cases()), [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
