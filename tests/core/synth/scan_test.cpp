// SPDX-License-Identifier: Apache-2.0
// What scans on a GPU compute, by the emulation: pieces and tails, both ways, what is read before and what follows.
#include <functional>
#include <limits>
#include <numeric>
#include <ostream>

#include "tests/core/synth/bench.h"
#include "tests/core/synth/emulator.h"

namespace swage::synth {
namespace {

using Changes = std::map<std::string, std::int64_t>;
using domain::Shape;
using Join = std::function<double(double, double)>;

std::size_t countOf(const Shape& shape) {
  return static_cast<std::size_t>(
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<std::int64_t>()));
}

// Running results along a dimension, from its end where `isReversed`.
Numbers scanned(Numbers numbers, const Shape& shape, std::size_t dim, const Join& join, bool isReversed = false) {
  std::size_t stride = 1;
  for (std::size_t i = dim + 1; i < shape.size(); ++i) {
    stride *= static_cast<std::size_t>(shape[i]);
  }
  const auto length = static_cast<std::size_t>(shape[dim]);
  for (std::size_t first = 0; first < numbers.size(); ++first) {
    if (first / stride % length != 0) {
      continue;
    }
    for (std::size_t i = 1; i < length; ++i) {
      const std::size_t at = first + (isReversed ? length - 1 - i : i) * stride;
      numbers[at] = join(numbers[isReversed ? at + stride : at - stride], numbers[at]);
    }
  }
  return numbers;
}

const Join kSum = [](double a, double b) { return a + b; };

// The program of a graph that is one region with this pattern and these parameters.
domain::Program scanProgram(const domain::Graph& graph, const std::string& pattern, const Changes& changes) {
  const auto synthesizer = Synthesizer::create(graph, cudaDevice(), emulatedCatalogue());
  for (domain::Genome genome : (*synthesizer)->seeds()) {
    if (genome.regions.size() != 1 || genome.regions[0].pattern != pattern) {
      continue;
    }
    if (const auto ahead = genome.regions[0].parameters.find("ahead"); ahead != genome.regions[0].parameters.end()) {
      ahead->second = 0;
    }
    for (const auto& [name, value] : changes) {
      genome.regions[0].parameters.at(name) = value;
    }
    auto program = (*synthesizer)->realise(genome);
    EXPECT_TRUE(program.has_value()) << program.error().message();
    return program.value_or(domain::Program());
  }
  ADD_FAILURE() << "no seed is one region with pattern " << pattern;
  return {};
}

void expectScan(const GraphBuilder& b, const std::string& pattern, const Changes& changes,
                const std::vector<Bytes>& inputs, const Numbers& want, double tolerance = 1e-4) {
  const domain::Program program = scanProgram(b.graph(), pattern, changes);
  ASSERT_FALSE(program.source.empty());
  const std::vector<Bytes> results = runEmulated(program, inputs);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(firstDifference(toNumbers<float>(results[0]), want, tolerance), "") << program.source;
}

struct Way {
  const char* name;
  const char* pattern;
  Shape shape;
  int dim;
  Changes changes;
  friend void PrintTo(const Way& self, std::ostream* out) { *out << self.name; }
};

class Scans : public ::testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] Numbers numbers(std::uint64_t seed) const { return randomNumbers(countOf(GetParam().shape), seed); }
  [[nodiscard]] std::size_t dim() const { return static_cast<std::size_t>(GetParam().dim); }
  void expect(const GraphBuilder& b, const std::vector<Bytes>& inputs, const Numbers& want) const {
    expectScan(b, GetParam().pattern, GetParam().changes, inputs, want);
  }
};

TEST_P(Scans, AddUp) {
  const Numbers x = numbers(1);
  GraphBuilder b;
  b.output(b.like("aten.cumsum.default", b.input(GetParam().shape), {arg(GetParam().dim)}));
  expect(b, {toBytes<float>(x)}, scanned(x, GetParam().shape, dim(), kSum));
}

TEST_P(Scans, FindTheGreatestSoFarAndKeepNan) {
  Numbers x = numbers(2);
  x[x.size() / 2] = std::numeric_limits<double>::quiet_NaN();
  GraphBuilder b;
  const auto results =
      b.node("aten.cummax.default", {arg(b.input(GetParam().shape)), arg(GetParam().dim)},
             {{GetParam().shape, domain::ScalarType::Float32}, {GetParam().shape, domain::ScalarType::Int64}});
  b.dropResult(1);
  b.output(results[0]);
  expect(b, {toBytes<float>(x)},
         scanned(x, GetParam().shape, dim(), [](double p, double q) { return p > q || p != p ? p : q; }));
}

