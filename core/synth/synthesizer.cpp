// SPDX-License-Identifier: Apache-2.0
#include "core/synth/synthesizer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "core/base/parallel.h"
#include "core/synth/capture_rule.h"
#include "core/synth/emit/helpers.h"
#include "core/synth/graph_space.h"
#include "core/synth/seed_order.h"
#include "core/synth/sizes.h"
#include "core/synth/strategy.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::OperatorKind;
using domain::ValueId;

// Variations drawn before the best guess for an aimed cell is taken.
constexpr int kAimAttempts = 12;
// Of a graph in which the rewrites of one rule were made.
constexpr std::size_t kSeedsOfARule = 2;
// Of seeds whose times are estimated: a search tries far fewer, and each of a large model is ten kilobytes to send.
constexpr std::size_t kMostOrdered = 400;
// Of a region of which nobody can say how long it takes, beside others of which that is known.
constexpr double kUnknownSeconds = 1e-3;

// The steps of a region, with scratch buffers of their own and all arguments.
void addSteps(Launch launch, const KernelText& text, domain::LaunchPlan& plan) {
  using Kind = LaunchArgument::Kind;
  std::map<Kind, std::vector<domain::KernelArgument>> known;
  for (const KernelBuffer& buffer : text.buffers) {
    known[Kind::Buffer].emplace_back(buffer.value);
  }
  for (domain::TensorType& scratch : launch.scratch) {
    plan.buffers.push_back(std::move(scratch));
    const ValueId id(static_cast<std::int32_t>(plan.buffers.size()) - 1);
    if (launch.zeroScratch) {
      plan.steps.emplace_back(domain::ZeroStep{id});
    }
    known[Kind::Scratch].emplace_back(id);
  }
  for (LaunchMap& map : launch.maps) {
    if (map.scratch >= 0) {
      map.map.buffer = std::get<ValueId>(known[Kind::Scratch][asIndex(map.scratch)]);
    }
    known[Kind::Map].emplace_back(std::move(map.map));
  }
  known[Kind::Number].assign(launch.numbers.begin(), launch.numbers.end());
  launch.more.insert(launch.more.begin(), std::move(launch.step));
  for (std::size_t i = 0; i < launch.more.size(); ++i) {
    domain::KernelStep& step = launch.more[i];
    if (i < text.arguments.size()) {
      for (const LaunchArgument& argument : text.arguments[i]) {
        step.arguments.push_back(known[argument.kind][argument.index]);
      }
    } else {
      for (const Kind kind : {Kind::Buffer, Kind::Scratch, Kind::Map, Kind::Number}) {
        step.arguments.insert(step.arguments.end(), known[kind].begin(), known[kind].end());
      }
    }
    plan.steps.emplace_back(std::move(step));
  }
}

// Regions whose kernels differ in names alone, as those of layers that a model has many of, share the kernels of the
// first: what is not there twice is not compiled twice.
class SharedKernels {
 public:
  explicit SharedKernels(const Genome& genome) {
    for (const domain::RegionGene& gene : genome.regions) {
      ++m_uses[{gene.pattern, gene.parameters}];
    }
  }

  // The number of the region that has the kernels of this one: `number` itself where it is the first.
  [[nodiscard]] Result<int> ownerOf(const Strategy& strategy, const Instance& instance, int number) {
    const Kind kind{instance.pattern.id, instance.parameters};
    if (m_uses[kind] < 2) {
      return number;
    }
    ModelText places;
    for (std::size_t i = 0; i < instance.region.operands.size(); ++i) {
      places.names.emplace(instance.region.operands[i].value, fmt::format("operand{}", i));
    }
    const Instance plain{instance.pattern, instance.region, instance.parameters, instance.device, &places};
    SWAGE_TRY_ASSIGN(const KernelText text, strategy.write(plain, strategy.launch(plain, "kernel"), 0));
    return m_owners[kind].try_emplace(text.source, number).first->second;
  }

 private:
  using Kind = std::pair<std::string, Parameters>;
  std::map<Kind, int> m_uses;
  std::map<Kind, std::map<std::string, int>> m_owners;  // by the text without names
};

