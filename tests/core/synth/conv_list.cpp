// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/synth/synthesizer.h"
#include "tests/core/synth/graph_builder.h"

// Writes convolutions as programs of the pattern conv_mma, and copies between layouts, one JSON object a line, for
// measure_convolutions.py: swage_conv_programs PATTERNS_FOLDER [MOST] > programs.jsonl
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
};

Case caseOf(const Conv& c) {
  GraphBuilder b;
  const std::size_t dims = c.input.size() - 2;
  const auto x = b.input(c.input, c.type);
  const auto weight = b.input(c.weight, c.type);
  domain::Shape result{c.input[0], c.isTransposed ? c.weight[1] * c.groups : c.weight[0]};
  for (std::size_t dim = 2; dim < c.input.size(); ++dim) {
    result.push_back(c.isTransposed ? (c.input[dim] - 1) * c.stride - 2 * c.padding + c.weight[dim]
                                    : (c.input[dim] + 2 * c.padding - c.weight[dim]) / c.stride + 1);
  }
  const auto bias = b.input({result[1]}, c.type);
  std::vector<domain::Argument> args{arg(x), arg(weight), arg(bias), listArg(Sizes(dims, c.stride)),
                                     listArg(Sizes(dims, c.padding))};
  const auto groups = arg(static_cast<int>(c.groups));
  if (c.isTransposed) {
    args.insert(args.end(), {listArg(Sizes(dims, 0)), groups, listArg(Sizes(dims, 1))});
  } else {
    args.insert(args.end(), {listArg(Sizes(dims, 1)), groups});
  }
  const std::string op = fmt::format("aten.conv{}{}d.{}", c.isTransposed ? "_transpose" : "", dims,
                                     c.isTransposed && dims > 1 ? "input" : "default");
  b.output(b.relu(b.call(op, args, result, c.type)));
  return {c.name,
          b.graph(),
          {{"stride", c.stride}, {"padding", c.padding}, {"groups", c.groups}, {"transposed", c.isTransposed}}};
}

Case copyToChannelsLast(const domain::Shape& shape) {
  GraphBuilder b;
  b.output(b.like("aten.clone.default", b.input(shape)));
  domain::Graph graph = b.graph();
  domain::TensorType& type = graph.values.back();
  type.strides = {shape[1] * shape[2] * shape[3], 1, shape[3] * shape[1], shape[1]};
  return {fmt::format("to_channels_last_{}", shape[1]), std::move(graph), nullptr};
}

std::vector<Case> cases() {
  using enum domain::ScalarType;
  std::vector<Case> list;
  for (const Conv& c :
       std::vector<Conv>{{"3x3_64_128", {16, 64, 256, 256}, {128, 64, 3, 3}},
                         {"3x3_128_128_padded", {32, 128, 64, 64}, {128, 128, 3, 3}, 1, 1},
                         {"3x3_64_128_half", {16, 64, 256, 256}, {128, 64, 3, 3}, 1, 0, 1, Float16},
                         {"7x7_3_64_stride2", {32, 3, 224, 224}, {64, 3, 7, 7}, 2, 3},
                         {"3x3_8_64", {64, 8, 128, 128}, {64, 8, 3, 3}},
                         {"3x3_16_128", {16, 16, 512, 512}, {128, 16, 3, 3}},
                         {"1x1_64_128", {16, 64, 512, 512}, {128, 64, 1, 1}},
                         {"3d_3x3x3_16_32", {8, 16, 32, 96, 96}, {32, 16, 3, 3, 3}},
                         {"3d_3x3x3_8_32", {16, 8, 16, 64, 64}, {32, 8, 3, 3, 3}},
                         {"3d_3x3x3_3_16", {64, 3, 16, 64, 64}, {16, 3, 3, 3, 3}},
                         {"1d_3_64_128", {32, 64, 131072}, {128, 64, 3}},
                         {"3x3_grouped_4", {16, 128, 128, 128}, {256, 32, 3, 3}, 1, 1, 4},
                         {"transposed_3x3_32_64", {16, 32, 128, 256}, {32, 64, 3, 3}, 2, 1, 1, Float32, true},
                         {"transposed_3x3_stride1", {8, 64, 256, 256}, {64, 64, 3, 3}, 1, 0, 1, Float32, true},
                         {"transposed_3d_3x3x3_32_64", {16, 32, 16, 32, 32}, {32, 64, 3, 3, 3}, 2, 1, 1, Float32, true},
                         {"depthwise_3x3", {16, 64, 512, 512}, {64, 1, 3, 3}, 1, 1, 64},
                         {"3x3_512_512_small", {8, 512, 14, 14}, {512, 512, 3, 3}, 1, 1}}) {
    list.push_back(caseOf(c));
  }
  list.push_back(copyToChannelsLast({16, 64, 256, 256}));
  list.push_back(copyToChannelsLast({32, 3, 512, 512}));
  return list;
}

domain::DeviceInfo device() {
  domain::DeviceInfo device;
  device.kind = domain::DeviceKind::Cuda;
  device.architecture = "sm_90a";
  device.multiprocessors = 132;
  device.cacheBytes = std::int64_t{50} << 20;
  device.sharedBytesPerBlock = 232448;
  device.computeCapability = 90;
  device.copyBytesPerSecond = 2.9e12;
  return device;
}

const std::set<std::string> kPatterns{"conv_mma", "direct", "direct_rows", "map_turned"};

// The seeds of one region, and these with one parameter at another of its values: at most so many that can be made.
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
    const patterns::Pattern& pattern = *catalogue.find(domain::Language::CudaCpp, seed.regions[0].pattern);
    for (const patterns::Parameter& parameter : pattern.parameters) {
      for (const std::int64_t value : parameter.values) {
        list.push_back(seed);
        list.back().regions[0].parameters[parameter.name] = value;
      }
    }
  }
  std::set<std::string> known;
  std::vector<domain::Genome> made;
  for (const domain::Genome& genome : list) {
    if (made.size() < most && known.insert(domain::canonicalText(genome)).second && synthesizer.realise(genome)) {
      made.push_back(genome);
    }
  }
  return made;
}

int writePrograms(const std::filesystem::path& folder, std::size_t most) {
  const auto catalogue = patterns::Catalogue::load(folder);
  if (!catalogue) {
    std::cerr << catalogue.error().message() << "\n";
    return 1;
  }
  for (const Case& one : cases()) {
    const auto synthesizer = Synthesizer::create(one.graph, device(), *catalogue);
    for (const domain::Genome& genome : genomesOf(**synthesizer, *catalogue, most)) {
      const auto program = (*synthesizer)->realise(genome);
      std::cout << domain::Json{{"case", one.name},
                                {"convolution", one.convolution},
                                {"pattern", genome.regions[0].pattern},
                                {"genome", domain::toJson(genome).dump()},
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
    std::cerr << "usage: swage_conv_programs PATTERNS_FOLDER [MOST] > programs.jsonl\n";
    return 2;
  }
  return swage::synth::writePrograms(argv[1], argc > 2 ? std::stoul(argv[2]) : 12);
}