TEST_P(Scans, GoFromTheEndBetweenFlips) {
  const Numbers x = numbers(3);
  GraphBuilder b;
  const auto turned = b.like("aten.flip.default", b.input(GetParam().shape), {listArg({GetParam().dim})});
  const auto sums = b.like("aten.cumsum.default", turned, {arg(GetParam().dim)});
  b.output(b.mul(b.like("aten.flip.default", sums, {listArg({GetParam().dim})}), 0.5));
  Numbers want = scanned(x, GetParam().shape, dim(), kSum, true);
  std::transform(want.begin(), want.end(), want.begin(), [](double each) { return 0.5 * each; });
  expect(b, {toBytes<float>(x)}, want);
}

TEST_P(Scans, AreExclusiveWhereWhatWasAddedIsTakenAway) {
  const Numbers x = numbers(4);
  GraphBuilder b;
  const auto input = b.input(GetParam().shape);
  b.output(b.like("aten.sub.Tensor", b.like("aten.cumsum.default", input, {arg(GetParam().dim)}), {arg(input)}));
  Numbers want = scanned(x, GetParam().shape, dim(), kSum);
  for (std::size_t i = 0; i < x.size(); ++i) {
    want[i] -= x[i];
  }
  const bool isAhead = GetParam().changes.count("ahead") != 0;
  if (!isAhead) {  // which would read over what is needed again
    expect(b, {toBytes<float>(x)}, want);
  }
}

// The last dimension has a factor of its own at every place, whichever axis is scanned.
TEST_P(Scans, AreScaledAlongTheLastDimension) {
  const Numbers x = numbers(10);
  const auto columns = static_cast<std::size_t>(GetParam().shape.back());
  const Numbers factors = randomNumbers(columns, 11);
  GraphBuilder b;
  const auto input = b.input(GetParam().shape);
  const auto scale = b.input({GetParam().shape.back()});
  b.output(b.mul(b.like("aten.cumsum.default", input, {arg(GetParam().dim)}), scale));
  Numbers want = scanned(x, GetParam().shape, dim(), kSum);
  for (std::size_t i = 0; i < want.size(); ++i) {
    want[i] *= factors[i % columns];
  }
  expect(b, {toBytes<float>(x), toBytes<float>(factors)}, want);
}

TEST_P(Scans, OfWhatAMaskLeaves) {
  const Numbers x = numbers(5);
  Bytes mask(x.size());
  Numbers kept = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mask[i] = i * 7 % 3 == 0 ? 1 : 0;
    kept[i] = mask[i] != 0 ? x[i] : 0.0;
  }
  GraphBuilder b;
  const auto input = b.input(GetParam().shape);
  const auto chosen = b.mul(input, b.input(GetParam().shape, domain::ScalarType::Bool));
  b.output(b.like("aten.cumsum.default", chosen, {arg(GetParam().dim)}));
  expect(b, {toBytes<float>(x), mask}, scanned(kept, GetParam().shape, dim(), kSum));
}

INSTANTIATE_TEST_SUITE_P(
    All, Scans,
    ::testing::Values(
        Way{"ABlockARow", "scan", {3, 1000}, 1, {{"threads", 64}, {"items", 2}}},
        Way{"WholeTiles", "scan", {2, 2048}, 1, {{"threads", 128}, {"items", 4}}},
        Way{"AWarpARow", "scan", {6, 140}, 1, {{"threads", 32}, {"items", 1}}},
        Way{"ManyWarps", "scan", {2, 5000}, 1, {{"threads", 1024}, {"items", 1}}},
        Way{"HalfAsMany", "scan", {2, 4996}, 1, {{"threads", 512}, {"items", 1}, {"vector_width", 2}}},
        Way{"OddRows", "scan", {3, 333}, 1, {{"threads", 64}, {"items", 2}, {"vector_width", 1}}},
        Way{"ReadAhead", "scan", {2, 1204}, 1, {{"threads", 64}, {"items", 2}, {"ahead", 1}}},
        Way{"BlocksOfARow", "scan_chain", {2, 9004}, 1, {{"threads", 64}, {"items", 1}}},
        Way{"Columns", "scan_tiles", {2, 70, 300}, 1, {{"threads", 128}, {"items", 4}, {"vector_width", 4}}},
        Way{"OddColumns", "scan_tiles", {130, 37}, 0, {{"threads", 64}, {"items", 8}, {"vector_width", 1}}},
        Way{"AWarpOfColumns", "scan_tiles", {64, 64}, 0, {{"threads", 32}, {"items", 16}, {"vector_width", 2}}},
        Way{"AThreadARow", "scan_columns", {70, 21}, 1, {{"threads", 64}}},
        Way{"AThreadAColumn", "scan_columns", {2, 21, 50}, 1, {{"threads", 64}}}),
    [](const auto& each) { return each.param.name; });

