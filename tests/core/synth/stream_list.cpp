// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/synth/synthesizer.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/measured_device.h"

// Writes programs of scans, pooling, losses and moves of data, one JSON object a line, each with the expression of
// PyTorch that it stands for, to be measured on a GPU beside that and beside a copy of the same bytes
// (measure_streams.py): swage_stream_programs PATTERNS_FOLDER [MOST [CASE [PATTERN]]] > programs.jsonl
// With a pattern: all combinations of its parameters, of a case that it computes by one kernel.
namespace swage::synth {
namespace {

using domain::Shape;
using Type = domain::ScalarType;

struct Case {
  std::string name;
  std::string reference;  // of the inputs a, b and c
  int independent;        // slices along this dimension do not need each other; -1: means over it, -2: one for all
  domain::Graph graph;
};

Case scan(std::string name, std::string reference, const Shape& shape, int dim, const std::string& op = "cumsum",
          Type type = Type::Float32) {
  GraphBuilder b;
  b.output(b.like("aten." + op + ".default", b.input(shape, type), {arg(dim)}));
  return {std::move(name), std::move(reference), dim == 0 ? 1 : 0, b.graph()};
}

Case reverseScan(const Shape& shape) {
  GraphBuilder b;
  const auto turned = b.like("aten.flip.default", b.input(shape), {listArg({1})});
  b.output(b.like("aten.flip.default", b.like("aten.cumsum.default", turned, {arg(1)}), {listArg({1})}));
  return {"cumsum_reverse", "a.flip(1).cumsum(1).flip(1)", 0, b.graph()};
}

Case maskedScan(const Shape& shape) {
  GraphBuilder b;
  const auto x = b.input(shape);
  b.output(b.like("aten.cumsum.default", b.mul(x, b.input(shape, Type::Bool)), {arg(1)}));
  return {"cumsum_masked", "(a * b).cumsum(1)", 0, b.graph()};
}

Case exclusiveScan(std::int64_t rows, std::int64_t length) {
  GraphBuilder b;
  const auto padded = b.call("aten.constant_pad_nd.default", {arg(b.input({rows, length})), listArg({1, 0}), arg(0.0)},
                             {rows, length + 1});
  b.output(b.like("aten.cumsum.default", padded, {arg(1)}));
  return {"cumsum_padded", "torch.nn.functional.pad(a, (1, 0)).cumsum(1)", 0, b.graph()};
}

Case pool(std::string name, std::string reference, const std::string& op, std::vector<domain::Argument> args,
          const Shape& from, const Shape& to, Type type = Type::Float32) {
  GraphBuilder b;
  args.insert(args.begin(), arg(b.input(from, type)));
  b.output(b.call("aten." + op + ".default", std::move(args), to, type));
  return {std::move(name), std::move(reference), 0, b.graph()};
}

std::vector<Case> pools() {
  const std::string functional = "torch.nn.functional.";
  return {
      pool("max_pool1d", functional + "max_pool1d(a, 8, 1, 4, 3)", "max_pool1d",
           {listArg({8}), listArg({1}), listArg({4}), listArg({3})}, {64, 192, 65536}, {64, 192, 65523}),
      pool("max_pool3d", functional + "max_pool3d(a, 3, 2, 1, 3)", "max_pool3d",
           {listArg({3, 3, 3}), listArg({2, 2, 2}), listArg({1, 1, 1}), listArg({3, 3, 3})}, {16, 32, 128, 128, 128},
           {16, 32, 62, 62, 62}),
      pool("avg_pool2d", functional + "avg_pool2d(a, 11)", "avg_pool2d",
           {listArg({11, 11}), listArg({11, 11}), listArg({0, 0})}, {16, 64, 2048, 2048}, {16, 64, 186, 186}),
      pool("max_pool2d_stem", functional + "max_pool2d(a, 3, 2, 1)", "max_pool2d",
           {listArg({3, 3}), listArg({2, 2}), listArg({1, 1})}, {256, 64, 112, 112}, {256, 64, 56, 56}),
      pool("max_pool2d_same", functional + "max_pool2d(a, 3, 1, 1)", "max_pool2d",
           {listArg({3, 3}), listArg({1, 1}), listArg({1, 1})}, {128, 128, 56, 56}, {128, 128, 56, 56}),
      pool("max_pool2d_half", functional + "max_pool2d(a, 2)", "max_pool2d", {listArg({2, 2}), listArg({2, 2})},
           {256, 64, 128, 128}, {256, 64, 64, 64}, Type::Float16),
      pool("avg_pool3d_half", functional + "avg_pool3d(a, 2)", "avg_pool3d",
           {listArg({2, 2, 2}), listArg({2, 2, 2}), listArg({0, 0, 0})}, {32, 64, 32, 64, 64}, {32, 64, 16, 32, 32}),
      pool("global_average", functional + "adaptive_avg_pool2d(a, 1)", "adaptive_avg_pool2d", {listArg({1, 1})},
           {256, 2048, 16, 16}, {256, 2048, 1, 1}),
  };
}

Case tripletMargin() {
  GraphBuilder b;
  const auto x = b.input({32768, 8192});
  const auto y = b.input({32768, 8192});
  const auto z = b.input({32768, 8192});
  b.output(b.call("aten.triplet_margin_loss.default", {arg(x), arg(y), arg(z), arg(1.0)}, {}));
  return {"triplet_margin", "torch.nn.functional.triplet_margin_loss(a, b, c)", -1, b.graph()};
}

Case crossEntropy() {
  GraphBuilder b;
  const auto logits = b.input({32768, 4096});
  const auto target = b.input({32768}, Type::Int64);
  b.output(b.call("aten.cross_entropy_loss.default", {arg(logits), arg(target)}, {}));
  return {"cross_entropy", "torch.nn.functional.cross_entropy(a, b)", -1, b.graph()};
}

Case reduction(const std::string& name, const std::string& op, std::vector<domain::Argument> args, Type type) {
  GraphBuilder b;
  args.insert(args.begin(), arg(b.input({128, 4096, 4095})));
  b.output(b.call(op, std::move(args), {128, 4095}, type));
  return {name, fmt::format("a.{}(1)", name), 0, b.graph()};
}

Case rowNorm() {
  GraphBuilder b;
  const auto x = b.input({32768, 65535});
  const auto norm = b.call("aten.linalg_vector_norm.default", {arg(x), arg(2), listArg({1}), arg(true)}, {32768, 1});
  b.output(b.like("aten.div.Tensor", x, {arg(norm)}));
  return {"norm_rows", "a / a.norm(2, 1, True)", 0, b.graph()};
}

Case wholeNorm() {
  GraphBuilder b;
  const auto x = b.input({112, 64, 512, 512});
  b.output(b.like("aten.div.Tensor", x, {arg(b.call("aten.linalg_vector_norm.default", {arg(x), arg(2)}, {}))}));
  return {"norm_whole", "a / a.norm()", -2, b.graph()};
}

Case longSoftmax() {
  GraphBuilder b;
  b.output(b.softmax(b.input({1024, 393216}), 1));
  return {"softmax_long", "a.softmax(1)", 0, b.graph()};
}

Case longGroups() {
  GraphBuilder b;
  const auto x = b.input({16, 64, 512, 512});
  b.output(b.like("aten.group_norm.default", x, {arg(8), arg(b.input({64})), arg(b.input({64})), arg(1e-5)}));
  return {"group_norm_long", "torch.nn.functional.group_norm(a, 8, b, c)", -2, b.graph()};
}

Case longPlanes() {
  GraphBuilder b;
  const auto x = b.input({16, 64, 512, 512});
  b.output(b.like("aten.group_norm.default", x, {arg(64), noArg(), noArg(), arg(1e-5)}));
  return {"planes_long", "torch.nn.functional.group_norm(a, 64)", 0, b.graph()};
}

Case longRows() {
  GraphBuilder b;
  const auto x = b.input({16, 4194304});
  const auto weight = b.input({4194304});
  b.output(b.like("aten.layer_norm.default", x, {listArg({4194304}), arg(weight), arg(b.input({4194304})), arg(1e-5)}));
  return {"layer_norm_long", "torch.nn.functional.layer_norm(a, (4194304,), b, c)", -2, b.graph()};
}

Case joined() {
  GraphBuilder b;
  const auto x = b.input({256, 128, 56, 56});
  const domain::Argument both{domain::ArgumentList{arg(x), arg(b.input({256, 64, 56, 56}))}};
  b.output(b.call("aten.cat.default", {both, arg(1)}, {256, 192, 56, 56}));
  return {"cat", "torch.cat((a, b), 1)", 0, b.graph()};
}

Case padded() {
  GraphBuilder b;
  b.output(b.call("aten.constant_pad_nd.default", {arg(b.input({128, 128, 56, 56})), listArg({1, 1, 1, 1}), arg(0.0)},
                  {128, 128, 58, 58}));
  return {"pad", "torch.nn.functional.pad(a, (1, 1, 1, 1))", 0, b.graph()};
}

Case flipped() {
  GraphBuilder b;
  b.output(b.like("aten.flip.default", b.input({8192, 16384}), {listArg({1})}));
  return {"flip", "a.flip(1)", 0, b.graph()};
}

std::vector<Case> cases() {
  const Shape square{32768, 32768};
  std::vector<Case> all;
  all.push_back(scan("cumsum", "a.cumsum(1)", square, 1));
  all.push_back(reverseScan(square));
  all.push_back(maskedScan(square));
  for (Case& one : pools()) {
    all.push_back(std::move(one));
  }
  all.push_back(tripletMargin());
  all.push_back(crossEntropy());
  all.push_back(reduction("argmax", "aten.argmax.default", {arg(1)}, Type::Int64));
  all.push_back(reduction("amax", "aten.amax.default", {listArg({1})}, Type::Float32));
  all.push_back(reduction("sum", "aten.sum.dim_IntList", {listArg({1})}, Type::Float32));
  all.push_back(rowNorm());
  all.push_back(wholeNorm());
  all.push_back(longSoftmax());
  all.push_back(longGroups());
  all.push_back(longPlanes());
  all.push_back(longRows());
  all.push_back(joined());
  all.push_back(padded());
  all.push_back(flipped());
  all.push_back(scan("cumsum_columns", "a.cumsum(0)", square, 0));
  all.push_back(scan("cumsum_few", "a.cumsum(1)", {16, 4194304}, 1));
  all.push_back(exclusiveScan(32768, 32768));
  all.push_back(scan("cumprod_short", "a.cumprod(1)", {262144, 1024}, 1, "cumprod"));
  all.push_back(scan("cumsum_half", "a.cumsum(1)", {32768, 8192}, 1, "cumsum", Type::Float16));
  all.push_back(scan("cumsum_planes", "a.cumsum(1)", {64, 4096, 512}, 1));
  return all;
}

// The seeds that are not cut further than need be, then these with one parameter at another of its values.
std::vector<domain::Genome> genomesOf(const Synthesizer& synthesizer, const patterns::Catalogue& catalogue,
                                      std::size_t most) {
  std::vector<domain::Genome> list = synthesizer.seeds();
  const std::size_t regions = list.front().regions.size();
  std::erase_if(list, [&](const domain::Genome& genome) { return genome.regions.size() != regions; });
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
    const auto program = made.size() < most && known.insert(domain::canonicalText(genome)).second
                             ? synthesizer.realise(genome)
                             : Error(ErrorKind::NotFound, "known");
    const auto isAten = [](const domain::PlanStep& step) { return std::holds_alternative<domain::AtenStep>(step); };
    if (program && std::none_of(program->plan.steps.begin(), program->plan.steps.end(), isAten)) {
      made.push_back(genome);
    }
  }
  return made;
}

// All combinations of the parameters of the pattern, which computes the whole graph by one kernel.
std::vector<domain::Genome> combinations(const Synthesizer& synthesizer, const patterns::Pattern& pattern,
                                         std::size_t most) {
  std::vector<domain::Genome> list = synthesizer.seeds();
  std::erase_if(list, [](const domain::Genome& genome) { return genome.regions.size() != 1; });
  list.resize(std::min<std::size_t>(list.size(), 1));
  for (domain::Genome& whole : list) {
    whole.regions[0].pattern = pattern.id;
    whole.regions[0].parameters.clear();
  }
  for (const patterns::Parameter& parameter : pattern.parameters) {
    std::vector<domain::Genome> longer;
    for (const domain::Genome& genome : list) {
      for (const std::int64_t value : parameter.values) {
        longer.push_back(genome);
        longer.back().regions[0].parameters[parameter.name] = value;
      }
    }
    list = std::move(longer);
  }
  std::erase_if(list, [&](const domain::Genome& genome) { return !synthesizer.realise(genome); });
  list.resize(std::min(list.size(), most));
  return list;
}

struct Wanted {
  std::size_t most = 12;
  std::string onlyCase;
  std::string onlyPattern;
};

int writePrograms(const std::filesystem::path& folder, const Wanted& wanted) {
  const auto catalogue = patterns::Catalogue::load(folder);
  if (!catalogue) {
    std::cerr << catalogue.error().message() << "\n";
    return 1;
  }
  for (const Case& one : cases()) {
    if (!wanted.onlyCase.empty() && one.name != wanted.onlyCase) {
      continue;
    }
    const auto synthesizer = Synthesizer::create(one.graph, measuredDevice(4.3e12), *catalogue);
    const patterns::Pattern* pattern = catalogue->find(domain::Language::CudaCpp, wanted.onlyPattern);
    for (const domain::Genome& genome : pattern != nullptr ? combinations(**synthesizer, *pattern, wanted.most)
                                                           : genomesOf(**synthesizer, *catalogue, wanted.most)) {
      const auto program = (*synthesizer)->realise(genome);
      std::cout << domain::Json{{"case", one.name},
                                {"reference", one.reference},
                                {"independent", one.independent},
                                {"pattern", genome.regions[0].pattern},
                                {"genome", domain::toJson(genome).dump()},
                                {"estimated_us", (*synthesizer)->estimate(genome).value_or(0.0) * 1e6},
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
    std::cerr << "usage: swage_stream_programs PATTERNS_FOLDER [MOST [CASE [PATTERN]]] > programs.jsonl\n";
    return 2;
  }
  swage::synth::Wanted wanted;
  wanted.most = argc > 2 ? std::stoul(argv[2]) : wanted.most;
  wanted.onlyCase = argc > 3 ? argv[3] : "";
  wanted.onlyPattern = argc > 4 ? argv[4] : "";
  return swage::synth::writePrograms(argv[1], wanted);
}
