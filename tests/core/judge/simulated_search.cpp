// SPDX-License-Identifier: Apache-2.0
#include "tests/core/judge/simulated_search.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace swage::judge::testing {
namespace {

constexpr int kLevels = 8;
constexpr double kRoofNs = 100000.0;

double parameter(const domain::RegionGene& region, const char* name) {
  return static_cast<double>(region.parameters.at(name));
}

// Time of one kernel over what moving its data costs.
double slowness(const domain::RegionGene& region) {
  const double a = parameter(region, "a");
  const double b = parameter(region, "b");
  const double c = parameter(region, "c");
  const double spills = std::max(0.0, a - 5.0) * 0.25;
  const double fewLoads = std::max(0.0, 5.0 - a) * 0.06;
  const double blocks = std::abs(b - 5.0) * (b < 5.0 ? 0.15 : 0.04);
  const double narrow = c < 4.0 ? (4.0 - c) * 0.05 : 0.0;
  const double pattern = region.pattern == "p1" ? 0.0 : 0.2;
  // What no rule knows of: two parameters that go together.
  const double rugged = 0.03 * std::abs(std::remainder(a + 2.0 * c + parameter(region, "d"), 4.0));
  return 1.0 + spills + fewLoads + blocks + narrow + pattern + rugged;
}

}  // namespace

const search::testing::FakeSpace& simulatedSpace() {
  static const search::testing::FakeSpace space(
      {.nodes = 3, .patterns = 2, .parameters = 4, .levels = kLevels, .seeds = 2});
  return space;
}

domain::DeviceInfo simulatedDevice() {
  domain::DeviceInfo device;
  device.kind = domain::DeviceKind::Cuda;
  device.multiprocessors = 132;
  device.computeCapability = 90;
  device.sharedBytesPerBlock = 232448;
  return device;
}

stats::Roofline simulatedTask() {
  stats::Roofline task;
  task.bytes = 2.0 * 4096 * 4096 * 4;
  task.roofNs = kRoofNs;
  return task;
}

SimulatedCandidate simulate(const domain::Genome& genome, domain::CandidateId candidate) {
  SimulatedCandidate result;
  const auto tensor = domain::contiguousTensor(domain::ScalarType::Float32, {4096, 4096});
  const auto regions = genome.regions.size();
  result.program.language = domain::Language::CudaCpp;
  domain::LaunchPlan& plan = result.program.plan;
  plan.buffers.assign(regions + 1, tensor);
  plan.inputs = {domain::ValueId(0)};
  plan.outputs = {domain::ValueId(static_cast<int>(regions))};
  double ns = 0.0;
  for (std::size_t i = 0; i < regions; ++i) {
    const domain::RegionGene& region = genome.regions[i];
    domain::KernelStep step;
    step.entry = fmt::format("k{}", i);
    step.grid = {static_cast<std::uint32_t>(16 << static_cast<int>(parameter(region, "b"))), 1, 1};
    step.block = {256, 1, 1};
    step.arguments = {domain::ValueId(static_cast<int>(i)), domain::ValueId(static_cast<int>(i + 1))};
    domain::KernelFacts facts;
    facts.entry = step.entry;
    facts.registers = 24 + 8 * static_cast<int>(parameter(region, "a"));
    facts.spillBytes = static_cast<std::int64_t>(32.0 * std::max(0.0, parameter(region, "a") - 5.0));
    const bool isNarrow = parameter(region, "c") < 4.0;
    facts.movement = isNarrow ? domain::DataMovement::Direct : domain::DataMovement::Wide;
    facts.evidence[isNarrow ? "ld.global" : "ld.global.v4"] = 8;
    result.kernels.push_back(std::move(facts));
    plan.steps.emplace_back(std::move(step));
    ns += kRoofNs * slowness(region);
  }
  domain::Correct correct;
  correct.timing.candidate.medianNs = ns;
  correct.timing.speedup = 3.0 * kRoofNs / ns;
  correct.timing.launchNs = 2000.0;
  result.evaluation = correct;
  const int pattern = genome.regions.front().pattern == "p1" ? 1 : 0;
  result.outcome = {search::Outcome::Kind::Correct, candidate,
                    domain::Cell::fromIndex(pattern * 9 + (regions > 1 ? 0 : 1)), ns,
                    domain::Speedup::exactly(correct.timing.speedup)};
  return result;
}

double bestSpeedup() {
  static const double best = [] {
    double found = 0.0;
    for (const domain::Genome& genome : simulatedSpace().wholeRegionGenomes()) {
      found = std::max(found, 3.0 / slowness(genome.regions.front()));
    }
    return found;
  }();
  return best;
}

SimulatedRun simulateRun(const RuleBook* rules, std::uint64_t seed, int evaluations, int pairs) {
  SimulatedRun run;
  search::Searcher searcher(simulatedSpace(), {.seed = seed});
  const domain::DeviceInfo device = simulatedDevice();
  std::optional<Swarm> swarm;
  if (rules != nullptr) {
    swarm.emplace(*rules, SwarmOptions{.pairs = pairs, .seed = seed, .device = device, .task = simulatedTask()});
  }
  for (int i = 0; i < evaluations; ++i) {
    const Swarm::Turn turn = swarm ? swarm->next() : Swarm::Turn();
    const auto proposal = searcher.next(turn.guidance ? &*turn.guidance : nullptr);
    if (!proposal) {
      break;
    }
    const SimulatedCandidate made = simulate(*proposal->genome, domain::CandidateId(i + 1));
    run.proposals.push_back(search::testing::text(*proposal));
    run.speedups.push_back(made.outcome.overEager.value);
    searcher.report(proposal->id, made.outcome);
    if (swarm) {
      swarm->proposed(turn, *proposal);
      const SwarmNews news = swarm->ended({.proposal = proposal->id,
                                           .genome = &*proposal->genome,
                                           .island = proposal->island,
                                           .what = {.program = &made.program,
                                                    .kernels = &made.kernels,
                                                    .evaluation = &made.evaluation,
                                                    .device = &device,
                                                    .task = simulatedTask()},
                                           .outcome = made.outcome});
      if (news.scored) {
        run.scored.push_back(*news.scored);
      }
    }
  }
  if (swarm) {
    run.pairs = swarm->pairs();
    run.guidedShare = swarm->guidedShare();
  }
  return run;
}

int evaluationsTo(const SimulatedRun& run, double share) {
  const auto found = std::find_if(run.speedups.begin(), run.speedups.end(),
                                  [share](double speedup) { return speedup >= share * bestSpeedup(); });
  return static_cast<int>(found - run.speedups.begin()) + 1;
}

}  // namespace swage::judge::testing
