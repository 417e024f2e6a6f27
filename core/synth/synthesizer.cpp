// SPDX-License-Identifier: Apache-2.0
#include "core/synth/synthesizer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/domain/aten.h"
#include "core/synth/emit/helpers.h"
#include "core/synth/fusion.h"
#include "core/synth/genome_moves.h"
#include "core/synth/strategy.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::OperatorKind;
using domain::ValueId;

// Variations drawn before the best guess for an aimed cell is taken.
constexpr int kAimAttempts = 12;

std::size_t asIndex(int value) {
  return static_cast<std::size_t>(value);
}

// Inputs have the names of the model, results that of the operator that makes them.
ModelText modelText(const domain::Graph& graph) {
  ModelText text;
  for (const domain::GraphInput& input : graph.inputs) {
    text.names[input.value] = input.name;
  }
  for (const domain::Node& node : graph.nodes) {
    for (const ValueId output : node.outputs) {
      if (output.isValid()) {
        text.names[output] = std::string(domain::atenName(node.op));
        text.lines[output] = node.where;
      }
    }
  }
  int number = 0;
  for (const domain::GraphOutput& output : graph.outputs) {
    const bool isInput = std::any_of(graph.inputs.begin(), graph.inputs.end(),
                                     [&](const domain::GraphInput& input) { return input.value == output.value; });
    if (!isInput) {
      text.names[output.value] = graph.outputs.size() == 1 ? "out" : fmt::format("out{}", number);
    }
    ++number;
  }
  return text;
}

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
  launch.more.insert(launch.more.begin(), std::move(launch.step));
  for (std::size_t i = 0; i < launch.more.size(); ++i) {
    domain::KernelStep& step = launch.more[i];
    if (i < text.arguments.size()) {
      for (const LaunchArgument& argument : text.arguments[i]) {
        step.arguments.push_back(known[argument.kind][argument.index]);
      }
    } else {
      for (const Kind kind : {Kind::Buffer, Kind::Scratch, Kind::Map}) {
        step.arguments.insert(step.arguments.end(), known[kind].begin(), known[kind].end());
      }
    }
    plan.steps.emplace_back(std::move(step));
  }
}

class SynthesizerImpl final : public Synthesizer {
 public:
  SynthesizerImpl(const domain::Graph& graph, const domain::DeviceInfo& device, const patterns::Catalogue& catalogue,
                  const StrategyTable& strategies)
      : m_graph(graph),
        m_device(device),
        m_language(domain::standardLanguage(device.kind)),
        m_catalogue(catalogue),
        m_strategies(strategies),
        m_operations(findOperations(m_graph)),
        m_fusion(m_graph, m_operations,
                 [this](const Region& region) { return m_strategies.accepts(m_language, region); }),
        m_model(modelText(m_graph)),
        m_moves(m_fusion, m_operations, m_catalogue, m_strategies, m_device) {}

  [[nodiscard]] Genome fresh(Random& random) const override { return m_moves.fresh(random); }
  [[nodiscard]] std::vector<Genome> seeds() const override { return m_moves.seeds(); }
  [[nodiscard]] std::vector<Genome> neighbours(const Genome& genome) const override {
    return m_moves.neighbours(genome);
  }

  [[nodiscard]] std::optional<Genome> vary(OperatorKind kind, const Genome& genome, const Genome* other,
                                           const domain::Cell* aim, Random& random) const override {
    std::optional<Genome> best = varyOnce(kind, genome, other, random);
    for (int attempt = 1; aim != nullptr && attempt < kAimAttempts; ++attempt) {
      if (best && m_moves.predictCell(*best) == *aim) {
        break;
      }
      if (auto again = varyOnce(kind, genome, other, random)) {
        best = std::move(again);
      }
    }
    return best;
  }

  [[nodiscard]] std::vector<double> features(const Genome& genome) const override { return featuresOf(genome); }

  [[nodiscard]] Result<domain::Program> realise(const Genome& genome) const override;
  [[nodiscard]] std::vector<int> coveredNodes() const override;
  [[nodiscard]] search::ReachableCells reachableCells() const override { return m_moves.reachableCells(); }

 private:
  [[nodiscard]] std::optional<Genome> varyOnce(OperatorKind kind, const Genome& genome, const Genome* other,
                                               Random& random) const {
    switch (kind) {
      case OperatorKind::Parameter: return m_moves.changeParameter(genome, random);
      case OperatorKind::Split: return m_moves.split(genome, random);
      case OperatorKind::Merge: return m_moves.merge(genome, random);
      case OperatorKind::PatternSwap: return m_moves.swapPattern(genome, random);
      case OperatorKind::Crossover: return other != nullptr ? m_moves.cross(genome, *other, random) : std::nullopt;
      default: return std::nullopt;
    }
  }

  [[nodiscard]] domain::LaunchPlan emptyPlan() const;
  [[nodiscard]] Result<> addRegion(const domain::RegionGene& gene, int number, domain::Program& program) const;

  domain::Graph m_graph;
  domain::DeviceInfo m_device;
  domain::Language m_language;
  patterns::Catalogue m_catalogue;
  const StrategyTable& m_strategies;
  OperationGraph m_operations;
  Fusion m_fusion;
  ModelText m_model;
  GenomeMoves m_moves;
};

domain::LaunchPlan SynthesizerImpl::emptyPlan() const {
  domain::LaunchPlan plan;
  plan.buffers = m_operations.values;
  for (const domain::GraphInput& input : m_graph.inputs) {
    plan.inputs.push_back(input.value);
  }
  for (const domain::GraphOutput& output : m_graph.outputs) {
    plan.outputs.push_back(output.value);
  }
  return plan;
}

Result<> SynthesizerImpl::addRegion(const domain::RegionGene& gene, int number, domain::Program& program) const {
  const patterns::Pattern& pattern = *m_catalogue.find(m_language, gene.pattern);
  Region region = *m_fusion.region(gene.nodes);
  if (const auto fused = gene.parameters.find("fused"); fused != gene.parameters.end() && fused->second != 0) {
    fuseStages(region);
  }
  const Strategy& strategy = *m_strategies.find(m_language, gene.pattern);
  const Instance instance{pattern, region, gene.parameters, m_device, &m_model};
  Launch launch = strategy.launch(instance, fmt::format("swage_kernel_{}", number));
  SWAGE_TRY_ASSIGN(const KernelText text, strategy.write(instance, launch, number));
  program.source += text.source;
  addSteps(std::move(launch), text, program.plan);
  return {};
}

Result<domain::Program> SynthesizerImpl::realise(const Genome& genome) const {
  if (!m_moves.isLegal(genome)) {
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
  program.plan = emptyPlan();
  const std::optional<std::vector<int>> order = m_fusion.schedule(partition);
  for (const int item : *order) {
    if (item >= 0) {
      SWAGE_TRY(addRegion(genome.regions[asIndex(item)], item, program));
    } else {
      program.plan.steps.emplace_back(domain::AtenStep{m_graph.nodes[asIndex(~item)]});
    }
  }
  program.source = helpersFor(m_catalogue.helpers(m_language), program.source) + program.source;
  if (wide) {
    program.compileFlags.emplace_back("-mprefer-vector-width=512");
  }
  return program;
}

std::vector<int> SynthesizerImpl::coveredNodes() const {
  std::set<int> nodes;
  for (const std::vector<int>& operations : m_fusion.singlePartition()) {
    if (!m_moves.patternsFor(operations).empty()) {
      nodes.insert(m_operations.operations[asIndex(operations.front())].node);
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
