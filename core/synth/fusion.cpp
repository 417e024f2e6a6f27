// SPDX-License-Identifier: Apache-2.0
#include "core/synth/fusion.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

using domain::ValueId;

// More tensors than this in one kernel cost more in registers and address arithmetic than a launch does.
constexpr std::size_t kMaxOperands = 24;
constexpr std::size_t kMaxPrims = 400;
// A region that has a result of more elements than this stores no smaller result in the same loop, which would repeat
// that store for each element. On an H200, a map of 337 million elements took 892 us with a counter of batches in it
// and 636 us without.
constexpr std::int64_t kMostRepeatedStores = 65536;

bool contains(const std::vector<int>& sorted, int item) {
  return std::binary_search(sorted.begin(), sorted.end(), item);
}

std::int64_t elementsOf(const domain::Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return count;
}

// The operation that decides the axes: the first that reduces, else the one with the most elements.
const Operation& anchorOf(const OperationGraph& graph, const std::vector<int>& operations) {
  const Operation* anchor = nullptr;
  for (const int index : operations) {
    const Operation& operation = graph.operations[asIndex(index)];
    if (operation.folds()) {
      return operation;
    }
    if (anchor == nullptr || elementsOf(operation.layout.space) > elementsOf(anchor->layout.space)) {
      anchor = &operation;
    }
  }
  return *anchor;
}

bool isProduct(const RegionBuilder::Layout& layout) {
  return !layout.more.empty() && !layout.roles.empty();
}

// Whether it may fold what a product has made in the same region.
bool isPlainReduction(const RegionBuilder::Layout& layout) {
  return layout.more.empty() && layout.roles.empty() && !layout.reducedDims.empty();
}

// Whether it folds windows that cut the positions of what a convolution has made. Other products know their results by
// one axis for each dimension.
bool poolsResults(const RegionBuilder::Layout& product, const RegionBuilder::Layout& pool) {
  const bool isConvolution =
      isProduct(product) && std::any_of(product.more.begin(), product.more.end(),
                                        [](const Axis& axis) { return axis.role == AxisRole::Window; });
  if (!isConvolution || !pool.roles.empty() || pool.tiled.empty() || pool.tiled != product.space) {
    return false;
  }
  return std::all_of(product.roles.end() - std::ssize(pool.more), product.roles.end(),
                     [](AxisRole role) { return role == AxisRole::M; });
}

// Whether it makes, element by element, what windows of the anchor cut into tiles.
bool makesTiles(const RegionBuilder::Layout& anchor, const Operation& operation) {
  return !anchor.tiled.empty() && !operation.folds() && operation.layout.space == anchor.tiled &&
         operation.layout.splitDim < static_cast<int>(anchor.tiled.size() - anchor.more.size());
}

// That of the anchor. Channels are cut as what folds a product's results later wants it, or what makes the elements
// that windows see; positions as a pooling behind a convolution wants it.
RegionBuilder::Layout layoutOf(const OperationGraph& graph, const std::vector<int>& operations,
                               const Operation& anchor) {
  RegionBuilder::Layout layout = anchor.layout;
  for (const int index : operations) {
    const Operation& operation = graph.operations[asIndex(index)];
    const RegionBuilder::Layout& other = operation.layout;
    if (layout.splitDim < 0 && makesTiles(anchor.layout, operation)) {
      layout.splitDim = other.splitDim;
      layout.splitOuter = other.splitOuter;
    }
    if (isProduct(layout) && layout.splitDim < 0 && isPlainReduction(other) && other.space == layout.space) {
      layout.splitDim = other.splitDim;
      layout.splitOuter = other.splitOuter;
      layout.isCutLater = other.splitDim >= 0;
    }
    if (layout.cut.empty() && poolsResults(anchor.layout, other)) {
      layout.tiled = other.tiled;
      std::transform(other.more.begin(), other.more.end(), std::back_inserter(layout.cut),
                     [](const Axis& window) { return window.extent; });
    }
  }
  return layout;
}

