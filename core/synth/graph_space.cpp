// SPDX-License-Identifier: Apache-2.0
#include "core/synth/graph_space.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include <fmt/format.h>

#include "core/domain/aten.h"
#include "core/synth/emit/helpers.h"
#include "core/synth/parameter_ranking.h"
#include "core/synth/rewriting/rewriting.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

using domain::Genome;
using domain::RegionGene;
using domain::Rewrite;
using domain::ValueId;

// Beyond those, a search makes do with the rewritten graphs that it has.
constexpr std::size_t kMostSpaces = 128;

std::string keyOf(const std::vector<Rewrite>& rewrites) {
  Genome genome;
  genome.rewrites = rewrites;
  return domain::canonicalText(genome);
}

// "model.py:14: total = x + residual"; of a graph without the text of its lines, "model.py:14 in forward".
std::string lineOf(const domain::Node& node) {
  if (node.code.empty() || node.where.empty()) {
    return node.code.empty() ? node.where : node.code;
  }
  return fmt::format("{}: {}", node.where.substr(0, node.where.rfind(" in ")), node.code);
}

// Inputs have the names of the model, results those that it assigns them to, or that of the operator that makes them.
ModelText modelText(const domain::Graph& graph, const std::string& helpers) {
  ModelText text;
  text.functions = helperNames(helpers);
  for (const domain::GraphInput& input : graph.inputs) {
    text.names[input.value] = input.name;
  }
  for (const domain::Node& node : graph.nodes) {
    for (const ValueId output : node.outputs) {
      if (output.isValid()) {
        text.names[output] = node.name.empty() ? std::string(domain::atenName(node.op)) : node.name;
        text.lines[output] = lineOf(node);
      }
      if (output.isValid() && !node.name.empty()) {
        text.assigned[output] = node.name;
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

// What an operation is called in every graph that has it: the first result of its node, and its place in the node.
using OperationName = std::pair<ValueId, int>;

OperationName nameOf(const GraphSpace& space, int operation) {
  const int node = space.operations().operations[asIndex(operation)].node;
  ValueId value;
  for (const ValueId output : space.graph().nodes[asIndex(node)].outputs) {
    value = value.isValid() ? value : output;
  }
  return {value, operation - *space.operations().firstOperation[asIndex(node)]};
}

// The genes of a genome that mean the same in another graph.
std::vector<RegionGene> carriedOver(const Genome& genome, const GraphSpace& from, const GraphSpace& to) {
  std::map<OperationName, int> places;
  for (int operation = 0; operation < static_cast<int>(to.operations().operations.size()); ++operation) {
    places.emplace(nameOf(to, operation), operation);
  }
  std::vector<RegionGene> genes;
  for (const RegionGene& gene : genome.regions) {
    RegionGene carried = gene;
    bool isThere = true;
    for (int& operation : carried.nodes) {
      const auto found = places.find(nameOf(from, operation));
      isThere = isThere && found != places.end();
      operation = isThere ? found->second : operation;
    }
    std::sort(carried.nodes.begin(), carried.nodes.end());
    if (isThere && to.moves().isLegal(carried)) {
      genes.push_back(std::move(carried));
    }
  }
  return genes;
}

// Whether some kernel can compute the region. What only few strategies fold behind a product must be possible with
// some parameters on this device: where it is not, what is folded has a region of its own.
bool canCompute(const Region& region, const SpaceParts& parts) {
  const domain::Language language = domain::standardLanguage(parts.device.kind);
  if (!region.foldsLater()) {
    return parts.strategies.accepts(language, region);
  }
  const std::vector<patterns::Pattern>& patterns = parts.catalogue.all();
  return std::any_of(patterns.begin(), patterns.end(), [&](const patterns::Pattern& pattern) {
    const Strategy* const strategy = parts.strategies.find(language, pattern.id);
    return pattern.language == language && strategy != nullptr && strategy->accepts(region) &&
           fitsSomehow(*strategy, pattern, region, parts.device);
  });
}

std::vector<Rewrite> rewritesFor(const domain::Graph& graph, domain::DeviceKind device) {
  std::vector<Rewrite> found = findRewrites(graph);
  std::erase_if(found, [device](const Rewrite& rewrite) { return !isForDevice(rewrite.rule, device); });
  return found;
}

}  // namespace

GraphSpace::GraphSpace(domain::Graph graph, std::vector<Rewrite> rewrites, const SpaceParts& parts)
    : m_graph(std::move(graph)),
      m_rewrites(std::move(rewrites)),
      m_operations(findOperations(m_graph)),
      m_fusion(m_graph, m_operations, [&parts](const Region& region) { return canCompute(region, parts); }),
      m_model(modelText(m_graph, parts.catalogue.helpers(domain::standardLanguage(parts.device.kind)))),
      m_moves(m_fusion, m_operations, parts.catalogue, parts.strategies, parts.device, parts.known, m_rewrites),
      m_next(rewritesFor(m_graph, parts.device.kind)) {}

GraphSpaces::GraphSpaces(const domain::Graph& graph, const SpaceParts& parts)
    : m_parts(parts), m_original(graph, {}, m_parts) {
  const auto add = [this](std::vector<Rewrite> rewrites) {
    if (!rewrites.empty() && std::find(m_choices.begin(), m_choices.end(), rewrites) == m_choices.end()) {
      m_choices.push_back(std::move(rewrites));
    }
  };
  add(allRewrites(graph));
  std::set<std::string> rules;
  for (const Rewrite& rewrite : m_original.next()) {
    if (rules.insert(rewrite.rule).second) {
      std::vector<Rewrite> chosen = allRewrites(graph, rewrite.rule);
      add(chosen);
      // What saves work beside a choice: what follows a library's convolution may be written in place, for example.
      if (auto changed = isChoice(rewrite.rule) ? rewritten(graph, chosen) : std::nullopt) {
        std::vector<Rewrite> more = allRewrites(std::move(*changed));
        std::move(more.begin(), more.end(), std::back_inserter(chosen));
        add(std::move(chosen));
      }
    }
  }
}

const GraphSpace* GraphSpaces::find(const std::vector<Rewrite>& rewrites) const {
  if (rewrites.empty()) {
    return &m_original;
  }
  const std::lock_guard lock(m_mutex);
  const std::string key = keyOf(rewrites);
  auto known = m_known.find(key);
  if (known == m_known.end()) {
    std::unique_ptr<GraphSpace> space;
    if (auto graph = rewritten(m_original.graph(), rewrites)) {
      space = std::make_unique<GraphSpace>(std::move(*graph), rewrites, m_parts);
    }
    known = m_known.emplace(key, std::move(space)).first;
  }
  return known->second.get();
}

std::optional<std::vector<Rewrite>> GraphSpaces::changed(const GraphSpace& from, Random& random) const {
  std::vector<Rewrite> rewrites = from.rewrites();
  const bool isLess = !rewrites.empty() && (from.next().empty() || random.chance(0.5));
  if (isLess) {
    rewrites.erase(rewrites.begin() + static_cast<std::ptrdiff_t>(random.below(rewrites.size())));
    return rewrites;
  }
  if (from.next().empty() || rewrites.size() >= kMostRewrites) {
    return std::nullopt;
  }
  rewrites.push_back(random.pick(std::span(from.next())));
  return rewrites;
}

std::optional<Genome> GraphSpaces::rewrite(const Genome& genome, Random& random) const {
  const GraphSpace* from = find(genome.rewrites);
  const auto rewrites = from != nullptr ? changed(*from, random) : std::nullopt;
  if (!rewrites) {
    return std::nullopt;
  }
  {
    const std::lock_guard lock(m_mutex);
    if (m_known.size() >= kMostSpaces && !rewrites->empty() && !m_known.contains(keyOf(*rewrites))) {
      return std::nullopt;
    }
  }
  const GraphSpace* to = find(*rewrites);
  return to != nullptr ? to->moves().around(carriedOver(genome, *from, *to), random) : std::nullopt;
}

}  // namespace swage::synth
