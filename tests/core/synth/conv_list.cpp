// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/domain/numeric_mode.h"
#include "core/synth/synthesizer.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/measured_device.h"

// Writes convolutions as programs, and copies between layouts, one JSON object a line, for measure_convolutions.py:
// swage_conv_programs PATTERNS_FOLDER [MOST [CASE…]] > programs.jsonl
namespace swage::synth {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Case {
  std::string name;
  domain::Graph graph;
  domain::Json convolution;  // for PyTorch; null: a copy
};

struct Conv {
  std::string name;
  domain::Shape input;
  domain::Shape weight;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t groups = 1;
  domain::ScalarType type = domain::ScalarType::Float32;
  bool isTransposed = false;
  // As in KernelBench: no bias, no ReLU, and along each dimension something else where these say so.
  bool isBare = false;
  Sizes strides = {};
  Sizes paddings = {};
  Sizes dilations = {};
};

std::int64_t at(const Sizes& sizes, std::size_t dim, std::int64_t otherwise) {
  return sizes.empty() ? otherwise : sizes[dim];
}

Case caseOf(const Conv& c) {
  GraphBuilder b;
  const std::size_t dims = c.input.size() - 2;
  const auto x = b.input(c.input, c.type);
  const auto weight = b.input(c.weight, c.type);
  domain::Shape result{c.input[0], c.isTransposed ? c.weight[1] * c.groups : c.weight[0]};
  Sizes strides;
  Sizes paddings;
  Sizes dilations;
  for (std::size_t dim = 0; dim < dims; ++dim) {
    strides.push_back(at(c.strides, dim, c.stride));
    paddings.push_back(at(c.paddings, dim, c.padding));
    dilations.push_back(at(c.dilations, dim, 1));
    const std::int64_t reach = dilations.back() * (c.weight[dim + 2] - 1);
    const std::int64_t size = c.input[dim + 2];
    result.push_back(c.isTransposed ? (size - 1) * strides.back() - 2 * paddings.back() + reach + 1
                                    : (size + 2 * paddings.back() - reach - 1) / strides.back() + 1);
  }
  std::vector<domain::Argument> args{arg(x), arg(weight)};
  args.push_back(c.isBare ? domain::Argument{} : arg(b.input({result[1]}, c.type)));
  args.insert(args.end(), {listArg(strides), listArg(paddings)});
  const auto groups = arg(static_cast<int>(c.groups));
  if (c.isTransposed) {
    args.insert(args.end(), {listArg(Sizes(dims, 0)), groups, listArg(dilations)});
  } else {
    args.insert(args.end(), {listArg(dilations), groups});
  }
  const std::string op = fmt::format("aten.conv{}{}d.{}", c.isTransposed ? "_transpose" : "", dims,
                                     c.isTransposed && dims > 1 ? "input" : "default");
  const auto sums = b.call(op, args, result, c.type);
  b.output(c.isBare ? sums : b.relu(sums));
  return {c.name,
          b.graph(),
          {{"stride", strides},
           {"padding", paddings},
           {"dilation", dilations},
           {"groups", c.groups},
           {"transposed", c.isTransposed},
           {"bare", c.isBare}}};
}

Case copyToChannelsLast(const domain::Shape& shape) {
  GraphBuilder b;
  b.output(b.like("aten.clone.default", b.input(shape)));
  domain::Graph graph = b.graph();
  domain::TensorType& type = graph.values.back();
  type.strides = {shape[1] * shape[2] * shape[3], 1, shape[3] * shape[1], shape[1]};
  return {fmt::format("to_channels_last_{}", shape[1]), std::move(graph), nullptr};
}

// The convolutions of KernelBench's first level with odd numbers.
std::vector<Conv> benchmarkCases() {
  using enum domain::ScalarType;
  return {{"kb55", {8, 64, 512, 1024}, {128, 64, 3, 3}},
          {"kb57", {8, 64, 1024, 1024}, {64, 64, 3, 3}, 1, 0, 1, Float32, true},
          {"kb59", {16, 3, 256, 256, 10}, {64, 3, 3, 3, 1}},
          {"kb61", {8, 48, 64, 64, 64}, {48, 48, 3, 3, 3}, 1, 0, 1, Float32, true},
          {"kb63", {16, 16, 1024, 1024}, {128, 16, 3, 3}},
          {"kb65", {8, 64, 512, 512}, {64, 64, 3, 7}, 1, 0, 1, Float32, true},
          {"kb67", {32, 64, 131072}, {128, 64, 3}},
          {"kb69", {64, 64, 128, 256}, {64, 128, 3, 5}, 1, 0, 1, Float32, true},
          {"kb71", {8, 32, 512, 1024}, {32, 32, 3, 3}, 1, 0, 1, Float32, true},
          {"kb73", {4, 32, 32, 64, 128}, {32, 8, 3, 3, 3}, 2, 1, 4, Float32, true},
          {"kb75", {16, 32, 128, 256}, {32, 16, 3, 5}, 1, 0, 4, Float32, true, true, {2, 3}, {1, 2}, {2, 1}},
          {"kb77", {16, 32, 16, 32, 32}, {32, 64, 3, 3, 3}, 2, 1, 1, Float32, true, true, {}, {}, {2, 2, 2}},
          {"kb79", {16, 32, 131072}, {32, 64, 3}, 2, 1, 1, Float32, true, true, {}, {}, {2}},
          {"kb81", {16, 32, 64, 128}, {32, 64, 3, 3}, 5, 1, 1, Float32, true, true, {}, {}, {2, 2}},
          {"kb83", {64, 8, 512, 512}, {8, 1, 3, 1}, 1, 0, 8},
          {"kb85", {32, 128, 128, 256}, {128, 1, 3, 7}, 1, 0, 128},
          {"kb87", {16, 64, 1024, 1024}, {128, 64, 1, 1}}};
}

std::vector<Case> cases() {
  using enum domain::ScalarType;
  std::vector<Case> list;
  for (const Conv& c :
       std::vector<Conv>{{"3x3_64_128_large", {8, 64, 512, 1024}, {128, 64, 3, 3}},
                         {"3x3_64_64_56", {16, 64, 56, 56}, {64, 64, 3, 3}, 1, 1},
                         {"3x3_128_128_28", {16, 128, 28, 28}, {128, 128, 3, 3}, 1, 1},
                         {"3x3_256_256_14", {16, 256, 14, 14}, {256, 256, 3, 3}, 1, 1},
                         {"3x3_512_512_7", {16, 512, 7, 7}, {512, 512, 3, 3}, 1, 1},
                         {"3x3_64_128_stride2", {16, 64, 56, 56}, {128, 64, 3, 3}, 2, 1},
                         {"3x3_256_256_56", {16, 256, 56, 56}, {256, 256, 3, 3}, 1, 1},
                         {"3d_3x3x3_16_32", {8, 16, 32, 96, 96}, {32, 16, 3, 3, 3}},
                         {"3d_3x3x3_64_64", {8, 64, 16, 64, 64}, {64, 64, 3, 3, 3}, 1, 1},
                         {"transposed_3d_3x3x3_32_64", {16, 32, 16, 32, 32}, {32, 64, 3, 3, 3}, 2, 1, 1, Float32, true},
                         {"transposed_3x3_32_64_stride5", {16, 32, 64, 128}, {32, 64, 3, 3}, 5, 1, 1, Float32, true},
                         {"transposed_3x3_32_64", {16, 32, 128, 256}, {32, 64, 3, 3}, 2, 1, 1, Float32, true},
                         {"3x3_64_128_half", {16, 64, 256, 256}, {128, 64, 3, 3}, 1, 0, 1, Float16},
                         {"3x3_128_128_padded", {32, 128, 64, 64}, {128, 128, 3, 3}, 1, 1},
                         {"3x3_grouped_4", {16, 128, 128, 128}, {256, 32, 3, 3}, 1, 1, 4},
                         {"1x1_64_128", {16, 64, 512, 512}, {128, 64, 1, 1}},
                         {"7x7_3_64_stride2", {32, 3, 224, 224}, {64, 3, 7, 7}, 2, 3},
                         {"3x3_8_64", {64, 8, 128, 128}, {64, 8, 3, 3}},
                         {"3d_3x3x3_8_32", {16, 8, 16, 64, 64}, {32, 8, 3, 3, 3}},
                         {"3d_3x3x3_3_16", {64, 3, 16, 64, 64}, {16, 3, 3, 3, 3}},
                         {"3x3_8_64_128", {128, 8, 128, 128}, {64, 8, 3, 3}},
                         {"3x3_8_64_256", {128, 8, 256, 256}, {64, 8, 3, 3}},
                         {"3x3_8_32_256", {128, 8, 256, 256}, {32, 8, 3, 3}},
                         {"3x3_16_64", {64, 16, 128, 128}, {64, 16, 3, 3}},
                         {"3x3_32_64", {64, 32, 128, 128}, {64, 32, 3, 3}},
                         {"3d_3x3x3_3_16_small", {128, 3, 16, 32, 32}, {16, 3, 3, 3, 3}},
                         {"depthwise_3x3", {16, 64, 512, 512}, {64, 1, 3, 3}, 1, 1, 64}}) {
    list.push_back(caseOf(c));
  }
  for (Conv c : benchmarkCases()) {
    c.isBare = true;
    list.push_back(caseOf(c));
  }
  list.push_back(copyToChannelsLast({16, 64, 256, 256}));
  list.push_back(copyToChannelsLast({32, 3, 512, 512}));
  return list;
}

const std::set<std::string> kPatterns{"conv_mma",   "conv_wgmma", "direct",          "direct_rows",
                                      "map_turned", "product",    "product_onepass", "product_wgmma"};

// Of conv_wgmma, far apart: tile_columns, tile_pixels, tile_width, tile_depth, parts, bring_groups, blocks.
constexpr std::array<std::array<std::int64_t, 7>, 18> kSpread{{{128, 256, 64, 16, 1, 2, 1},
                                                               {64, 256, 64, 32, 1, 1, 2},
                                                               {128, 256, 0, 32, 1, 2, 1},
                                                               {64, 128, 64, 32, 1, 1, 2},
                                                               {64, 64, 8, 64, 1, 2, 1},
                                                               {128, 128, 0, 64, 1, 2, 1},
                                                               {64, 56, 8, 64, 1, 1, 2},
                                                               {64, 256, 64, 16, 1, 1, 2},
                                                               {64, 256, 128, 32, 2, 2, 1},
                                                               {64, 112, 8, 32, 1, 1, 2},
                                                               {64, 64, 64, 32, 1, 1, 2},
                                                               {128, 256, 128, 32, 1, 2, 1},
                                                               {64, 256, 0, 32, 1, 1, 2},
                                                               {64, 128, 0, 16, 1, 1, 2},
                                                               {128, 64, 0, 16, 2, 1, 1},
                                                               {128, 256, 16, 32, 1, 2, 1},
                                                               {64, 256, 16, 16, 1, 1, 2},
                                                               {64, 256, 16, 32, 2, 2, 1}}};

// For few channels, and for floats as two halves.
constexpr std::array<std::array<std::int64_t, 7>, 30> kFewSpread{
    {{64, 128, 16, 4, 1, 1, 2},  {64, 112, 8, 4, 1, 1, 2},  {64, 128, 64, 4, 1, 1, 2},  {64, 256, 32, 4, 1, 1, 2},
     {64, 112, 16, 4, 1, 1, 2},  {64, 128, 16, 4, 2, 2, 1}, {64, 256, 0, 8, 1, 2, 1},   {64, 256, 0, 8, 2, 2, 1},
     {64, 256, 0, 8, 1, 1, 2},   {64, 128, 0, 8, 1, 1, 2},  {64, 256, 128, 8, 1, 1, 2}, {64, 256, 64, 8, 2, 2, 1},
     {64, 256, 64, 8, 1, 1, 2},  {64, 128, 64, 8, 1, 1, 2}, {64, 256, 32, 8, 1, 1, 2},  {64, 128, 16, 8, 1, 1, 2},
     {64, 128, 16, 8, 2, 2, 1},  {64, 112, 16, 8, 1, 1, 2}, {64, 128, 32, 8, 1, 1, 2},  {64, 128, 64, 16, 2, 2, 1},
     {64, 128, 64, 16, 1, 1, 2}, {64, 128, 0, 16, 1, 1, 2}, {64, 128, 64, 32, 2, 2, 1}, {64, 128, 128, 8, 1, 2, 1},
     {64, 128, 64, 8, 1, 2, 1},  {64, 56, 8, 8, 1, 1, 2},   {64, 112, 0, 8, 1, 1, 2},   {64, 56, 0, 8, 1, 2, 2},
     {64, 112, 8, 8, 1, 1, 2},   {64, 64, 64, 8, 1, 1, 2}}};

template <std::size_t Count>
void addSpread(const domain::Genome& seed, const std::array<std::array<std::int64_t, 7>, Count>& spread,
               std::vector<domain::Genome>& list) {
  constexpr std::array kNames{"tile_columns", "tile_pixels",  "tile_width", "tile_depth",
                              "parts",        "bring_groups", "blocks"};
  for (const auto& values : spread) {
    list.push_back(seed);
    for (std::size_t i = 0; i < values.size(); ++i) {
      list.back().regions[0].parameters[kNames[i]] = values[i];
    }
  }
}

void addSpreads(domain::Genome seed, std::vector<domain::Genome>& list) {
  addSpread(seed, kSpread, list);
  std::int64_t& mode = seed.regions[0].parameters["mode"];
  if (mode != 0) {
    mode = 1;
    addSpread(seed, kFewSpread, list);
    addSpread(seed, kSpread, list);
    mode = 3;
    addSpread(seed, kFewSpread, list);
  }
}

// The seeds of one region, and these with one parameter at another of its values: at most so many that can be made, of
// conv_wgmma in each mode, and a quarter of that of each other pattern.
std::vector<domain::Genome> genomesOf(const Synthesizer& synthesizer, const patterns::Catalogue& catalogue,
                                      std::size_t most) {
  std::vector<domain::Genome> list;
  for (const domain::Genome& seed : synthesizer.seeds()) {
    const bool isWanted =
        seed.regions.size() == 1 && seed.rewrites.empty() && kPatterns.contains(seed.regions[0].pattern);
    if (isWanted) {
      list.push_back(seed);
    }
  }
  const std::size_t seeds = list.size();
  for (std::size_t i = 0; i < seeds; ++i) {
    const domain::Genome seed = list[i];
    if (seed.regions[0].pattern == "conv_wgmma") {
      addSpreads(seed, list);
      continue;
    }
    const patterns::Pattern& pattern = *catalogue.find(domain::Language::CudaCpp, seed.regions[0].pattern);
    for (const patterns::Parameter& parameter : pattern.parameters) {
      for (const std::int64_t value : parameter.values) {
        list.push_back(seed);
        list.back().regions[0].parameters[parameter.name] = value;
      }
    }
  }
  std::set<std::string> known;
  std::map<std::string, std::size_t> counts;
  std::vector<domain::Genome> made;
  for (const domain::Genome& genome : list) {
    const bool isNew = known.insert(domain::canonicalText(genome)).second;
    const bool isAmongMany = genome.regions[0].pattern != "conv_wgmma";
    const std::string kind = fmt::format("{} {}", genome.regions[0].pattern, domain::numericModes(genome));
    if (isNew && counts[kind] < (isAmongMany ? std::max<std::size_t>(1, most / 4) : most) &&
        synthesizer.realise(genome)) {
      ++counts[kind];
      made.push_back(genome);
    }
  }
  return made;
}

int writePrograms(const std::filesystem::path& folder, std::size_t most, const std::set<std::string>& wanted) {
  const auto catalogue = patterns::Catalogue::load(folder);
  if (!catalogue) {
    std::cerr << catalogue.error().message() << "\n";
    return 1;
  }
  for (const Case& one : cases()) {
    if (!wanted.empty() && !wanted.contains(one.name)) {
      continue;
    }
    const auto synthesizer = Synthesizer::create(one.graph, measuredDevice(), *catalogue);
    const std::vector<domain::Genome> genomes = genomesOf(**synthesizer, *catalogue, most);
    const auto seconds = [&](const domain::Genome& genome) { return (*synthesizer)->estimate(genome).value_or(1.0); };
    const auto first = std::min_element(genomes.begin(), genomes.end(),
                                        [&](const auto& a, const auto& b) { return seconds(a) < seconds(b); });
    for (const domain::Genome& genome : genomes) {
      const auto program = (*synthesizer)->realise(genome);
      std::cout << domain::Json{{"case", one.name},
                                {"convolution", one.convolution},
                                {"pattern", genome.regions[0].pattern},
                                {"genome", domain::toJson(genome).dump()},
                                {"first", &genome == &*first},
                                {"estimate", (*synthesizer)->estimate(genome).value_or(0.0)},
                                {"entries", program->entries()},
                                {"source", program->source},
                                {"plan", domain::toJson(program->plan)}}
                       .dump()
                << "\n";
    }
  }
  return 0;
}

}  // namespace
}  // namespace swage::synth

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: swage_conv_programs PATTERNS_FOLDER [MOST [CASE...]] > programs.jsonl\n";
    return 2;
  }
  const std::set<std::string> wanted(argv + std::min(argc, 3), argv + argc);
  return swage::synth::writePrograms(argv[1], argc > 2 ? std::stoul(argv[2]) : 12, wanted);
}
