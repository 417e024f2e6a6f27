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

// Writes attention as programs of the patterns attention_wgmma and attention_mma, one JSON object a line, for
// measure_attention.py: swage_attention_programs PATTERNS_FOLDER [MOST [CASE,CASE]] > programs.jsonl
// MOST: of a pattern; of one that another is estimated to beat, a quarter.
namespace swage::synth {
namespace {

struct Case {
  std::string name;
  domain::Shape query;
  domain::ScalarType type = domain::ScalarType::Float32;
  bool isCausal = false;
  std::int64_t keyHeads = 0;  // 0: as many as of the query
  bool hasBias = false;
};

const std::vector<Case>& cases() {
  using enum domain::ScalarType;
  static const std::vector<Case> list{{"float_2048_64", {8, 16, 2048, 64}},
                                      {"bfloat_causal_16384_128", {1, 16, 16384, 128}, BFloat16, true},
                                      {"half_2048_128", {4, 32, 2048, 128}, Float16},
                                      {"float_512_1024", {32, 32, 512, 1024}},
                                      {"float_causal_2048_64", {8, 16, 2048, 64}, Float32, true},
                                      {"float_causal_512_96", {128, 8, 512, 96}, Float32, true},
                                      {"float_2048_128", {4, 16, 2048, 128}},
                                      {"float_biased_512_64", {16, 16, 512, 64}, Float32, false, 0, true},
                                      {"bfloat_grouped_4096_128", {2, 32, 4096, 128}, BFloat16, true, 8},
                                      {"half_1024_256", {4, 16, 1024, 256}, Float16},
                                      {"float_1000_40", {8, 8, 1000, 40}},
                                      {"bfloat_16384_128", {1, 16, 16384, 128}, BFloat16},
                                      {"half_causal_2048_128", {4, 32, 2048, 128}, Float16, true},
                                      {"bfloat_4096_64", {4, 32, 4096, 64}, BFloat16},
                                      {"bfloat_causal_4096_64", {4, 32, 4096, 64}, BFloat16, true},
                                      {"half_causal_8192_256", {1, 8, 8192, 256}, Float16, true},
                                      {"half_causal_512_64", {32, 16, 512, 64}, Float16, true},
                                      {"half_1000_96", {8, 16, 1000, 96}, Float16},
                                      {"half_biased_1024_64", {8, 16, 1024, 64}, Float16, false, 0, true}};
  return list;
}

domain::Graph graphOf(const Case& c) {
  GraphBuilder b;
  domain::Shape key = c.query;
  key[1] = c.keyHeads > 0 ? c.keyHeads : key[1];
  const auto q = b.input(c.query, c.type);
  const auto k = b.input(key, c.type);
  const auto v = b.input(key, c.type);
  const auto mask = c.hasBias ? arg(b.input({c.query[2], c.query[2]}, c.type)) : noArg();
  b.output(b.call("aten.scaled_dot_product_attention.default",
                  {arg(q), arg(k), arg(v), mask, arg(0.0), arg(c.isCausal), noArg(), arg(c.keyHeads > 0)}, c.query,
                  c.type));
  return b.graph();
}

// Of heads that no pattern fits: what is tried first of all in its place.
std::vector<std::pair<double, domain::Genome>> seedsOf(const Synthesizer& synthesizer) {
  std::vector<std::pair<double, domain::Genome>> found;
  for (const domain::Genome& genome : synthesizer.seeds()) {
    const auto program = synthesizer.realise(genome);
    const bool isOurs = program && std::all_of(program->plan.steps.begin(), program->plan.steps.end(), [](auto& step) {
                          return !std::holds_alternative<domain::AtenStep>(step);
                        });
    if (isOurs) {
      found.emplace_back(synthesizer.estimate(genome).value_or(0.0), genome);
    }
  }
  return found;
}

// All parameters that fit, the best by the estimate first.
std::vector<std::pair<double, domain::Genome>> genomesOf(const Synthesizer& synthesizer,
                                                         const patterns::Pattern& pattern) {
  std::vector<domain::Genome> all{{{{{0}, pattern.id, {}}}}};
  for (const patterns::Parameter& parameter : pattern.parameters) {
    std::vector<domain::Genome> more;
    for (const domain::Genome& genome : all) {
      for (const std::int64_t value : parameter.values) {
        more.push_back(genome);
        more.back().regions[0].parameters[parameter.name] = value;
      }
    }
    all = std::move(more);
  }
  std::vector<std::pair<double, domain::Genome>> found;
  for (domain::Genome& genome : all) {
    if (synthesizer.realise(genome)) {
      const double estimate = synthesizer.estimate(genome).value_or(0.0);
      found.emplace_back(estimate, std::move(genome));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

// "attention_mma keep=0 mode=1", of each region.
std::string labelOf(const domain::Genome& genome) {
  std::string text;
  for (const domain::RegionGene& gene : genome.regions) {
    text += (text.empty() ? "" : " | ") + gene.pattern;
    for (const auto& [name, value] : gene.parameters) {
      text += fmt::format(" {}={}", name, value);
    }
  }
  return text;
}

// The patterns, the best by the estimate first.
std::vector<std::pair<double, domain::Genome>> chosen(const Synthesizer& synthesizer,
                                                      const patterns::Catalogue& catalogue, std::size_t most) {
  std::vector<std::vector<std::pair<double, domain::Genome>>> lists;
  for (const char* id : {"attention_wgmma", "attention_mma"}) {
    lists.push_back(genomesOf(synthesizer, *catalogue.find(domain::Language::CudaCpp, id)));
  }
  std::erase_if(lists, [](const auto& list) { return list.empty(); });
  if (lists.empty()) {
    lists.push_back(seedsOf(synthesizer));
  }
  std::stable_sort(lists.begin(), lists.end(),
                   [](const auto& a, const auto& b) { return a.front().first < b.front().first; });
  std::vector<std::pair<double, domain::Genome>> all;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const std::size_t count = std::min(lists[i].size(), i == 0 ? most : (most + 3) / 4);
    all.insert(all.end(), lists[i].begin(), lists[i].begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

int writePrograms(const std::filesystem::path& folder, std::size_t most, const std::string& only) {
  const auto catalogue = patterns::Catalogue::load(folder);
  if (!catalogue) {
    std::cerr << catalogue.error().message() << "\n";
    return 1;
  }
  for (const Case& one : cases()) {
    if (!only.empty() && ("," + only + ",").find("," + one.name + ",") == std::string::npos) {
      continue;
    }
    const auto synthesizer = Synthesizer::create(graphOf(one), measuredDevice(), *catalogue);
    for (const auto& [estimate, genome] : chosen(**synthesizer, *catalogue, most)) {
      const auto program = (*synthesizer)->realise(genome);
      std::cout << domain::Json{{"case", one.name},
                                {"causal", one.isCausal},
                                {"grouped", one.keyHeads > 0},
                                {"estimate", estimate},
                                {"label", labelOf(genome)},
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
    std::cerr << "usage: swage_attention_programs PATTERNS_FOLDER [MOST [CASE,CASE]] > programs.jsonl\n";
    return 2;
  }
  return swage::synth::writePrograms(argv[1], argc > 2 ? std::stoul(argv[2]) : 12, argc > 3 ? argv[3] : "");
}