domain::LaunchPlan emptyPlan(const domain::Graph& graph, const OperationGraph& operations) {
  domain::LaunchPlan plan;
  plan.buffers = operations.values;
  for (const domain::GraphInput& input : graph.inputs) {
    plan.inputs.push_back(input.value);
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    plan.outputs.push_back(output.value);
  }
  return plan;
}

// What a reader of the source must know before the first kernel: it is not the model's own graph.
std::string rewritesText(const Genome& genome) {
  std::string text;
  for (const domain::Rewrite& rewrite : genome.rewrites) {
    text += fmt::format("// Rewritten: {}.\n", domain::describe(rewrite));
  }
  return text.empty() ? text : text + '\n';
}

class SynthesizerImpl final : public Synthesizer {
 public:
  SynthesizerImpl(const domain::Graph& graph, const domain::DeviceInfo& device, const patterns::Catalogue& catalogue,
                  const StrategyTable& strategies)
      : m_device(device),
        m_language(domain::standardLanguage(device.kind)),
        m_catalogue(catalogue),
        m_strategies(strategies),
        m_spaces(graph, {m_device, m_catalogue, m_strategies, m_known}) {}

  [[nodiscard]] Genome fresh(Random& random) const override;
  // First PyTorch's own operators, where they are faster as one CUDA graph.
  [[nodiscard]] std::vector<Genome> seeds() const override {
    std::vector<Genome> seeds = seedsWithKernels();
    if (capturesOperators()) {
      seeds.insert(seeds.begin(), Genome());
    }
    return seeds;
  }
  [[nodiscard]] std::vector<Genome> neighbours(const Genome& genome) const override {
    const GraphSpace* space = m_spaces.find(genome.rewrites);
    return space != nullptr ? space->moves().neighbours(genome) : std::vector<Genome>();
  }

  [[nodiscard]] std::optional<Genome> vary(OperatorKind kind, const Genome& genome, const Genome* other,
                                           const domain::Cell* aim, Random& random) const override {
    std::optional<Genome> best = varyOnce(kind, genome, other, random);
    for (int attempt = 1; aim != nullptr && attempt < kAimAttempts; ++attempt) {
      if (best && m_spaces.find(best->rewrites)->moves().predictCell(*best) == *aim) {
        break;
      }
      if (auto again = varyOnce(kind, genome, other, random)) {
        best = std::move(again);
      }
    }
    return best;
  }

  [[nodiscard]] std::optional<double> estimate(const Genome& genome) const override {
    const GraphSpace* space = m_spaces.find(genome.rewrites);
    return space != nullptr ? space->moves().estimate(genome) : std::nullopt;
  }
  [[nodiscard]] std::vector<double> features(const Genome& genome) const override { return featuresOf(genome); }

  [[nodiscard]] Result<domain::Program> realise(const Genome& genome) const override;
  [[nodiscard]] std::vector<int> coveredNodes() const override;
  [[nodiscard]] search::ReachableCells reachableCells() const override;

 private:
  // Whether PyTorch's own operators are a candidate: as one CUDA graph they are faster than eager.
  [[nodiscard]] bool capturesOperators() const {
    const Result<domain::Program> own = realise(Genome());
    return own && own->plan.isCaptured;
  }
  [[nodiscard]] std::vector<Genome> seedsWithKernels() const;
  [[nodiscard]] std::optional<Genome> varyOnce(OperatorKind kind, const Genome& genome, const Genome* other,
                                               Random& random) const {
    if (kind == OperatorKind::Rewrite) {
      return m_spaces.rewrite(genome, random);
    }
    const GraphSpace* space = m_spaces.find(genome.rewrites);
    if (space == nullptr) {
      return std::nullopt;
    }
    const GenomeMoves& moves = space->moves();
    // Regions of two graphs do not go together.
    const bool canCross = other != nullptr && other->rewrites == genome.rewrites;
    switch (kind) {
      case OperatorKind::Parameter: return moves.changeParameter(genome, random);
      case OperatorKind::Split: return moves.split(genome, random);
      case OperatorKind::Merge: return moves.merge(genome, random);
      case OperatorKind::PatternSwap: return moves.swapPattern(genome, random);
      case OperatorKind::Crossover: return canCross ? moves.cross(genome, *other, random) : std::nullopt;
      default: return std::nullopt;
    }
  }

