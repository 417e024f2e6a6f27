// SPDX-License-Identifier: Apache-2.0
// What can be said of products by wgmma without a device: which are refused, what the plan asks of the copy engine,
// that all steps of all tiles are made once, and what numbers the passes make of their operands.
#include "core/synth/strategies/product_wgmma.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/synth/emit/helpers.h"
#include "tests/core/synth/bench.h"
#include "tests/core/synth/emulator.h"
#include "tests/support/result_matchers.h"

namespace swage::synth {
namespace {

using domain::ScalarType;
using ::testing::ElementsAre;
using Changes = std::map<std::string, std::int64_t>;

domain::Graph productGraph(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                           ScalarType type = ScalarType::Float32) {
  GraphBuilder b;
  const auto x = b.input({rows, depth}, type);
  const auto y = b.input({depth, columns}, type);
  b.output(b.call("aten.matmul.default", {arg(x), arg(y)}, {rows, columns}, type));
  return b.graph();
}

Result<domain::Program> realise(const domain::Graph& graph, const Changes& changes,
                                const domain::DeviceInfo& device = cudaDevice()) {
  domain::Genome genome{{{{0}, "product_wgmma", {}}}};
  for (const patterns::Parameter& parameter :
       catalogue().find(domain::Language::CudaCpp, "product_wgmma")->parameters) {
    const auto given = changes.find(parameter.name);
    genome.regions[0].parameters[parameter.name] = given != changes.end() ? given->second : parameter.standard;
  }
  return makeSynthesizer(graph, device)->realise(genome);
}

// --- what is refused -------------------------------------------------------------------------------------------------

TEST(WgmmaProducts, AreForCapabilityNineAlone) {
  domain::DeviceInfo other = cudaDevice();
  other.computeCapability = 100;
  EXPECT_FALSE(realise(productGraph(4096, 4096, 4096), {}, other).has_value());
  EXPECT_THAT(realise(productGraph(4096, 4096, 4096), {}), swage::testing::IsOk());
}

TEST(WgmmaProducts, RefuseWhatDoesNotFitIntoRegistersOrSharedMemory) {
  const domain::Graph graph = productGraph(4096, 4096, 4096);
  EXPECT_FALSE(realise(graph, {{"tile_columns", 256}}).has_value()) << "256 sums of a thread, of 232 registers";
  EXPECT_FALSE(realise(graph, {{"slots", 6}}).has_value()) << "240 KiB of tiles";
  EXPECT_FALSE(realise(graph, {{"slots", 3}}).has_value()) << "less than two steps of two parts";
  EXPECT_THAT(realise(graph, {{"mode", 3}, {"tile_columns", 256}, {"slots", 4}, {"share", 0}}), swage::testing::IsOk());
}

TEST(WgmmaProducts, RefuseToShareTilesOfWhichNoneAreLeftOver) {
  const Changes tiles{{"tile_rows", 128}, {"tile_columns", 128}, {"pair", 0}};
  Changes shared = tiles;
  shared["share"] = 1;
  Changes alone = tiles;
  alone["share"] = 0;
  const domain::Graph even = productGraph(132 * 128, 128, 4096);
  EXPECT_FALSE(realise(even, shared).has_value());
  EXPECT_THAT(realise(even, alone), swage::testing::IsOk());
}

TEST(WgmmaProducts, TakeShortNumbersAsTheyAreAndOnlyWhereTheCopyEngineCanReadThem) {
  const Changes native{{"mode", 0}, {"share", 0}};
  EXPECT_THAT(realise(productGraph(1024, 1024, 1024, ScalarType::BFloat16), native), swage::testing::IsOk());
  EXPECT_FALSE(realise(productGraph(1024, 1024, 1024, ScalarType::BFloat16), {{"mode", 1}}).has_value());
  EXPECT_FALSE(realise(productGraph(1024, 1024, 1024), native).has_value()) << "floats";
  EXPECT_FALSE(realise(productGraph(1024, 1024, 1023, ScalarType::Float16), native).has_value()) << "odd stride";
}

// --- the plan --------------------------------------------------------------------------------------------------------

TEST(WgmmaProducts, SplitOperandsInTheOrderTheyLieIn) {
  const auto program = realise(productGraph(1001, 999, 777), {{"tile_columns", 128}});
  ASSERT_THAT(program, swage::testing::IsOk());
  EXPECT_EQ(domain::findDefect(program->plan), "");
  EXPECT_THAT(program->entries(),
              ::testing::UnorderedElementsAre("swage_kernel_0_rows", "swage_kernel_0_columns", "swage_kernel_0"));
  const auto& step = std::get<domain::KernelStep>(program->plan.steps.back());
  EXPECT_EQ(step.cluster.x, 2U);
  EXPECT_EQ(step.grid.x, 132U);
  const auto& left = std::get<domain::TensorMap>(step.arguments[0]);
  EXPECT_THAT(left.sizes, ElementsAre(777, 1001, 2));  // two parts; what lies outside is zero
  EXPECT_THAT(left.strides, ElementsAre(784 * 2, 784 * 1001 * 2));
  EXPECT_THAT(left.box, ElementsAre(64, 128, 1));
  const auto& right = std::get<domain::TensorMap>(step.arguments[1]);
  EXPECT_THAT(right.sizes, ElementsAre(999, 777, 2));
  EXPECT_THAT(right.strides, ElementsAre(1000 * 2, 1000 * 777 * 2));
  EXPECT_THAT(right.box, ElementsAre(64, 32, 1));  // each block of the pair brings half of the depth
}

// --- how tiles are dealt out -----------------------------------------------------------------------------------------

// The text from one mark to another, or to the end.
std::string cut(const std::string& source, const std::string& from, const std::string& to) {
  const std::size_t begin = source.find(from);
  EXPECT_NE(begin, std::string::npos) << from;
  return begin == std::string::npos ? "" : source.substr(begin, source.find(to, begin) - begin);
}

struct Deal {
  const char* name;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  Changes changes;
  friend void PrintTo(const Deal& self, std::ostream* out) { *out << self.name; }
};

class WgmmaDeals : public ::testing::TestWithParam<Deal> {};

// Runs the program's own find function for all blocks, and counts how often each step of each tile was found.
TEST_P(WgmmaDeals, MakeEachStepOfEachTileOnce) {
  const Deal& deal = GetParam();
  const auto program = realise(productGraph(deal.rows, deal.columns, deal.depth), deal.changes);
  ASSERT_THAT(program, swage::testing::IsOk());
  const auto& step = std::get<domain::KernelStep>(program->plan.steps.back());
  const std::int64_t tileRows = 128;
  const std::int64_t tileColumns = deal.changes.at("tile_columns");
  const std::int64_t pairs = step.cluster.x * tileRows;
  const std::int64_t down = (deal.rows + pairs - 1) / pairs * step.cluster.x;
  const std::int64_t across = (deal.columns + tileColumns - 1) / tileColumns;
  const std::int64_t steps = (deal.depth + 63) / 64;
  domain::Program count;
  count.language = domain::Language::CudaCpp;
  count.source = cut(program->source, "struct Tile_0", "// A product of") +
                 fmt::format(
                     "extern \"C\" __global__ void count(int* counts) {{\n"
                     "  Tile_0 tile;\n"
                     "  for (int i = 0; threadIdx.x == 0 && find_0(i, tile); ++i)\n"
                     "    for (int step = tile.first; step < tile.last; ++step)\n"
                     "      ++counts[(tile.row / {} * {} + tile.column / {}) * {} + step];\n}}\n",
                     tileRows, across, tileColumns, steps);
  count.plan.buffers = {domain::contiguousTensor(ScalarType::Int32, {down * across * steps})};
  count.plan.inputs = count.plan.outputs = {domain::ValueId(0)};
  domain::KernelStep kernel;
  kernel.entry = "count";
  kernel.grid = step.grid;
  kernel.block.x = 32;
  kernel.arguments = {domain::ValueId(0)};
  count.plan.steps = {kernel};
  const auto counts =
      runEmulated(count, {Bytes(static_cast<std::size_t>(down * across * steps) * sizeof(std::int32_t), 0)});
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_THAT(toNumbers<std::int32_t>(counts.front()), ::testing::Each(1.0));
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaDeals,
                         ::testing::Values(Deal{"Whole", 1024, 2048, 256, {{"tile_columns", 128}, {"share", 0}}},
                                           Deal{"Shared", 4096, 4096, 1024, {{"tile_columns", 192}}},
                                           Deal{"SharedByAll", 256, 192, 65536, {{"tile_columns", 192}, {"pair", 0}}},
                                           Deal{"Tails", 5000, 3000, 1000, {{"tile_columns", 128}, {"band", 4}}}),
                         [](const auto& each) { return each.param.name; });

// --- the split -------------------------------------------------------------------------------------------------------

// Numbers of all magnitudes, with rows of denormals, of zeros, of large numbers, and with an infinity.
Numbers uneven(std::size_t lines, std::size_t depth) {
  Random random(5);
  Numbers numbers(lines * depth);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t line = i / depth;
    const double scale = line == 0   ? 1e-42
                         : line == 1 ? 0.0
                         : line == 2 ? 3e38
                                     : std::exp2(60.0 * random.unit() - 40.0);
    numbers[i] = static_cast<double>(static_cast<float>((2.0 * random.unit() - 1.0) * scale));
  }
  numbers[3 * depth + 7] = -std::numeric_limits<double>::infinity();
  return numbers;
}

struct Split {
  const char* name;
  bool isAlongDepth;
  int lines;  // of a block
  int depth;  // of a block
  int width;
  friend void PrintTo(const Split& self, std::ostream* out) { *out << self.name; }
};

class WgmmaSplits : public ::testing::TestWithParam<Split> {};

// high + low is each number to 2^-23 of itself or 2^-38 of the largest of its line, and no half overflows.
TEST_P(WgmmaSplits, KeepFloatsToTheirLastBitsOrThoseOfTheLargest) {
  const Split& split = GetParam();
  const std::string& helpers = catalogue().helpers(domain::Language::CudaCpp);
  constexpr int kLines = 40;
  constexpr int kDepth = 300;
  const int stride = split.isAlongDepth ? kDepth : kLines;
  domain::Program program;
  program.language = domain::Language::CudaCpp;
  program.source =
      helpersFor(emulatedCatalogue().helpers(domain::Language::CudaCpp), "toHalf toFloat") +
      "inline void clusterBarrier() {}\ninline int readInBlock(const int* at, int) { return *at; }\n" +
      cut(helpers, "template <int lines", "//! swage:helper") +
      fmt::format(
          "extern \"C\" __global__ void split(const float* x, Half* planes, float* roots) {{\n"
          "  const auto element = [&](int line, int depth) {{ return x[line * {0} + depth]; }};\n"
          "  const auto place = [&](int line, int depth) {{ return {1} * {2} + {3}; }};\n"
          "  splitLines<{4}, {5}, {6}, 1, 2, {7}>(blockIdx.x * {4}, {8}, {0}, planes, {9}, roots, element, "
          "place);\n}}\n",
          kDepth, split.isAlongDepth ? "line" : "depth", stride, split.isAlongDepth ? "depth" : "line", split.lines,
          split.depth, split.width, split.isAlongDepth ? "true" : "false", kLines, kLines * kDepth);
  using domain::ValueId;
  program.plan.buffers = {domain::contiguousTensor(ScalarType::Float32, {kLines * kDepth}),
                          domain::contiguousTensor(ScalarType::Float16, {2 * kLines * kDepth}),
                          domain::contiguousTensor(ScalarType::Float32, {kLines})};
  program.plan.inputs = {ValueId(0)};
  program.plan.outputs = {ValueId(1), ValueId(2)};
  domain::KernelStep kernel;
  kernel.entry = "split";
  kernel.grid.x = static_cast<std::uint32_t>((kLines + split.lines - 1) / split.lines);
  kernel.block.x = 256;
  kernel.arguments = {ValueId(0), ValueId(1), ValueId(2)};
  program.plan.steps = {kernel};
  const Numbers x = uneven(kLines, kDepth);
  const auto results = runEmulated(program, {toBytes<float>(x)});
  ASSERT_EQ(results.size(), 2U);
  const Numbers halves = toNumbers<_Float16>(results[0]);
  const Numbers roots = toNumbers<float>(results[1]);
  for (std::size_t line = 0; line < kLines; ++line) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(line * kDepth);
    double largest = 0.0;
    std::for_each(begin, begin + kDepth, [&](double number) { largest = std::max(largest, std::fabs(number)); });
    ASSERT_EQ(std::signbit(roots[line]), std::isinf(largest)) << "line " << line;
    for (std::size_t depth = 0; depth < kDepth && !std::isinf(largest); ++depth) {
      const std::size_t at = split.isAlongDepth ? line * kDepth + depth : depth * kLines + line;
      const double number = x[line * kDepth + depth];
      const double parts = (halves[at] + halves[at + kLines * kDepth]) * roots[line] * roots[line];
      const double limit = std::max({std::fabs(number) * 0x1p-23, largest * 0x1p-38, 0x1p-150});
      ASSERT_LE(std::fabs(parts - number), limit) << "line " << line << ", depth " << depth << ": " << number;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WgmmaSplits,
                         ::testing::Values(Split{"AlongDepth", true, 4, 512, 4}, Split{"OneByOne", true, 32, 304, 1},
                                           Split{"AlongLines", false, 32, 320, 4},
                                           Split{"NotKept", false, 128, 300, 1}),
                         [](const auto& each) { return each.param.name; });

// --- infinities ------------------------------------------------------------------------------------------------------

// The product's own text for lines with an infinity, around which are 16 rows and 32 columns of one warp.
TEST(WgmmaProducts, AddUpLinesWithAnInfinityAsFloats) {
  constexpr std::size_t kRows = 16;
  constexpr std::size_t kColumns = 32;
  constexpr std::size_t kDepth = 48;
  const auto made = realise(productGraph(kRows, kColumns, kDepth), {{"tile_columns", 64}, {"pair", 0}, {"share", 0}});
  ASSERT_THAT(made, swage::testing::IsOk());
  const std::string parameters = cut(made->source, "TensorMap right, ", ", const float* __restrict__ left_roots");
  const std::string text = cut(made->source, "if (has_infinity || ", "#pragma unroll\n");
  domain::Program program;
  program.language = domain::Language::CudaCpp;
  program.source =
      "extern \"C\" __global__ void repair(" + parameters.substr(std::string("TensorMap right, ").size()) +
      ", const float* left_roots, const float* right_roots, float* turned_out) {\n"
      "  float turned[1][16][40] = {};\n  const int warp = 0, lane = threadIdx.x, column = lane, first_row = 0;\n"
      "  const bool has_infinity = true;\n" +
      text + "  for (int r = 0; r < 16; ++r) turned_out[r * 32 + lane] = turned[0][r][lane];\n}\n";
  using domain::ValueId;
  const auto buffer = [](std::size_t count) {
    return domain::contiguousTensor(ScalarType::Float32, {static_cast<std::int64_t>(count)});
  };
  program.plan.buffers = {buffer(kRows * kDepth), buffer(kDepth * kColumns), buffer(kRows * kColumns),
                          buffer(kRows),          buffer(kColumns),          buffer(kRows * kColumns)};
  program.plan.inputs = {ValueId(0), ValueId(1), ValueId(2), ValueId(3), ValueId(4)};
  program.plan.outputs = {ValueId(5)};
  domain::KernelStep kernel;
  kernel.entry = "repair";
  kernel.block.x = 32;
  for (int i = 0; i < 6; ++i) {
    kernel.arguments.emplace_back(ValueId(i));
  }
  program.plan.steps = {kernel};
  Numbers x(kRows * kDepth, 0.5);
  Numbers y(kDepth * kColumns, 2.0);
  x[2 * kDepth + 5] = std::numeric_limits<double>::infinity();     // row 2
  y[6 * kColumns + 9] = -std::numeric_limits<double>::infinity();  // column 9
  y[5 * kColumns + 4] = 0.0;                                       // meets the infinity of row 2
  Numbers leftRoots(kRows, 1.0);
  Numbers rightRoots(kColumns, 1.0);
  leftRoots[2] = rightRoots[9] = -1.0;
  const auto results = runEmulated(program, {toBytes<float>(x), toBytes<float>(y), toBytes<float>(Numbers(512, 0.0)),
                                             toBytes<float>(leftRoots), toBytes<float>(rightRoots)});
  ASSERT_EQ(results.size(), 1U);
  const Numbers found = toNumbers<float>(results.front());
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      const double value = found[row * kColumns + column];
      if (row == 2 && (column == 4 || column == 9)) {
        EXPECT_TRUE(std::isnan(value)) << row << ", " << column;
      } else if (row == 2) {
        EXPECT_EQ(value, std::numeric_limits<double>::infinity()) << column;
      } else if (column == 9) {
        EXPECT_EQ(value, -std::numeric_limits<double>::infinity()) << row;
      } else {
        EXPECT_EQ(value, 0.0) << "what the tensor cores have found stays: " << row << ", " << column;
      }
    }
  }
}

}  // namespace
}  // namespace swage::synth