// Reductions of the same elements share one pass over them. Products, windows and scans each have loops of their own;
// what a product has made may be folded in turn.
bool canJoinFold(const RegionBuilder::Layout& anchor, const RegionBuilder::Layout& fold, RegionBuilder& builder) {
  if (isProduct(anchor) && isPlainReduction(fold)) {
    return builder.reduceLater(fold);
  }
  if (poolsResults(anchor, fold)) {
    return builder.poolLater(fold);
  }
  return fold == anchor && anchor.more.empty() && anchor.roles.empty();
}

// Whether results are folded along axes that are left, behind what is still a product.
bool isChainOfFolds(const Region& region) {
  return region.kind() == NestKind::Contract &&
         std::any_of(region.axes.begin(), region.axes.end(), [](const Axis& axis) { return axis.isFoldedLater; });
}

// Whether it writes a part of a tensor of which it reads or writes another part: kernels rely on pointers to different
// tensors.
bool hasAliases(const Region& region) {
  return std::any_of(region.operands.begin(), region.operands.end(), [&region](const Operand& written) {
    return written.output && std::any_of(region.operands.begin(), region.operands.end(), [&](const Operand& other) {
             return &other != &written && other.value == written.value;
           });
  });
}

// Whether a result that has fewer elements than another would be stored once for each element of that one. What is
// found by later folds is stored in loops of its own.
bool repeatsStores(const Region& region) {
  const auto walks = [&region](const Store& store, std::size_t axis) {
    return region.operands[asIndex(store.operand)].walksAlong(axis);
  };
  const auto isFoundLater = [&](const Store& store) {
    for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
      if (region.axes[axis].isFoldedLater && walks(store, axis)) {
        return false;
      }
    }
    return region.foldsLater();
  };
  const auto countOf = [&](const Store& store) {
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
      count *= walks(store, axis) ? region.axes[axis].extent : 1;
    }
    return count;
  };
  const auto repeats = [&](const std::vector<Store>& stores, bool areFoundLater) {
    std::vector<std::int64_t> counts;
    for (const Store& store : stores) {
      if (isFoundLater(store) == areFoundLater) {
        counts.push_back(countOf(store));
      }
    }
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    return !counts.empty() && *most > kMostRepeatedStores && *least < *most;
  };
  return repeats(region.elementStores, false) || repeats(region.groupStores, false) ||
         repeats(region.groupStores, true);
}

}  // namespace

Fusion::Fusion(const domain::Graph& graph, const OperationGraph& operations, Computes computes)
    : m_graph(graph), m_operations(operations), m_computes(std::move(computes)) {
  for (int index = 0; index < static_cast<int>(operations.operations.size()); ++index) {
    for (const ValueId input : operations.operations[asIndex(index)].inputs) {
      m_readers[input].push_back(index);
    }
  }
  for (int node = 0; node < static_cast<int>(graph.nodes.size()); ++node) {
    if (!operations.firstOperation[asIndex(node)]) {
      for (const ValueId input : domain::inputsOf(graph.nodes[asIndex(node)])) {
        m_atenReaders[input].push_back(node);
      }
    }
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    m_graphOutputs.push_back(output.value);
  }
}

std::vector<ValueId> Fusion::outputsOf(const std::vector<int>& operations) const {
  std::vector<ValueId> outputs;
  for (const int index : operations) {
    for (const ValueId value : m_operations.operations[asIndex(index)].outputs) {
      const auto readers = m_readers.find(value);
      const bool readOutside =
          readers != m_readers.end() && std::any_of(readers->second.begin(), readers->second.end(),
                                                    [&](int reader) { return !contains(operations, reader); });
      const bool isOutput = std::find(m_graphOutputs.begin(), m_graphOutputs.end(), value) != m_graphOutputs.end();
      // A node may be asked to run by ATen after all, so what an unfused reader needs counts as read outside.
      if (value.isValid() && (readOutside || isOutput || m_atenReaders.count(value) != 0)) {
        outputs.push_back(value);
      }
    }
  }
  return outputs;
}