  [[nodiscard]] Result<> addRegion(const GraphSpace& space, const domain::RegionGene& gene, int number,
                                   SharedKernels& shared, domain::Program& program) const;
  void completeParts(std::string_view kernels, domain::Program& program) const;

  domain::DeviceInfo m_device;
  domain::Language m_language;
  patterns::Catalogue m_catalogue;
  const StrategyTable& m_strategies;
  KnownFits m_known;
  GraphSpaces m_spaces;
};

// By what they are estimated to take. Where nothing is known of that: those of the graph as it is, and between them,
// from the best guess on, those of the graph with all rewrites; the first few with the rewrites of one rule alone.
std::vector<Genome> SynthesizerImpl::seedsWithKernels() const {
  const std::vector<std::vector<domain::Rewrite>>& choices = m_spaces.choices();
  std::vector<std::vector<Genome>> lists(1 + choices.size());
  inParallel(lists.size(), [&](std::size_t i) {
    lists[i] = (i == 0 ? m_spaces.original() : *m_spaces.find(choices[i - 1])).moves().seeds();
  });
  const bool isKnown = !lists.front().empty() && m_spaces.original().moves().estimate(lists.front().front());
  for (std::size_t i = 2; i < lists.size() && !isKnown; ++i) {
    lists[i].resize(std::min(lists[i].size(), kSeedsOfARule));
  }
  std::vector<Genome> seeds;
  for (std::size_t rank = 0;; ++rank) {
    const std::size_t before = seeds.size();
    for (const std::vector<Genome>& list : lists) {
      if (rank < list.size()) {
        seeds.push_back(list[rank]);
      }
    }
    if (seeds.size() == before) {
      break;
    }
  }
  if (!isKnown) {
    return seeds;
  }
  std::vector<Seed> estimated;
  estimated.reserve(seeds.size());
  for (Genome& genome : seeds) {
    const GenomeMoves& moves = m_spaces.find(genome.rewrites)->moves();
    Seed seed{.genome = {}, .regions = {}, .library = moves.libraryEstimate(genome)};
    for (const domain::RegionGene& gene : genome.regions) {
      seed.regions.push_back(moves.estimate(gene).value_or(kUnknownSeconds));
    }
    seed.genome = std::move(genome);
    estimated.push_back(std::move(seed));
  }
  return orderSeeds(std::move(estimated), kMostOrdered);
}

// Every other time of a rewritten graph, where there is one.
Genome SynthesizerImpl::fresh(Random& random) const {
  const auto& choices = m_spaces.choices();
  if (choices.empty() || random.chance(0.5)) {
    return m_spaces.original().moves().fresh(random);
  }
  return m_spaces.find(random.pick(std::span(choices)))->moves().fresh(random);
}

search::ReachableCells SynthesizerImpl::reachableCells() const {
  const GenomeMoves& moves = m_spaces.original().moves();
  search::ReachableCells cells = moves.reachableCells();
  if (capturesOperators()) {
    cells[asIndex(moves.predictCell(Genome()).index())] = true;
  }
  for (const std::vector<domain::Rewrite>& rewrites : m_spaces.choices()) {
    const search::ReachableCells more = m_spaces.find(rewrites)->moves().reachableCells();
    std::transform(cells.begin(), cells.end(), more.begin(), cells.begin(), std::logical_or<>());
  }
  return cells;
}

Result<> SynthesizerImpl::addRegion(const GraphSpace& space, const domain::RegionGene& gene, int number,
                                    SharedKernels& shared, domain::Program& program) const {
  const auto entriesOf = [](const Launch& launch) {
    std::vector<std::string> entries{launch.step.entry};
    for (const domain::KernelStep& step : launch.more) {
      if (std::find(entries.begin(), entries.end(), step.entry) == entries.end()) {
        entries.push_back(step.entry);
      }
    }
    return entries;
  };
  const patterns::Pattern& pattern = *m_catalogue.find(m_language, gene.pattern);
  Region region = *space.fusion().region(gene.nodes);
  if (const auto fused = gene.parameters.find("fused"); fused != gene.parameters.end() && fused->second != 0) {
    fuseStages(region);
  }
  const Strategy& strategy = *m_strategies.find(m_language, gene.pattern);
  const Instance instance{pattern, region, gene.parameters, m_device, &space.model()};
  SWAGE_TRY_ASSIGN(const int owner, shared.ownerOf(strategy, instance, number));
  Launch launch = strategy.launch(instance, fmt::format("swage_kernel_{}", owner));
  SWAGE_TRY_ASSIGN(const KernelText text, strategy.write(instance, launch, owner));
  if (owner == number) {
    program.source += text.source;
    program.parts.push_back({text.source, entriesOf(launch), {}});
  }
  addSteps(std::move(launch), text, program.plan);
  return {};
}

