// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/synth/synthesizer.h"
#include "tests/core/synth/measured_device.h"

// What a search on an H100 tries first of a task, with what each seed is estimated to take; and where genomes with
// measured times are given (an array of {"genome", "ns"}), the estimates of these beside them:
// swage_seed_order PATTERNS_FOLDER TASK.json [MEASURED.json [source]]
// With the word "source" it writes their sources instead.
namespace swage::synth {
namespace {

std::string textOf(const domain::Genome& genome) {
  std::string text;
  for (const domain::RegionGene& gene : genome.regions) {
    text += fmt::format("{}[{}-{}]", gene.pattern, gene.nodes.front(), gene.nodes.back());
    if (const auto mode = gene.parameters.find("mode"); mode != gene.parameters.end()) {
      text += fmt::format("m{}", mode->second);
    }
    text += ' ';
  }
  for (const domain::Rewrite& rewrite : genome.rewrites) {
    text += fmt::format("| {} ", rewrite.rule);
  }
  return text;
}

// What each region is estimated to take, in milliseconds.
std::string partsOf(const Synthesizer& synthesizer, const domain::Genome& genome) {
  std::string text;
  for (const domain::RegionGene& gene : genome.regions) {
    domain::Genome one;
    one.rewrites = genome.rewrites;
    one.regions = {gene};
    text += fmt::format(" {:.3f}", synthesizer.estimate(one).value_or(-1e-3) * 1e3);
  }
  return text;
}

int list(const std::filesystem::path& folder, const std::filesystem::path& taskFile, const char* measured,
         bool asSource) {
  const auto catalogue = patterns::Catalogue::load(folder);
  std::ifstream file(taskFile);
  auto task = domain::taskFromJson(domain::Json::parse(file));
  if (!catalogue || !task) {
    std::cerr << (catalogue ? task.error() : catalogue.error()).message() << '\n';
    return 1;
  }
  const auto synthesizer = Synthesizer::create(task->graph, measuredDevice(3.0e12), *catalogue);
  if (!synthesizer) {
    std::cerr << synthesizer.error().message() << '\n';
    return 1;
  }
  if (measured != nullptr) {
    std::ifstream times(measured);
    for (const domain::Json& each : domain::Json::parse(times)) {
      const auto genome = domain::genomeFromJson(each.at("genome"));
      if (!genome) {
        continue;
      }
      if (asSource) {
        const auto program = (*synthesizer)->realise(*genome);
        std::cout << (program ? program->source : program.error().message()) << '\n';
        continue;
      }
      const double seconds = (*synthesizer)->estimate(*genome).value_or(0.0);
      std::cout << fmt::format(
          "{:8.3f} ms measured {:8.3f} ms estimated {:5.2f}  {} {}\n", each.at("ns").get<double>() / 1e6, seconds * 1e3,
          seconds * 1e9 / each.at("ns").get<double>(), textOf(*genome), partsOf(**synthesizer, *genome));
    }
    return 0;
  }
  for (const domain::Genome& seed : (*synthesizer)->seeds()) {
    std::cout << fmt::format("{:8.3f} ms  {} {}\n", (*synthesizer)->estimate(seed).value_or(0.0) * 1e3, textOf(seed),
                             partsOf(**synthesizer, seed));
  }
  return 0;
}

}  // namespace
}  // namespace swage::synth

int main(int count, char** arguments) {
  if (count < 3) {
    std::cerr << "swage_seed_order PATTERNS_FOLDER TASK.json [MEASURED.json [source]]\n";
    return 2;
  }
  const bool asSource = count > 4 && std::string_view(arguments[4]) == "source";
  return swage::synth::list(arguments[1], arguments[2], count > 3 ? arguments[3] : nullptr, asSource);
}
