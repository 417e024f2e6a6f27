// SPDX-License-Identifier: Apache-2.0
// What pooling on a GPU computes, by the emulation: edges, overlaps, tails, and what follows.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <ostream>
#include <span>

#include "tests/core/synth/bench.h"
#include "tests/core/synth/emulator.h"

namespace swage::synth {
namespace {

using Changes = std::map<std::string, std::int64_t>;
using domain::Shape;

// How a window moves over the last three dimensions of [planes, depth, height, width].
struct Sliding {
  Shape input;
  Shape size;
  Shape stride;
  Shape padding;
  Shape dilation;

  [[nodiscard]] Shape result() const {
    Shape shape{input[0]};
    for (std::size_t dim = 0; dim < 3; ++dim) {
      shape.push_back((input[dim + 1] + 2 * padding[dim] - dilation[dim] * (size[dim] - 1) - 1) / stride[dim] + 1);
    }
    return shape;
  }
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(input[0] * input[1] * input[2] * input[3]);
  }

  // Calls `visit` with every element that a result sees, and `done` after the last of them.
  void forEach(const Numbers& x, const std::function<void(double)>& visit, const std::function<void()>& done) const {
    const Shape to = result();
    for (std::int64_t i = 0; i < to[0] * to[1] * to[2] * to[3]; ++i) {
      const Shape at{i / (to[1] * to[2] * to[3]), i / (to[2] * to[3]) % to[1], i / to[3] % to[2], i % to[3]};
      for (std::int64_t k = 0; k < size[0] * size[1] * size[2]; ++k) {
        const Shape tap{k / (size[1] * size[2]), k / size[2] % size[1], k % size[2]};
        std::int64_t offset = at[0];
        bool isInside = true;
        for (std::size_t dim = 0; dim < 3; ++dim) {
          const std::int64_t place = at[dim + 1] * stride[dim] - padding[dim] + tap[dim] * dilation[dim];
          isInside = isInside && place >= 0 && place < input[dim + 1];
          offset = offset * input[dim + 1] + place;
        }
        if (isInside) {
          visit(x[static_cast<std::size_t>(offset)]);
        }
      }
      done();
    }
  }
};

struct Case {
  const char* name;
  Sliding sliding;
  Changes changes;
  friend void PrintTo(const Case& self, std::ostream* out) { *out << self.name; }
};

domain::Program poolProgram(const domain::Graph& graph, const Changes& changes) {
  const auto synthesizer = Synthesizer::create(graph, cudaDevice(), emulatedCatalogue());
  for (domain::Genome genome : (*synthesizer)->seeds()) {
    if (genome.regions.size() != 1 || genome.regions[0].pattern != "pool") {
      continue;
    }
    for (const auto& [name, value] : changes) {
      genome.regions[0].parameters.at(name) = value;
    }
    auto program = (*synthesizer)->realise(genome);
    EXPECT_TRUE(program.has_value()) << program.error().message();
    return program.value_or(domain::Program());
  }
  ADD_FAILURE() << "no seed uses the pattern";
  return {};
}

// The seed whose last region is such a pooling of `nodes` nodes, changed as asked.
domain::Program lastPoolProgram(const domain::Graph& graph, std::size_t nodes, const Changes& changes) {
  const auto synthesizer = Synthesizer::create(graph, cudaDevice(), emulatedCatalogue());
  for (domain::Genome genome : (*synthesizer)->seeds()) {
    domain::RegionGene& last = genome.regions.back();
    if (last.pattern != "pool" || last.nodes.size() != nodes) {
      continue;
    }
    for (const auto& [name, value] : changes) {
      last.parameters.at(name) = value;
    }
    auto program = (*synthesizer)->realise(genome);
    EXPECT_TRUE(program.has_value()) << program.error().message();
    return program.value_or(domain::Program());
  }
  ADD_FAILURE() << "no seed has such a region";
  return {};
}

void expectPool(const GraphBuilder& b, const Changes& changes, const Numbers& x, const Numbers& want) {
  const domain::Program program = poolProgram(b.graph(), changes);
  ASSERT_FALSE(program.source.empty());
  const std::vector<Bytes> results = runEmulated(program, {toBytes<float>(x)});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(firstDifference(toNumbers<float>(results[0]), want, 1e-5), "") << program.source;
}

class Pools : public ::testing::TestWithParam<Case> {};

TEST_P(Pools, FindTheGreatest) {
  const Sliding& s = GetParam().sliding;
  Numbers x = randomNumbers(s.count(), 1);
  x[x.size() / 3] = std::numeric_limits<double>::quiet_NaN();
  GraphBuilder b;
  const auto input = b.input({1, s.input[0], s.input[1], s.input[2], s.input[3]});
  const Shape to = s.result();
  b.output(b.relu(b.call("aten.max_pool3d.default",
                         {arg(input), listArg(s.size), listArg(s.stride), listArg(s.padding), listArg(s.dilation)},
                         {1, to[0], to[1], to[2], to[3]})));
  Numbers want;
  double largest = -std::numeric_limits<double>::infinity();
  s.forEach(
      x, [&](double each) { largest = largest > each || largest != largest ? largest : each; },
      [&] {
        want.push_back(largest < 0.0 ? 0.0 : largest);
        largest = -std::numeric_limits<double>::infinity();
      });
  expectPool(b, GetParam().changes, x, want);
}

TEST_P(Pools, FindTheMean) {
  const Sliding& s = GetParam().sliding;
  if (s.dilation != Shape{1, 1, 1}) {
    GTEST_SKIP() << "means have no dilation";
  }
  const Numbers x = randomNumbers(s.count(), 2);
  GraphBuilder b;
  const auto input = b.input({1, s.input[0], s.input[1], s.input[2], s.input[3]});
  const Shape to = s.result();
  b.output(b.call("aten.avg_pool3d.default",
                  {arg(input), listArg(s.size), listArg(s.stride), listArg(s.padding), arg(false), arg(false)},
                  {1, to[0], to[1], to[2], to[3]}));
  Numbers want;
  double sum = 0.0;
  double count = 0.0;
  s.forEach(
      x,
      [&](double each) {
        sum += each;
        ++count;
      },
      [&] {
        want.push_back(sum / count);
        sum = count = 0.0;
      });
  expectPool(b, GetParam().changes, x, want);
}

// Windows that neither overlap nor see anything else may have computed what they see; 1 of 13 columns is not seen.
class TiledPools : public ::testing::TestWithParam<Changes> {
 protected:
  static constexpr std::int64_t kPlanes = 6;
  const Sliding m_sliding{{2 * kPlanes, 1, 8, 13}, {1, 2, 3}, {1, 2, 3}, {0, 0, 0}, {1, 1, 1}};
  const Numbers m_x = randomNumbers(m_sliding.count(), 3);

