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

// Writes programs for a fixed list of genomes, one JSON object a line, so that those of two builds of Swage can be
// compared on a GPU (compare_programs.py): swage_synth_programs PATTERNS_FOLDER > programs.jsonl
namespace swage::synth {
namespace {

using Type = domain::ScalarType;

struct Case {
  std::string name;
  domain::Graph graph;
};

domain::Graph softmax(domain::Shape shape, int dim) {
  GraphBuilder b;
  b.output(b.softmax(b.input(std::move(shape)), dim));
  return b.graph();
}

domain::Graph layerNorm(std::int64_t rows, std::int64_t columns, Type type, bool hasGelu) {
  GraphBuilder b;
  const auto x = b.input({rows, columns}, type);
  const auto weight = b.input({columns}, type);
  const auto bias = b.input({columns}, type);
  const auto norm = b.like("aten.layer_norm.default", x, {listArg({columns}), arg(weight), arg(bias), arg(1e-5)});
  b.output(hasGelu ? b.like("aten.gelu.default", norm) : norm);
  return b.graph();
}

domain::Graph rmsNorm(std::int64_t rows, std::int64_t columns) {
  GraphBuilder b;
  const auto total = b.add(b.input({rows, columns}), b.input({rows, columns}));
  const auto square = b.like("aten.pow.Tensor_Scalar", total, {arg(2)});
  const auto mean = b.call("aten.mean.dim", {arg(square), listArg({-1}), arg(true)}, {rows, 1});
  const auto root = b.like("aten.rsqrt.default", b.like("aten.add.Tensor", mean, {arg(1e-6)}));
  b.output(b.mul(b.mul(total, root), b.input({columns})));
  b.output(total);
  return b.graph();
}

domain::Graph swish(Type type) {
  GraphBuilder b;
  const auto x = b.input({4096, 4096}, type);
  b.output(b.mul(b.silu(x), b.input({4096, 4096}, type)));
  return b.graph();
}

domain::Graph biasGelu() {
  GraphBuilder b;
  const auto x = b.input({8192, 1000});
  b.output(b.like("aten.gelu.default", b.add(x, b.input({1000}))));
  return b.graph();
}

domain::Graph crossEntropy() {
  GraphBuilder b;
  const auto logits = b.input({8192, 1000});
  const auto target = b.input({8192}, Type::Int64);
  b.output(b.call("aten.cross_entropy_loss.default", {arg(logits), arg(target), noArg(), arg(1), arg(-100)}, {}));
  return b.graph();
}

domain::Graph batchNorm() {
  GraphBuilder b;
  const auto x = b.input({32, 64, 3136});
  const auto mean = b.input({64});
  const auto variance = b.input({64});
  const std::pair<domain::Shape, Type> channel{{64}, Type::Float32};
  const auto results = b.node("aten._native_batch_norm_legit_functional.default",
                              {arg(x), noArg(), noArg(), arg(mean), arg(variance), arg(true), arg(0.1), arg(1e-5)},
                              {{{32, 64, 3136}, Type::Float32}, channel, channel, channel, channel});
  b.dropResult(1);
  b.dropResult(2);
  b.output(results[0]);
  b.output(results[3]);
  b.output(results[4]);
  return b.graph();
}

domain::Graph groupNorm() {
  GraphBuilder b;
  const auto x = b.input({32, 64, 1024});
  const auto weight = b.input({64});
  b.output(b.relu(b.like("aten.group_norm.default", x, {arg(8), arg(weight), noArg(), arg(1e-5)})));
  return b.graph();
}

domain::Graph sum(domain::Shape shape, std::int64_t dim, domain::Shape result, Type type = Type::Float32) {
  GraphBuilder b;
  b.output(b.call("aten.sum.dim_IntList", {arg(b.input(std::move(shape), type)), listArg({dim}), arg(false)},
                  std::move(result), type));
  return b.graph();
}

domain::Graph largest(domain::Shape shape, int dim, const domain::Shape& result) {
  GraphBuilder b;
  const auto results = b.node("aten.max.dim", {arg(b.input(std::move(shape))), arg(dim), arg(false)},
                              {{result, Type::Float32}, {result, Type::Int64}});
  b.output(results[0]);
  b.output(results[1]);
  return b.graph();
}

std::vector<Case> cases() {
  return {{"swish", swish(Type::Float32)},
          {"swish_half", swish(Type::Float16)},
          {"bias_gelu", biasGelu()},
          {"softmax_rows", softmax({4096, 4096}, 1)},
          {"softmax_short", softmax({65536, 512}, 1)},
          {"softmax_odd", softmax({777, 1001}, 1)},
          {"softmax_long", softmax({256, 262144}, 1)},
          {"softmax_few", softmax({4, 4194304}, 1)},
          {"softmax_columns", softmax({16, 512, 1024}, 1)},
          {"layer_norm_gelu", layerNorm(8192, 1024, Type::Float32, true)},
          {"layer_norm_half", layerNorm(4096, 4096, Type::Float16, false)},
          {"layer_norm_double", layerNorm(128, 1000, Type::Float64, false)},
          {"layer_norm_long", layerNorm(64, 524288, Type::Float32, false)},
          {"rms_norm_residual", rmsNorm(8192, 1024)},
          {"rms_norm_wide", rmsNorm(1024, 16384)},
          {"batch_norm_train", batchNorm()},
          {"group_norm", groupNorm()},
          {"cross_entropy", crossEntropy()},
          {"column_sum", sum({16384, 4096}, 0, {4096})},
          {"row_sum", sum({4096, 8192}, 1, {4096})},
          {"row_sum_half", sum({4096, 8192}, 1, {4096}, Type::Float16)},
          {"row_sum_one", sum({1, 33554432}, 1, {1})},
          {"largest_rows", largest({4096, 4096}, 1, {4096})},
          {"largest_columns", largest({256, 512, 64}, 1, {256, 64})}};
}

// The genome with each parameter at each of its values in turn.
std::vector<domain::Genome> variations(const domain::Genome& genome, const patterns::Pattern& pattern) {
  std::vector<domain::Genome> list{genome};
  for (const patterns::Parameter& parameter : pattern.parameters) {
    for (const std::int64_t value : parameter.values) {
      list.push_back(genome);
      list.back().regions[0].parameters[parameter.name] = value;
    }
  }
  return list;
}

int writePrograms(const std::filesystem::path& folder) {
  const auto catalogue = patterns::Catalogue::load(folder);
  if (!catalogue) {
    std::cerr << catalogue.error().message() << "\n";
    return 1;
  }
  for (const Case& one : cases()) {
    const auto synthesizer = Synthesizer::create(one.graph, measuredDevice(0.0), *catalogue);
    std::set<std::string> written;
    for (const domain::Genome& seed : (*synthesizer)->seeds()) {
      if (seed.regions.size() != 1) {
        continue;
      }
      const patterns::Pattern& pattern = *catalogue->find(domain::Language::CudaCpp, seed.regions[0].pattern);
      for (const domain::Genome& genome : variations(seed, pattern)) {
        const auto program = (*synthesizer)->realise(genome);
        const std::string key = domain::toJson(genome).dump();
        if (program && written.insert(key).second) {
          std::cout << domain::Json{{"case", one.name},
                                    {"pattern", pattern.id},
                                    {"genome", key},
                                    {"entries", program->entries()},
                                    {"source", program->source},
                                    {"plan", domain::toJson(program->plan)}}
                           .dump()
                    << "\n";
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace swage::synth

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: swage_synth_programs PATTERNS_FOLDER > programs.jsonl\n";
    return 2;
  }
  return swage::synth::writePrograms(argv[1]);
}