std::optional<Region> Fusion::build(const std::vector<int>& operations) const {
  const Operation& anchor = anchorOf(m_operations, operations);
  RegionBuilder builder(m_operations.values, layoutOf(m_operations, operations, anchor), m_operations.places);
  for (const int index : operations) {
    const Operation& operation = m_operations.operations[asIndex(index)];
    if (operation.isAlone && operations.size() > 1) {
      return std::nullopt;
    }
    if ((operation.folds() && &operation != &anchor && !canJoinFold(anchor.layout, operation.layout, builder)) ||
        !operation.lower(builder)) {
      return std::nullopt;
    }
  }
  const std::vector<ValueId> outputs = outputsOf(operations);
  if (outputs.empty()) {
    return std::nullopt;
  }
  std::optional<Region> program = builder.finish(outputs);
  const bool isLarge = program && !program->recurrence && program->operands.size() > kMaxOperands;
  if (!program || isLarge || program->prims.size() > kMaxPrims ||
      (program->foldsLater() && !isChainOfFolds(*program)) || hasAliases(*program) || repeatsStores(*program) ||
      !m_computes(*program)) {
    return std::nullopt;
  }
  return program;
}

const Region* Fusion::region(const std::vector<int>& operations) const {
  const std::lock_guard lock(m_mutex);
  auto known = m_known.find(operations);
  if (known == m_known.end()) {
    known = m_known.emplace(operations, operations.empty() ? std::nullopt : build(operations)).first;
  }
  return known->second ? &*known->second : nullptr;
}

bool Fusion::areRelated(const std::vector<int>& a, const std::vector<int>& b) const {
  std::set<ValueId> touched;
  for (const int index : a) {
    const Operation& operation = m_operations.operations[asIndex(index)];
    touched.insert(operation.inputs.begin(), operation.inputs.end());
    touched.insert(operation.outputs.begin(), operation.outputs.end());
  }
  return std::any_of(b.begin(), b.end(), [&](int index) {
    const Operation& operation = m_operations.operations[asIndex(index)];
    const auto isTouched = [&](ValueId value) { return touched.count(value) != 0; };
    return std::any_of(operation.inputs.begin(), operation.inputs.end(), isTouched) ||
           std::any_of(operation.outputs.begin(), operation.outputs.end(), isTouched);
  });
}

std::vector<std::vector<int>> Fusion::singlePartition() const {
  std::vector<std::vector<int>> partition;
  for (int index = 0; index < static_cast<int>(m_operations.operations.size()); ++index) {
    if (region({index}) != nullptr) {
      partition.push_back({index});
    }
  }
  return partition;
}

bool Fusion::isSchedulable(std::vector<std::vector<int>> partition, std::size_t which,
                           const std::vector<int>& operations) const {
  partition[which] = operations;
  // What has not had its turn yet stands alone for now.
  for (int later = operations.back() + 1; later < static_cast<int>(m_operations.operations.size()); ++later) {
    if (region({later}) != nullptr) {
      partition.push_back({later});
    }
  }
  return schedule(partition).has_value();
}

const std::vector<std::vector<int>>& Fusion::greedyPartition(Joins joins) const {
  const std::lock_guard lock(m_greedyMutex);
  auto known = m_greedy.find(joins);
  if (known == m_greedy.end()) {
    known = m_greedy.emplace(joins, findGreedyPartition(joins)).first;
  }
  return known->second;
}

bool Fusion::folds(int node) const {
  return std::any_of(m_operations.operations.begin(), m_operations.operations.end(),
                     [node](const Operation& operation) { return operation.node == node && operation.folds(); });
}