// Where kernels of one binary can be compiled one by one, each gets the helpers that it needs.
void SynthesizerImpl::completeParts(std::string_view kernels, domain::Program& program) const {
  if (program.parts.size() < 2 || !domain::factsOf(m_language).hasParts) {
    program.parts.clear();
    return;
  }
  std::vector<std::string> sources;
  for (domain::SourcePart& part : program.parts) {
    sources.push_back(std::move(part.source));
  }
  std::vector<domain::SourcePart> whole = partsOf(m_catalogue.helpers(m_language), sources, kernels, program.source);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    whole[i].entries = std::move(program.parts[i].entries);
  }
  program.parts = std::move(whole);
}

Result<domain::Program> SynthesizerImpl::realise(const Genome& genome) const {
  const GraphSpace* space = m_spaces.find(genome.rewrites);
  if (space == nullptr || !space->moves().isLegal(genome)) {
    return Error(ErrorKind::InvalidInput, "the genome does not fit this graph and device");
  }
  std::vector<std::vector<int>> partition;
  bool wide = false;
  for (const domain::RegionGene& gene : genome.regions) {
    partition.push_back(gene.nodes);
    const auto bits = gene.parameters.find("vector_bits");
    wide = wide || (bits != gene.parameters.end() && bits->second == 512);
  }
  domain::Program program;
  program.language = m_language;
  program.plan = emptyPlan(space->graph(), space->operations());
  SharedKernels shared(genome);
  const std::optional<std::vector<int>> order = space->fusion().schedule(partition);
  for (const int item : *order) {
    if (item >= 0) {
      SWAGE_TRY(addRegion(*space, genome.regions[asIndex(item)], item, shared, program));
    } else if (const domain::Node& node = space->graph().nodes[asIndex(~item)]; node.op != kInPlaceConcatenation) {
      program.plan.steps.emplace_back(domain::AtenStep{node});
    }
  }
  program.plan.isCaptured = m_device.kind == domain::DeviceKind::Cuda &&
                            isWorthCapturing(program.plan, space->graph(), DeviceRates::of(m_device));
  const std::string kernels = std::move(program.source);
  program.source = helpersFor(m_catalogue.helpers(m_language), kernels) + kernels;
  if (!program.source.empty()) {
    program.source = rewritesText(genome) + program.source;
  }
  completeParts(kernels, program);
  if (wide) {
    program.compileFlags.emplace_back("-mprefer-vector-width=512");
  }
  return program;
}

std::vector<int> SynthesizerImpl::coveredNodes() const {
  std::set<int> nodes;
  const GraphSpace& space = m_spaces.original();
  for (const std::vector<int>& operations : space.fusion().singlePartition()) {
    if (!space.moves().patternsFor(operations).empty()) {
      nodes.insert(space.operations().operations[asIndex(operations.front())].node);
    }
  }
  return {nodes.begin(), nodes.end()};
}

}  // namespace

std::vector<double> featuresOf(const Genome& genome) {
  std::vector<double> numbers;
  for (const domain::RegionGene& gene : genome.regions) {
    for (const auto& [name, value] : gene.parameters) {
      numbers.push_back(std::log2(static_cast<double>(value) + 1.0));
    }
  }
  return numbers;
}

Result<std::unique_ptr<Synthesizer>> Synthesizer::create(const domain::Graph& graph, const domain::DeviceInfo& device,
                                                         const patterns::Catalogue& catalogue,
                                                         const StrategyTable& strategies) {
  return std::unique_ptr<Synthesizer>(std::make_unique<SynthesizerImpl>(graph, device, catalogue, strategies));
}

}  // namespace swage::synth
