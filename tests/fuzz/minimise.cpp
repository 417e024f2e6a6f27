// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/minimise.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/files.h"
#include "tests/fuzz/graph_writer.h"

namespace swage::fuzz {
namespace {

ValueId renumbered(ValueId old, std::map<ValueId, ValueId>& ids, const domain::Graph& from, domain::Graph& to) {
  if (!old.isValid()) {
    return old;
  }
  const auto [known, isNew] = ids.try_emplace(old, ValueId(static_cast<std::int32_t>(to.values.size())));
  if (isNew) {
    to.values.push_back(from.type(old));
  }
  return known->second;
}

void renumber(Argument& argument, std::map<ValueId, ValueId>& ids, const domain::Graph& from, domain::Graph& to) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) {
    *id = renumbered(*id, ids, from, to);
  } else if (auto* list = std::get_if<domain::ArgumentList>(&argument.value)) {
    for (Argument& item : *list) {
      renumber(item, ids, from, to);
    }
  }
}

// A value of the graph becomes an input, filled with normal numbers.
void addInput(FuzzCase& which, ValueId value) {
  const domain::TensorType type = which.graph.type(value);
  which.graph.inputs.push_back({value, domain::InputKind::User, fmt::format("made{}", value.value())});
  domain::Graph& generator = which.generator;
  generator.values.push_back(domain::contiguousTensor(type.dtype, type.shape));
  const ValueId drawn(static_cast<std::int32_t>(generator.values.size()) - 1);
  const bool isFloat = domain::isFloating(type.dtype);
  domain::Node node{isFloat ? "aten.randn.default" : "aten.randint.low", {}, {}, {drawn}, {}};
  if (!isFloat) {
    node.args = {arg(std::int64_t{0}), arg(std::int64_t{2})};
  }
  node.args.push_back(listArg(type.shape));
  node.kwargs = {{"dtype", arg(type.dtype)}, {"device", {domain::DeviceArgument()}}};
  generator.nodes.push_back(std::move(node));
  generator.outputs.push_back({drawn, domain::OutputKind::User, {}});
}

std::set<std::string> kindsOf(const std::map<std::string, std::vector<Finding>>& findings) {
  std::set<std::string> kinds;
  for (const auto& [item, found] : findings) {
    for (const Finding& finding : found) {
      kinds.insert(finding.kind);
    }
  }
  return kinds;
}

// The kinds in which a case fails.
Result<std::set<std::string>> tryCase(const FuzzCase& which, const std::string& scratch, CampaignOptions options) {
  SWAGE_TRY(writeFileAtomically(scratch, toJson(which).dump(1) + "\n"));
  options.items = {scratch};
  options.corpus.clear();
  options.quiet = true;
  Campaign campaign(options);
  SWAGE_TRY(campaign.run());
  return kindsOf(campaign.findings());
}

}  // namespace

FuzzCase withoutUnused(const FuzzCase& which) {
  std::set<ValueId> needed;
  for (const domain::GraphOutput& output : which.graph.outputs) {
    needed.insert(output.value);
  }
  std::vector<domain::Node> nodes;
  for (std::size_t i = which.graph.nodes.size(); i-- > 0;) {
    const domain::Node& node = which.graph.nodes[i];
    if (std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) { return needed.contains(id); })) {
      const std::vector<ValueId> inputs = domain::inputsOf(node);
      needed.insert(inputs.begin(), inputs.end());
      nodes.insert(nodes.begin(), node);
    }
  }
  FuzzCase result = which;
  result.graph = {};
  result.generator.outputs.clear();
  std::map<ValueId, ValueId> ids;
  for (std::size_t i = 0; i < which.graph.inputs.size(); ++i) {
    domain::GraphInput input = which.graph.inputs[i];
    if (needed.contains(input.value)) {
      input.value = renumbered(input.value, ids, which.graph, result.graph);
      result.graph.inputs.push_back(input);
      result.generator.outputs.push_back(which.generator.outputs[i]);
    }
  }
  for (domain::Node& node : nodes) {
    for (Argument& argument : node.args) {
      renumber(argument, ids, which.graph, result.graph);
    }
    for (auto& [name, argument] : node.kwargs) {
      renumber(argument, ids, which.graph, result.graph);
    }
    for (ValueId& output : node.outputs) {
      output = renumbered(output, ids, which.graph, result.graph);
    }
    result.graph.nodes.push_back(std::move(node));
  }
  for (domain::GraphOutput output : which.graph.outputs) {
    output.value = renumbered(output.value, ids, which.graph, result.graph);
    result.graph.outputs.push_back(output);
  }
  return result;
}

std::vector<FuzzCase> smallerCases(const FuzzCase& which) {
  std::vector<FuzzCase> cases;
  for (std::size_t i = 0; which.graph.outputs.size() > 1 && i < which.graph.outputs.size(); ++i) {
    FuzzCase less = which;
    less.graph.outputs.erase(less.graph.outputs.begin() + static_cast<std::ptrdiff_t>(i));
    cases.push_back(withoutUnused(less));
  }
  for (std::size_t i = 0; which.graph.nodes.size() > 1 && i < which.graph.nodes.size(); ++i) {
    FuzzCase less = which;
    const std::vector<ValueId> results = less.graph.nodes[i].outputs;
    less.graph.nodes.erase(less.graph.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    for (const ValueId result : results) {
      if (result.isValid()) {
        addInput(less, result);
      }
    }
    cases.push_back(withoutUnused(less));
  }
  for (FuzzCase& smaller : cases) {
    smaller.genomes.clear();  // they name operations by number
  }
  return cases;
}

Result<std::string> minimise(const std::string& file, CampaignOptions options) {
  SWAGE_TRY_ASSIGN(FuzzCase best, readCase(file));
  const std::size_t nodes = best.graph.nodes.size();
  const std::string scratch = file + ".smaller";
  SWAGE_TRY_ASSIGN(const std::set<std::string> wanted, tryCase(best, scratch, options));
  if (wanted.empty()) {
    return Error(ErrorKind::InvalidInput, fmt::format("'{}' does not fail", file));
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (const FuzzCase& smaller : smallerCases(best)) {
      SWAGE_TRY_ASSIGN(const std::set<std::string> kinds, tryCase(smaller, scratch, options));
      const bool isSame =
          std::any_of(kinds.begin(), kinds.end(), [&](const auto& kind) { return wanted.contains(kind); });
      if (isSame) {
        best = smaller;
        progress = true;
        break;
      }
    }
  }
  std::error_code ignored;
  std::filesystem::remove(scratch, ignored);
  SWAGE_TRY(writeFileAtomically(file, toJson(best).dump(1) + "\n"));
  return fmt::format("{} of {} nodes are left", best.graph.nodes.size(), nodes);
}

}  // namespace swage::fuzz
