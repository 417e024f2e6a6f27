// SPDX-License-Identifier: Apache-2.0
// What products compute whose warps split their operands on the way, by the emulation: layouts, tails, batches, sums in
// parts, what follows the product, and lines that halves do not hold.
#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <ostream>

#include "tests/core/synth/bench.h"
#include "tests/core/synth/emulator.h"
#include "tests/core/synth/product_numbers.h"
#include "tests/support/result_matchers.h"

namespace swage::synth {
namespace {

using Changes = std::map<std::string, std::int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Result<domain::Program> realise(const domain::Graph& graph, std::vector<int> nodes, const Changes& changes,
                                std::int64_t multiprocessors) {
  domain::DeviceInfo device = cudaDevice();
  device.multiprocessors = static_cast<int>(multiprocessors);
  domain::Genome genome{{{std::move(nodes), "product_onepass", {}}}};
  const Changes small{{"tile_rows", 64}, {"tile_columns", 64}, {"promote", 64}};
  for (const patterns::Parameter& parameter :
       catalogue().find(domain::Language::CudaCpp, "product_onepass")->parameters) {
    const auto given = changes.find(parameter.name);
    const auto usual = small.find(parameter.name);
    genome.regions[0].parameters[parameter.name] = given != changes.end() ? given->second
                                                   : usual != small.end() ? usual->second
                                                                          : parameter.standard;
  }
  const auto synthesizer = Synthesizer::create(graph, device, emulatedCatalogue());
  return (*synthesizer)->realise(genome);
}

domain::Program onepassProgram(const domain::Graph& graph, std::vector<int> nodes = {0}, const Changes& changes = {},
                               std::int64_t multiprocessors = 3) {
  auto program = realise(graph, std::move(nodes), changes, multiprocessors);
  EXPECT_TRUE(program.has_value()) << program.error().message();
  EXPECT_EQ(domain::findDefect(program->plan), "");
  return program.value_or(domain::Program());
}

Numbers run(const domain::Program& program, const std::vector<Numbers>& inputs) {
  std::vector<Bytes> bytes;
  for (const Numbers& each : inputs) {
    bytes.push_back(toBytes<float>(each));
  }
  const auto results = runEmulated(program, bytes);
  return results.empty() ? Numbers() : toNumbers<float>(results.front());
}

struct Setting {
  const char* name;
  Changes changes;
  std::int64_t multiprocessors = 3;
  friend void PrintTo(const Setting& self, std::ostream* out) { *out << self.name; }
};

class OnepassProducts : public ::testing::TestWithParam<Setting> {};

// relu(x @ weight.T + bias): results that are computed from, and written one by one since rows are no whole pieces.
TEST_P(OnepassProducts, AreAsExactAsFloat) {
  const Linear linear({1, 200, 201, 104});
  const domain::Program program =
      onepassProgram(linear.builder.graph(), {0, 1}, GetParam().changes, GetParam().multiprocessors);
  EXPECT_LT(relativeError(linear.run(program), linear.want()), 2e-7);
}

INSTANTIATE_TEST_SUITE_P(All, OnepassProducts,
                         ::testing::Values(Setting{"Small", {}}, Setting{"Two", {{"tile_rows", 128}}},
                                           Setting{"Wide", {{"tile_columns", 192}}},
                                           Setting{"Tall", {{"tile_rows", 192}}},
                                           Setting{"Large", {{"tile_rows", 128}, {"tile_columns", 128}}},
                                           Setting{"Slots", {{"slots", 4}, {"band", 4}}},
                                           Setting{"Promoted", {{"tile_rows", 128}, {"promote", 32}}},
                                           Setting{"PromotedOften", {{"promote", 16}}}, Setting{"OneBlock", {}, 1}),
                         [](const auto& each) { return each.param.name; });

struct Layout {
  const char* name;
  const char* equation;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  friend void PrintTo(const Layout& self, std::ostream* out) { *out << self.name; }
};

class OnepassLayouts : public ::testing::TestWithParam<Layout> {};

TEST_P(OnepassLayouts, AreReadAsTheyLie) {
  const Layout& layout = GetParam();
  const std::string equation = layout.equation;
  const bool isLeftAlongRows = equation.substr(0, 2) == "zx";
  const bool isRightAlongDepth = equation.substr(3, 2) == "yz";
  GraphBuilder b;
  const auto x = isLeftAlongRows ? b.input({layout.depth, layout.rows}) : b.input({layout.rows, layout.depth});
  const auto y = isRightAlongDepth ? b.input({layout.columns, layout.depth}) : b.input({layout.depth, layout.columns});
  const domain::Argument both{domain::ArgumentList{arg(x), arg(y)}};
  b.output(b.call("aten.einsum.default", {{equation}, both}, {layout.rows, layout.columns}));
  const auto size = [](std::int64_t extent) { return static_cast<std::size_t>(extent); };
  const Product product{1, size(layout.rows), size(layout.columns), size(layout.depth)};
  const Numbers left = normalNumbers(product.rows * product.depth, 4);
  const Numbers right = normalNumbers(product.columns * product.depth, 5);
  const Numbers want = product.of(left, right, isLeftAlongRows, isRightAlongDepth);
  const Changes large{{"tile_rows", 128}, {"tile_columns", 128}};
  EXPECT_LT(relativeError(run(onepassProgram(b.graph(), {0}, large), {left, right}), want), 2e-7);
}

INSTANTIATE_TEST_SUITE_P(
    All, OnepassLayouts,
    ::testing::Values(Layout{"Plain", "xz,zy->xy", 132, 136, 64}, Layout{"PlainTails", "xz,zy->xy", 70, 75, 33},
                      Layout{"RowsTogether", "zx,zy->xy", 140, 132, 72}, Layout{"BothTurned", "zx,yz->xy", 129, 68, 68},
                      Layout{"AlongTheDepth", "xz,yz->xy", 132, 136, 192}, Layout{"Short", "xz,yz->xy", 64, 64, 2}),
    [](const auto& each) { return each.param.name; });

TEST(OnepassProduct, MultipliesBatches) {
  const Product product{3, 68, 72, 100};
  GraphBuilder b;
  const auto x = b.input({3, 68, 100});
  const auto y = b.input({3, 100, 72});
  b.output(b.call("aten.bmm.default", {arg(x), arg(y)}, {3, 68, 72}));
  const Numbers left = normalNumbers(3 * 68 * 100, 6);
  const Numbers right = normalNumbers(3 * 100 * 72, 7);
  EXPECT_LT(relativeError(run(onepassProgram(b.graph()), {left, right}), product.of(left, right)), 2e-7);
}

// With operands and results of which the copy engine can store rows, and others: the parts are added up either way.
TEST(OnepassProduct, CutsLongSumsIntoParts) {
  for (const std::int64_t columns : {72, 71}) {
    const Product product{1, 65, static_cast<std::size_t>(columns), 2000};
    GraphBuilder b;
    const auto x = b.input({65, 2000});
    const auto y = b.input({2000, columns});
    b.output(b.relu(b.call("aten.mm.default", {arg(x), arg(y)}, {65, columns})));
    const Numbers left = normalNumbers(product.rows * product.depth, 8);
    const Numbers right = normalNumbers(product.columns * product.depth, 9);
    const domain::Program program = onepassProgram(b.graph(), {0, 1}, {{"cut", 1}}, 14);
    Numbers want = product.of(left, right);
    for (double& number : want) {
      number = std::max(number, 0.0);
    }
    EXPECT_LT(relativeError(run(program, {left, right}), want), 3e-7);
  }
}

TEST(OnepassProduct, MakesLinesAnewThatHalvesDoNotHold) {
  for (const std::int64_t cut : {0, 1}) {
    Linear linear({1, 66, 68, 1200});
    const auto scale = [&](Numbers& numbers, std::size_t line, double factor) {
      for (std::size_t k = 0; k < 1200; ++k) {
        numbers[line * 1200 + k] *= factor;
      }
    };
    scale(linear.x, 3, 0x1p40);
    scale(linear.x, 4, 0x1p-40);
    scale(linear.x, 65, 0.0);
    scale(linear.weight, 5, 0x1p-12);
    scale(linear.weight, 6, 0x1p6);
    linear.x = toNumbers<float>(toBytes<float>(linear.x));
    std::fill(linear.bias.begin(), linear.bias.end(), 0.0);
    const Numbers got = linear.run(onepassProgram(linear.builder.graph(), {0, 1}, {{"cut", cut}}, 9));
    const Numbers want = linear.want();
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t row = 0; row < 66; ++row) {
      Numbers mine;
      Numbers its;
      for (const std::size_t column : {0, 5, 6, 67}) {
        mine = {got[row * 68 + column]};
        its = {want[row * 68 + column]};
        double magnitude = 0.0;
        for (std::size_t k = 0; k < 1200; ++k) {
          magnitude += std::abs(linear.x[row * 1200 + k] * linear.weight[column * 1200 + k]);
        }
        EXPECT_NEAR(mine[0], its[0], 1e-7 * magnitude) << row << ", " << column << ", cut " << cut;
      }
    }
  }
}

TEST(OnepassProduct, SpreadsInfinityAndNanNoFurtherThanFloatDoes) {
  Linear linear({1, 66, 65, 64});
  linear.x[2 * 64 + 5] = kInfinity;
  linear.x[3 * 64 + 6] = kNan;
  linear.x[65 * 64 + 1] = -kInfinity;
  linear.weight[4 * 64 + 5] = 0.0;
  linear.weight[7 * 64 + 9] = kInfinity;
  EXPECT_EQ(firstDifference(linear.run(onepassProgram(linear.builder.graph(), {0, 1})), linear.want(), 1e-5), "");
}

TEST(OnepassProduct, RefusesWhatDoesNotFit) {
  GraphBuilder b;
  const auto x = b.input({4096, 4096});
  b.output(b.call("aten.mm.default", {arg(x), arg(b.input({4096, 4096}))}, {4096, 4096}));
  EXPECT_FALSE(realise(b.graph(), {0}, {{"tile_rows", 192}, {"tile_columns", 192}}, 132).has_value()) << "registers";
  EXPECT_FALSE(realise(b.graph(), {0}, {{"tile_rows", 128}, {"tile_columns", 128}, {"slots", 3}}, 132).has_value())
      << "shared memory";
  EXPECT_FALSE(realise(b.graph(), {0}, {{"cut", 1}}, 132).has_value()) << "tiles for all";
  EXPECT_THAT(realise(b.graph(), {0}, {{"tile_rows", 128}, {"tile_columns", 128}}, 132), swage::testing::IsOk());
}

struct Fault {
  const char* name;
  const char* from;
  const char* to;
  friend void PrintTo(const Fault& self, std::ostream* out) { *out << self.name; }
};

class OnepassFaults : public ::testing::TestWithParam<Fault> {};

// The faults that the verifier must find are no faults of these tests alone.
TEST_P(OnepassFaults, CostMoreThanFloatAllows) {
  const Linear linear({1, 130, 72, 328});
  domain::Program program = onepassProgram(linear.builder.graph(), {0, 1}, {{"tile_rows", 128}}, 1);
  const std::size_t at = program.source.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << program.source;
  program.source.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const double error = relativeError(linear.run(program), linear.want());
  EXPECT_FALSE(error < 3e-6) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, OnepassFaults,
    ::testing::Values(Fault{"ADroppedTerm",
                            "products(left_low, right_high, false);\n        products(left_high, right_low, true);",
                            "products(left_low, right_high, false);"},
                      Fault{"AScaleThatIsNotUndone", "sum[i] * 9.5367431640625e-07f", "sum[i]"},
                      Fault{"ALostTail", "depth + v < 328", "depth + v < 320"},
                      Fault{"ASumThatIsReplaced", "sum[i] += fresh[i]", "sum[i] = fresh[i]"},
                      Fault{"ARowThatIsNotWaitedFor", "waitForStores();  // of the tile before", ""}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
