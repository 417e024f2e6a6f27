// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/synth/parameter_ranking.h"
#include "core/synth/synthesizer.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/measured_device.h"

// Writes programs of products, one JSON object a line, to be run and timed on a GPU (run_products.py):
//
//     swage_synth_products PATTERNS_FOLDER CASES PATTERNS COUNT > products.jsonl
//
// CASES: "name:equation:rows,columns,depth[,batch]", with the equation of torch.einsum, separated by blanks. Of each of
// the PATTERNS, separated by commas, the COUNT genomes that the cost model puts first, no two of them alike; of "seeds"
// those that the search would begin with, whatever their pattern. "product_onepass+promote=16": only with this
// parameter.
namespace swage::synth {
namespace {

struct Case {
  std::string name;
  std::string equation;
  std::vector<std::int64_t> extents;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(at); end != std::string::npos; end = text.find(at, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// The letters x, y, z and b are rows, columns, depth and batch.
domain::Shape shapeOf(const Case& one, const std::string& letters) {
  domain::Shape shape;
  for (const char letter : letters) {
    shape.push_back(one.extents.at(letter == 'b' ? 3 : static_cast<std::size_t>(letter - 'x')));
  }
  return shape;
}

domain::Graph graphOf(const Case& one) {
  const std::vector<std::string> sides = split(one.equation.substr(0, one.equation.find("->")), ',');
  GraphBuilder b;
  const auto x = b.input(shapeOf(one, sides[0]));
  const auto y = b.input(shapeOf(one, sides[1]));
  const domain::Argument both{domain::ArgumentList{arg(x), arg(y)}};
  b.output(b.call("aten.einsum.default", {{one.equation}, both},
                  shapeOf(one, one.equation.substr(one.equation.find("->") + 2))));
  return b.graph();
}

// The best by their estimates, each at least two parameters from those before it.
std::vector<std::pair<double, domain::Genome>> best(const Synthesizer& synthesizer, const patterns::Pattern& pattern,
                                                    const std::string& fixed, std::size_t count) {
  const std::size_t equals = fixed.find('=');
  const std::string key = fixed.substr(0, equals);
  std::vector<std::pair<double, domain::Genome>> all;
  for (std::optional<Parameters> parameters = firstParameters(pattern); parameters;
       parameters = parametersAfter(pattern, std::move(*parameters))) {
    if (!fixed.empty() && std::to_string(parameters->at(key)) != fixed.substr(equals + 1)) {
      continue;
    }
    const domain::Genome genome{{{{0}, pattern.id, *parameters}}};
    if (const auto seconds = synthesizer.estimate(genome)) {
      all.emplace_back(*seconds, genome);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::pair<double, domain::Genome>> chosen;
  for (const auto& [seconds, genome] : all) {
    const Parameters& mine = genome.regions[0].parameters;
    const bool isApart = std::all_of(chosen.begin(), chosen.end(), [&](const auto& other) {
      return std::count_if(mine.begin(), mine.end(), [&](const auto& each) {
               return other.second.regions[0].parameters.at(each.first) != each.second;
             }) >= 2;
    });
    if (chosen.size() < count && (isApart || chosen.empty()) && synthesizer.realise(genome)) {
      chosen.emplace_back(seconds, genome);
    }
  }
  return chosen;
}

std::vector<std::pair<double, domain::Genome>> firstSeeds(const Synthesizer& synthesizer, std::size_t count) {
  std::vector<std::pair<double, domain::Genome>> chosen;
  for (const domain::Genome& genome : synthesizer.seeds()) {
    if (chosen.size() < count && genome.regions.size() == 1 && synthesizer.realise(genome)) {
      chosen.emplace_back(synthesizer.estimate(genome).value_or(0.0), genome);
    }
  }
  return chosen;
}

int writeProducts(const std::vector<std::string>& arguments) {
  const auto catalogue = patterns::Catalogue::load(arguments[0]);
  if (!catalogue) {
    std::cerr << catalogue.error().message() << "\n";
    return 1;
  }
  for (const std::string& text : split(arguments[1], ' ')) {
    const std::vector<std::string> fields = split(text, ':');
    Case one{fields.at(0), fields.at(1), {}};
    for (const std::string& extent : split(fields.at(2), ',')) {
      one.extents.push_back(std::strtoll(extent.c_str(), nullptr, 10));
    }
    const auto synthesizer = Synthesizer::create(graphOf(one), measuredDevice(3.0e12), *catalogue);
    const std::size_t count = std::strtoull(arguments[3].c_str(), nullptr, 10);
    for (const std::string& id : split(arguments[2], ',')) {
      const std::vector<std::string> parts = split(id, '+');
      const auto* pattern = catalogue->find(domain::Language::CudaCpp, parts[0]);
      const auto found = pattern == nullptr
                             ? firstSeeds(**synthesizer, count)
                             : best(**synthesizer, *pattern, parts.size() > 1 ? parts[1] : std::string(), count);
      for (const auto& [seconds, genome] : found) {
        const auto program = (*synthesizer)->realise(genome);
        std::cout << domain::Json{{"case", one.name},
                                  {"equation", one.equation},
                                  {"pattern", genome.regions[0].pattern},
                                  {"estimate", seconds},
                                  {"parameters", genome.regions[0].parameters},
                                  {"source", program->source},
                                  {"plan", domain::toJson(program->plan)}}
                         .dump()
                  << "\n";
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace swage::synth

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: swage_synth_products PATTERNS_FOLDER CASES PATTERNS COUNT > products.jsonl\n";
    return 2;
  }
  return swage::synth::writeProducts({argv + 1, argv + argc});
}
