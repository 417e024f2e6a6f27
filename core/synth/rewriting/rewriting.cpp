// SPDX-License-Identifier: Apache-2.0
#include "core/synth/rewriting/rewriting.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/synth/rewriting/rules.h"

namespace swage::synth {
namespace {

using domain::Rewrite;

const std::vector<GraphRule>& rules() {
  static const std::vector<GraphRule> all = [] {
    std::vector<GraphRule> made;
    registerReductionRules(made);
    registerAttentionRules(made);
    registerConvolutionRules(made);
    registerNormalisationRules(made);
    registerStructureRules(made);
    registerScanRules(made);
    for (const GraphRule& rule : made) {
      SWAGE_ASSERT(domain::findRewriteRule(rule.name) != nullptr);
    }
    return made;
  }();
  return all;
}

domain::ValueId resultOf(const domain::Node& node) {
  return node.outputs.empty() ? domain::ValueId() : node.outputs.front();
}

std::optional<domain::Graph> rewrittenOnce(const domain::Graph& graph, const Rewrite& rewrite) {
  const GraphIndex index(graph);
  const auto anchor = index.maker(rewrite.value);
  const auto rule = std::find_if(rules().begin(), rules().end(),
                                 [&](const GraphRule& candidate) { return candidate.name == rewrite.rule; });
  if (!anchor || rule == rules().end()) {
    return std::nullopt;
  }
  GraphEdit edit(index, *anchor);
  return rule->apply(edit) ? std::optional(edit.finish()) : std::nullopt;
}

}  // namespace

std::vector<Rewrite> findRewrites(const domain::Graph& graph) {
  const GraphIndex index(graph);
  std::vector<Rewrite> found;
  for (const GraphRule& rule : rules()) {
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      GraphEdit edit(index, node);
      if (resultOf(graph.nodes[node]).isValid() && (rule.pays == nullptr || rule.pays(edit)) && rule.apply(edit)) {
        found.push_back({std::string(rule.name), resultOf(graph.nodes[node]), graph.nodes[node].where});
      }
    }
  }
  return found;
}

std::optional<domain::Graph> rewritten(domain::Graph graph, const std::vector<Rewrite>& rewrites) {
  for (const Rewrite& rewrite : rewrites) {
    auto next = rewrittenOnce(graph, rewrite);
    if (!next) {
      return std::nullopt;
    }
    graph = std::move(*next);
  }
  return graph;
}

// PyTorch keeps one plan of cuDNN's for a shape and layout, whether it was searched for or not. If the same process
// also asked without a search, what it measures would depend on who came first, and the user's process would do
// otherwise.
bool isForDevice(std::string_view rule, domain::DeviceKind device) {
  if (rule == kLaidOutConvolution) {
    return device != domain::DeviceKind::Cuda;
  }
  return rule != kSearchedConvolution || device == domain::DeviceKind::Cuda;
}

bool isChoice(std::string_view rule) {
  return std::any_of(rules().begin(), rules().end(),
                     [rule](const GraphRule& other) { return other.name == rule && other.isChoice; });
}

std::vector<Rewrite> allRewrites(domain::Graph graph, std::string_view rule) {
  std::vector<Rewrite> made;
  while (made.size() < kMostRewrites) {
    const std::vector<Rewrite> found = findRewrites(graph);
    const auto next = std::find_if(found.begin(), found.end(), [rule](const Rewrite& rewrite) {
      return rule.empty() ? !isChoice(rewrite.rule) : rewrite.rule == rule;
    });
    auto graphAfter = next == found.end() ? std::nullopt : rewrittenOnce(graph, *next);
    if (!graphAfter) {
      break;
    }
    made.push_back(*next);
    graph = std::move(*graphAfter);
  }
  return made;
}

}  // namespace swage::synth