  static domain::ValueId addMaximum(GraphBuilder& b, domain::ValueId x) {
    return b.call("aten.max_pool2d.default", {arg(x), listArg({2, 3}), listArg({2, 3}), listArg({0, 0})},
                  {2, kPlanes, 4, 4});
  }

  // Each so many elements with the mean 0 and the variance 1.
  static Numbers normalised(Numbers elements, std::size_t count) {
    const auto size = static_cast<double>(count);
    for (std::size_t first = 0; first < elements.size(); first += count) {
      const auto group = std::span(elements).subspan(first, count);
      const double mean = std::accumulate(group.begin(), group.end(), 0.0) / size;
      const double squares = std::accumulate(group.begin(), group.end(), 0.0, [&](double sum, double each) {
        return sum + (each - mean) * (each - mean);
      });
      std::transform(group.begin(), group.end(), group.begin(),
                     [&](double each) { return (each - mean) / std::sqrt(squares / size + 1e-5); });
    }
    return elements;
  }

  // The largest of what each window sees.
  Numbers maximaOf(const Numbers& elements) const { return maximaOf(elements, m_sliding); }
  static Numbers maximaOf(const Numbers& elements, const Sliding& sliding) {
    Numbers want;
    double largest = -std::numeric_limits<double>::infinity();
    sliding.forEach(
        elements, [&](double each) { largest = std::max(largest, each); },
        [&] {
          want.push_back(largest);
          largest = -std::numeric_limits<double>::infinity();
        });
    return want;
  }

  static void expectResult(const domain::Program& program, const std::vector<Bytes>& inputs, const Numbers& want) {
    ASSERT_FALSE(program.source.empty());
    const std::vector<Bytes> results = runEmulated(program, inputs);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(firstDifference(toNumbers<float>(results[0]), want, 1e-5), "") << program.source;
  }
};

TEST_P(TiledPools, SeeWhatIsComputedFromEachElement) {
  const Numbers scale = randomNumbers(kPlanes, 4);
  GraphBuilder b;
  const auto x = b.input({2, kPlanes, 8, 13});
  const auto weight = b.input({1, kPlanes, 1, 1});
  b.output(addMaximum(b, b.like("aten.mish.default", b.mul(x, weight))));
  const domain::Program program = lastPoolProgram(b.graph(), 3, GetParam());
  Numbers elements = m_x;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double scaled = elements[i] * scale[i / (8 * 13) % kPlanes];
    elements[i] = scaled * std::tanh(std::log1p(std::exp(scaled)));
  }
  expectResult(program, {toBytes<float>(m_x), toBytes<float>(scale)}, maximaOf(elements));
}