void Fusion::joinBranches(std::vector<std::vector<int>>& partition, std::size_t which) const {
  const auto isLight = [this](const std::vector<int>& operations) {
    const Region* const own = region(operations);
    return own != nullptr && !own->recurrence && (own->kind() == NestKind::Map || own->kind() == NestKind::Reduce);
  };
  const std::vector<int> meeting{partition[which].back()};
  for (std::size_t i = partition.size(); i-- > 0 && isLight(partition[which]);) {
    if (i == which || !isLight(partition[i]) || !areRelated(partition[i], meeting)) {
      continue;
    }
    std::vector<int> attempt;
    std::merge(partition[i].begin(), partition[i].end(), partition[which].begin(), partition[which].end(),
               std::back_inserter(attempt));
    std::vector<std::vector<int>> others = partition;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const std::size_t place = which - (i < which ? 1 : 0);
    if (isLight(attempt) && isSchedulable(others, place, attempt)) {
      others[place] = std::move(attempt);
      partition = std::move(others);
      which = place;
    }
  }
}

std::vector<std::vector<int>> Fusion::findGreedyPartition(Joins joins) const {
  std::vector<std::vector<int>> partition;
  for (int index = 0; index < static_cast<int>(m_operations.operations.size()); ++index) {
    if (region({index}) == nullptr ||
        (joins == Joins::Elements && folds(m_operations.operations[asIndex(index)].node))) {
      continue;
    }
    const auto isTiny = [&](int operation) {
      return elementsOf(m_operations.operations[asIndex(operation)].layout.space) <= 1;
    };
    bool joined = false;
    for (std::size_t i = partition.size(); i-- > 0 && !joined;) {
      // A counter that nothing else touches shares a launch with other counters, or that of a small kernel.
      const bool ridesAlong = isTiny(index) || std::all_of(partition[i].begin(), partition[i].end(), isTiny);
      if (!ridesAlong && !areRelated(partition[i], {index})) {
        continue;
      }
      std::vector<int> attempt = partition[i];
      attempt.push_back(index);
      const Region* const joint = region(attempt);
      const bool isWanted = joint != nullptr && (joins != Joins::NoLaterFolds || !joint->foldsLater());
      if (isWanted && isSchedulable(partition, i, attempt)) {
        partition[i] = std::move(attempt);
        joined = true;
        joinBranches(partition, i);
      }
    }
    if (!joined) {
      partition.push_back({index});
    }
  }
  return partition;
}

std::optional<std::vector<int>> Fusion::schedule(const std::vector<std::vector<int>>& partition) const {
  struct Unit {
    int item;
    std::vector<ValueId> needs;
    std::vector<ValueId> makes;
  };
  std::vector<Unit> units;
  std::set<int> coveredNodes;
  for (std::size_t i = 0; i < partition.size(); ++i) {
    Unit unit{static_cast<int>(i), {}, outputsOf(partition[i])};
    std::set<ValueId> own;
    for (const int index : partition[i]) {
      const Operation& operation = m_operations.operations[asIndex(index)];
      coveredNodes.insert(operation.node);
      for (const ValueId input : operation.inputs) {
        if (own.count(input) == 0) {
          unit.needs.push_back(input);
        }
      }
      own.insert(operation.outputs.begin(), operation.outputs.end());
    }
    units.push_back(std::move(unit));
  }
  for (int node = 0; node < static_cast<int>(m_graph.nodes.size()); ++node) {
    if (coveredNodes.count(node) == 0) {
      const domain::Node& self = m_graph.nodes[asIndex(node)];
      units.push_back({~node, domain::inputsOf(self), self.outputs});
    }
  }
  std::set<ValueId> ready;
  for (const domain::GraphInput& input : m_graph.inputs) {
    ready.insert(input.value);
  }
  std::vector<int> order;
  std::vector<bool> done(units.size(), false);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < units.size(); ++i) {
      const bool runnable = !done[i] && std::all_of(units[i].needs.begin(), units[i].needs.end(),
                                                    [&](ValueId value) { return ready.count(value) != 0; });
      if (runnable) {
        done[i] = progress = true;
        ready.insert(units[i].makes.begin(), units[i].makes.end());
        order.push_back(units[i].item);
      }
    }
  }
  return order.size() == units.size() ? std::optional(order) : std::nullopt;
}

}  // namespace swage::synth
