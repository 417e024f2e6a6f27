// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/synth/synthesizer.h"
#include "tests/core/synth/measured_device.h"

// What a search on an H100 tries first of a task, with what each seed is estimated to take, and how long it takes to
// find them and which operators no kernel computes; and where genomes with
// measured times are given (an array of {"genome", "ns"}), the estimates of these beside them:
// swage_seed_order PATTERNS_FOLDER TASK.json [MEASURED.json [source]]
// With the word "source" it writes their sources instead; "seed N" in place of a file: the source of seed N.
namespace swage::synth {
namespace {

constexpr std::size_t kListed = 200;  // of the seeds: a search begins with far fewer

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

int writeSeed(const Synthesizer& synthesizer, std::size_t number) {
  const std::vector<domain::Genome> seeds = synthesizer.seeds();
  if (number >= seeds.size()) {
    std::cerr << fmt::format("there are {} seeds\n", seeds.size());
    return 1;
  }
  const auto program = synthesizer.realise(seeds[number]);
  std::cout << (program ? program->source : program.error().message()) << '\n';
  return program ? 0 : 1;
}

int list(const std::filesystem::path& folder, const std::filesystem::path& taskFile, const char* measured,
         const std::string& more) {
  const bool asSource = more == "source";
  const auto catalogue = patterns::Catalogue::load(folder);
  std::ifstream file(taskFile);
  auto task = domain::taskFromJson(domain::Json::parse(file));
  if (!catalogue || !task) {
    std::cerr << (catalogue ? task.error() : catalogue.error()).message() << '\n';
    return 1;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point started = Clock::now();
  const auto synthesizer = Synthesizer::create(task->graph, measuredDevice(3.0e12), *catalogue);
  if (!synthesizer) {
    std::cerr << synthesizer.error().message() << '\n';
    return 1;
  }
  if (measured != nullptr && std::string_view(measured) == "seed") {
    return writeSeed(**synthesizer, more.empty() ? 0 : std::stoul(more));
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
  const std::vector<domain::Genome> seeds = (*synthesizer)->seeds();
  const Clock::time_point found = Clock::now();
  const std::vector<int> covered = (*synthesizer)->coveredNodes();
  std::map<std::string, int> left;
  for (int node = 0; node < static_cast<int>(task->graph.nodes.size()); ++node) {
    if (!std::binary_search(covered.begin(), covered.end(), node)) {
      ++left[task->graph.nodes[static_cast<std::size_t>(node)].op];
    }
  }
  for (const auto& [op, count] : left) {
    std::cerr << fmt::format("no kernel: {} ({})\n", op, count);
  }
  const search::ReachableCells cells = (*synthesizer)->reachableCells();
  const auto secondsOf = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  std::cerr << fmt::format("{} seeds in {:.2f} s, {} cells in {:.2f} s\n", seeds.size(), secondsOf(found - started),
                           std::count(cells.begin(), cells.end(), true), secondsOf(Clock::now() - found));
  for (std::size_t i = 0; i < std::min(seeds.size(), kListed); ++i) {
    std::cout << fmt::format("{:8.3f} ms  {} {}\n", (*synthesizer)->estimate(seeds[i]).value_or(0.0) * 1e3,
                             textOf(seeds[i]), partsOf(**synthesizer, seeds[i]));
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
  return swage::synth::list(arguments[1], arguments[2], count > 3 ? arguments[3] : nullptr,
                            count > 4 ? arguments[4] : "");
}