TEST_P(TiledPools, SeeWhatIsNormalised) {
  GraphBuilder b;
  const auto x = b.input({2, kPlanes, 8, 13});
  b.output(addMaximum(b, b.like("aten.group_norm.default", x, {arg(3), noArg(), noArg(), arg(1e-5)})));
  const domain::Program program = lastPoolProgram(b.graph(), 2, GetParam());
  const Numbers elements = normalised(m_x, 2 * 8 * 13);
  expectResult(program, {toBytes<float>(m_x)}, maximaOf(elements));
}

// Each row has a mean of its own, and each column a weight.
TEST_P(TiledPools, SeeRowsThatAreNormalised) {
  const Numbers weights = randomNumbers(12, 5);
  GraphBuilder b;
  const auto x = b.input({2, kPlanes, 8, 12});
  const auto weight = b.input({12});
  const auto y = b.like("aten.layer_norm.default", x, {listArg({12}), arg(weight), noArg(), arg(1e-5)});
  b.output(addMaximum(b, y));
  const domain::Program program = lastPoolProgram(b.graph(), 2, GetParam());
  const Sliding sliding{{2 * kPlanes, 1, 8, 12}, {1, 2, 3}, {1, 2, 3}, {0, 0, 0}, {1, 1, 1}};
  const Numbers plain = randomNumbers(sliding.count(), 6);
  Numbers elements = normalised(plain, 12);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] *= weights[i % 12];
  }
  expectResult(program, {toBytes<float>(plain), toBytes<float>(weights)}, maximaOf(elements, sliding));
}

TEST(TiledPool, StoresNothingOfWhichItSeesAPart) {
  GraphBuilder b;
  const auto y = b.relu(b.input({2, 3, 8, 13}));
  b.output(y);
  b.output(
      b.call("aten.max_pool2d.default", {arg(y), listArg({2, 3}), listArg({2, 3}), listArg({0, 0})}, {2, 3, 4, 4}));
  const auto synthesizer = Synthesizer::create(b.graph(), cudaDevice(), emulatedCatalogue());
  for (const domain::Genome& genome : (*synthesizer)->seeds()) {
    EXPECT_NE(genome.regions.size(), 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(InVectors, TiledPools,
                         ::testing::Values(Changes{{"threads", 64}, {"items", 1}, {"vector_width", 1}},
                                           Changes{{"threads", 64}, {"items", 4}, {"vector_width", 1}}));

INSTANTIATE_TEST_SUITE_P(All, Pools,
                         ::testing::Values(Case{"AlongOneDimension",
                                                {{3, 1, 1, 400}, {1, 1, 8}, {1, 1, 1}, {0, 0, 4}, {1, 1, 3}},
                                                {{"threads", 64}, {"items", 1}}},
                                           Case{"InTilesOfALine",
                                                {{2, 1, 1, 1200}, {1, 1, 5}, {1, 1, 3}, {0, 0, 2}, {1, 1, 1}},
                                                {{"threads", 64}, {"items", 1}}},
                                           Case{"InOddRows",
                                                {{3, 1, 9, 37}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, {1, 1, 1}},
                                                {{"threads", 64}, {"items", 1}, {"vector_width", 1}}},
                                           Case{"OfDilatedCubes",
                                                {{2, 17, 18, 20}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {3, 3, 3}},
                                                {{"threads", 64}, {"items", 2}, {"rows", 1}}},
                                           Case{"OfDilatedCubesInBundles",
                                                {{2, 17, 18, 20}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {3, 3, 3}},
                                                {{"threads", 64}, {"items", 2}, {"rows", 2}}},
                                           Case{"WhoseWindowsTouch",
                                                {{2, 1, 33, 46}, {1, 11, 11}, {1, 11, 11}, {0, 0, 0}, {1, 1, 1}},
                                                {{"threads", 64}, {"items", 1}, {"vector_width", 2}}},
                                           Case{"OfWhichColumnsAreLeft",
                                                {{2, 1, 12, 40}, {1, 3, 3}, {1, 3, 3}, {0, 0, 0}, {1, 1, 1}},
                                                {{"threads", 64}, {"items", 1}, {"vector_width", 4}}},
                                           Case{"OfWholeCubes",
                                                {{3, 6, 10, 72}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {1, 1, 1}},
                                                {{"threads", 64}, {"items", 2}, {"vector_width", 4}}},
                                           Case{"OfWholeWindowsInTilesOfALine",
                                                {{3, 1, 4, 420}, {1, 2, 4}, {1, 2, 4}, {0, 1, 0}, {1, 1, 1}},
                                                {{"threads", 64}, {"items", 1}, {"vector_width", 4}}},
                                           Case{"OfWholeWindowsBesideAColumn",
                                                {{2, 1, 7, 70}, {1, 3, 2}, {1, 2, 2}, {0, 1, 0}, {1, 1, 1}},
                                                {{"threads", 64}, {"items", 2}, {"vector_width", 2}}},
                                           Case{"InBundlesOfFour",
                                                {{3, 1, 30, 28}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
                                                {{"threads", 64}, {"items", 2}, {"rows", 4}}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