TEST(Scan, OfHalvesIsComputedInFloat) {
  const Numbers x = randomNumbers(2 * 1024, 6);
  GraphBuilder b;
  b.output(b.like("aten.cumsum.default", b.input({2, 1024}, domain::ScalarType::Float16), {arg(1)}));
  const domain::Program program = scanProgram(b.graph(), "scan", {{"threads", 64}, {"items", 1}, {"vector_width", 8}});
  const std::vector<Bytes> results = runEmulated(program, {toBytes<Half>(x)});
  ASSERT_EQ(results.size(), 1U);
  const Numbers want = scanned(toNumbers<Half>(toBytes<Half>(x)), {2, 1024}, 1, kSum);
  EXPECT_EQ(firstDifference(toNumbers<Half>(results[0]), want, 1e-3), "") << program.source;
}

TEST(Scan, OfTruthValuesCountsThem) {
  Bytes mask(3 * 100);
  Numbers ones(mask.size());
  for (std::size_t i = 0; i < mask.size(); ++i) {
    mask[i] = i % 5 == 1 ? 1 : 0;
    ones[i] = mask[i];
  }
  GraphBuilder b;
  const auto input = b.input({3, 100}, domain::ScalarType::Bool);
  b.output(b.call("aten.cumsum.default", {arg(input), arg(1)}, {3, 100}, domain::ScalarType::Int64));
  const std::vector<Bytes> results =
      runEmulated(scanProgram(b.graph(), "scan", {{"threads", 32}, {"items", 1}}), {mask});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(firstDifference(toNumbers<std::int64_t>(results[0]), scanned(ones, {3, 100}, 1, kSum), 0.0), "");
}

// As exact as pairs of pairs: far better than one addition after the other.
TEST(Scan, OfManyNumbersKeepsTheirPlaces) {
  const Shape shape{1, 40960};
  Numbers x = randomNumbers(countOf(shape), 7);
  std::transform(x.begin(), x.end(), x.begin(), [](double each) { return std::abs(each); });
  GraphBuilder b;
  b.output(b.like("aten.cumsum.default", b.input(shape), {arg(1)}));
  expectScan(b, "scan", {{"threads", 128}, {"items", 4}}, {toBytes<float>(x)}, scanned(x, shape, 1, kSum), 5e-7);
}

TEST(Scan, OfWhatIsPaddedReadsAcrossTheEdge) {
  const Numbers x = randomNumbers(4 * 200, 8);
  GraphBuilder b;
  const auto padded =
      b.call("aten.constant_pad_nd.default", {arg(b.input({4, 200})), listArg({1, 0}), arg(0.0)}, {4, 201});
  b.output(b.like("aten.cumsum.default", padded, {arg(1)}));
  Numbers shifted;
  for (std::size_t row = 0; row < 4; ++row) {
    shifted.push_back(0.0);
    shifted.insert(shifted.end(), x.begin() + static_cast<std::ptrdiff_t>(row * 200),
                   x.begin() + static_cast<std::ptrdiff_t>(row * 200 + 200));
  }
  expectScan(b, "scan", {{"threads", 64}, {"items", 2}}, {toBytes<float>(x)}, scanned(shifted, {4, 201}, 1, kSum));
}

TEST(Scan, MayTurnWhatItReadsAlone) {
  const Numbers x = randomNumbers(3 * 256, 9);
  GraphBuilder b;
  const auto turned = b.like("aten.flip.default", b.input({3, 256}), {listArg({0, 1})});
  b.output(b.like("aten.cumsum.default", turned, {arg(1)}));
  const Numbers reversed(x.rbegin(), x.rend());
  expectScan(b, "scan", {{"threads", 64}, {"items", 1}}, {toBytes<float>(x)}, scanned(reversed, {3, 256}, 1, kSum));
}

}  // namespace
}  // namespace swage::synth
