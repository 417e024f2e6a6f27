// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/domain/numeric_mode.h"
#include "core/synth/synthesizer.h"
#include "tests/core/synth/measured_device.h"
#include "tests/core/synth/recurrence_numbers.h"

// Writes recurrent layers as programs of the pattern recurrence, one JSON object a line, for measure_recurrence.py:
// swage_recurrence_programs PATTERNS_FOLDER [MOST] > programs.jsonl
namespace swage::synth {
namespace {

struct Case {
  std::string name;
  RecurrentCase sizes;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {"lstm_6_layers_cells", {"lstm", 6, 1, 512, 10, 128, 256, true, true, true, false}},
      {"gru_6_layers", {"gru", 6, 1, 512, 10, 128, 256, true, false, false}},
      {"gru_6_layers_both_ways", {"gru", 6, 2, 512, 10, 128, 256, true, false, false}},
      {"lstm_1_layer", {"lstm", 1, 1, 256, 32, 256, 512, true, true, true}},
      {"rnn_2_layers", {"rnn_tanh", 2, 1, 256, 8, 256, 256, true, false, true}},
      {"lstm_both_ways", {"lstm", 2, 2, 100, 7, 60, 90, true, true, true}}};
  return list;
}

// The first seed with all parameters of the recurrences that fit, the same in all regions; the best by the estimate
// first, in each numeric mode, then one of each number of units and each way to keep weights.
std::vector<domain::Genome> genomesOf(const Synthesizer& synthesizer, const patterns::Pattern& pattern,
                                      std::size_t most) {
  std::vector<Parameters> all{{}};
  for (const patterns::Parameter& parameter : pattern.parameters) {
    std::vector<Parameters> more;
    for (const Parameters& parameters : all) {
      for (const std::int64_t value : parameter.values) {
        more.push_back(parameters);
        more.back()[parameter.name] = value;
      }
    }
    all = std::move(more);
  }
  const domain::Genome first = synthesizer.seeds().front();
  std::vector<std::pair<double, domain::Genome>> found;
  for (const Parameters& parameters : all) {
    domain::Genome genome = first;
    for (domain::RegionGene& gene : genome.regions) {
      if (gene.pattern == pattern.id) {
        gene.parameters = parameters;
      }
    }
    if (synthesizer.realise(genome)) {
      const double seconds = synthesizer.estimate(genome).value_or(0.0);
      found.emplace_back(seconds, std::move(genome));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<domain::Genome> chosen;
  std::vector<std::string> kinds;
  for (const std::size_t round : {0U, 1U, 2U}) {
    for (const auto& [seconds, genome] : found) {
      const auto recurrence = std::find_if(genome.regions.begin(), genome.regions.end(),
                                           [&](const auto& gene) { return gene.pattern == pattern.id; });
      const std::int64_t units = recurrence->parameters.at("units");
      const std::string kind = round == 0   ? fmt::format("mode {}", recurrence->parameters.at("mode"))
                               : round == 1 ? fmt::format("units {}", units)
                                            : fmt::format("units {} {}", units, recurrence->parameters.at("kept"));
      if (chosen.size() < most && std::find(kinds.begin(), kinds.end(), kind) == kinds.end() &&
          std::find(chosen.begin(), chosen.end(), genome) == chosen.end()) {
        kinds.push_back(kind);
        chosen.push_back(genome);
      }
    }
  }
  return chosen;
}

std::string labelOf(const domain::Genome& genome, const std::string& pattern) {
  std::string text;
  for (const domain::RegionGene& gene : genome.regions) {
    if (gene.pattern == pattern && text.empty()) {
      for (const auto& [name, value] : gene.parameters) {
        text += fmt::format(" {}={}", name, value);
      }
    }
  }
  return text;
}

int writePrograms(const std::filesystem::path& folder, std::size_t most) {
  const auto catalogue = patterns::Catalogue::load(folder);
  if (!catalogue) {
    std::cerr << catalogue.error().message() << "\n";
    return 1;
  }
  const patterns::Pattern& pattern = *catalogue->find(domain::Language::CudaCpp, "recurrence");
  for (const Case& one : cases()) {
    const auto synthesizer =
        Synthesizer::create(RecurrentNumbers(one.sizes).builder().graph(), measuredDevice(), *catalogue);
    for (const domain::Genome& genome : genomesOf(**synthesizer, pattern, most)) {
      const auto program = (*synthesizer)->realise(genome);
      std::cout << domain::Json{{"case", one.name},
                                {"cell", one.sizes.cell},
                                {"layers", one.sizes.layers},
                                {"directions", one.sizes.directions},
                                {"batch_first", one.sizes.isBatchFirst},
                                {"results", one.sizes.wantsResults},
                                {"states", one.sizes.wantsStates},
                                {"estimate", (*synthesizer)->estimate(genome).value_or(0.0)},
                                {"label", labelOf(genome, pattern.id)},
                                {"rounds", !domain::numericModes(genome).empty()},
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
    std::cerr << "usage: swage_recurrence_programs PATTERNS_FOLDER [MOST] > programs.jsonl\n";
    return 2;
  }
  return swage::synth::writePrograms(argv[1], argc > 2 ? std::stoul(argv[2]) : 8);
}
