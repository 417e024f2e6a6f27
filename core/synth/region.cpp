// SPDX-License-Identifier: Apache-2.0
#include "core/synth/region.h"

#include <algorithm>

#include "core/base/assert.h"

namespace swage::synth {
namespace {

std::size_t asIndex(int value) {
  return static_cast<std::size_t>(value);
}

void dropAxis(RegionProgram& program, std::size_t axis) {
  program.axes.erase(program.axes.begin() + static_cast<std::ptrdiff_t>(axis));
  for (Access& access : program.accesses) {
    access.strides.erase(access.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  }
}

bool canJoin(const RegionProgram& program, std::size_t outer) {
  if (program.axes[outer].reduced != program.axes[outer + 1].reduced) {
    return false;
  }
  const std::int64_t innerExtent = program.axes[outer + 1].extent;
  return std::all_of(program.accesses.begin(), program.accesses.end(), [&](const Access& access) {
    return access.strides[outer] == access.strides[outer + 1] * innerExtent;
  });
}

// The positions of the loads and reductions a prim needs, marked in `needed`.
void mark(const RegionProgram& program, int prim, std::vector<bool>& needed) {
  if (needed[asIndex(prim)]) {
    return;
  }
  needed[asIndex(prim)] = true;
  const Prim& self = program.prims[asIndex(prim)];
  for (const int arg : self.args) {
    mark(program, arg, needed);
  }
  if (self.kind == Prim::Kind::Reduced) {
    mark(program, program.reducers[asIndex(self.reducer)].input, needed);
  }
}

bool isPerElementLoad(const RegionProgram& program, const Access& access) {
  if (program.reducers.empty()) {
    return true;
  }
  for (std::size_t axis = 0; axis < program.axes.size(); ++axis) {
    if (program.axes[axis].reduced && access.strides[axis] != 0) {
      return true;
    }
  }
  return false;
}

void annotate(RegionProgram& program) {
  for (Prim& prim : program.prims) {
    prim.perElement = prim.kind == Prim::Kind::Index;
    prim.ready = -1;
    if (prim.kind == Prim::Kind::Load) {
      prim.perElement = isPerElementLoad(program, program.accesses[asIndex(prim.access)]);
    }
    for (const int arg : prim.args) {
      prim.perElement = prim.perElement || program.prims[asIndex(arg)].perElement;
      prim.ready = std::max(prim.ready, program.prims[asIndex(arg)].ready);
    }
    if (prim.kind == Prim::Kind::Reduced) {
      Reducer& reducer = program.reducers[asIndex(prim.reducer)];
      reducer.stage = program.prims[asIndex(reducer.input)].ready + 1;
      prim.ready = reducer.stage;
    }
  }
}

// Rebuilds `prims` in dependency order with only what the stores need.
void prune(RegionProgram& program) {
  std::vector<bool> needed(program.prims.size(), false);
  for (const auto* stores : {&program.elementStores, &program.groupStores}) {
    for (const Store& store : *stores) {
      mark(program, store.prim, needed);
    }
  }
  std::vector<int> newPrim(program.prims.size(), -1);
  std::vector<int> newReducer(program.reducers.size(), -1);
  std::vector<Prim> prims;
  std::vector<Reducer> reducers;
  for (std::size_t i = 0; i < program.prims.size(); ++i) {
    if (!needed[i]) {
      continue;
    }
    Prim prim = program.prims[i];
    for (int& arg : prim.args) {
      arg = newPrim[asIndex(arg)];
      SWAGE_ASSERT(arg >= 0);
    }
    if (prim.kind == Prim::Kind::Reduced) {
      if (newReducer[asIndex(prim.reducer)] < 0) {
        Reducer reducer = program.reducers[asIndex(prim.reducer)];
        reducer.input = newPrim[asIndex(reducer.input)];
        SWAGE_ASSERT(reducer.input >= 0);
        newReducer[asIndex(prim.reducer)] = static_cast<int>(reducers.size());
        reducers.push_back(reducer);
      }
      prim.reducer = newReducer[asIndex(prim.reducer)];
    }
    newPrim[i] = static_cast<int>(prims.size());
    prims.push_back(std::move(prim));
  }
  for (auto* stores : {&program.elementStores, &program.groupStores}) {
    for (Store& store : *stores) {
      store.prim = newPrim[asIndex(store.prim)];
    }
  }
  program.prims = std::move(prims);
  program.reducers = std::move(reducers);
}

bool isCall(const RegionProgram& program, int prim, std::string_view function) {
  const Prim& self = program.prims[asIndex(prim)];
  return self.kind == Prim::Kind::Call && self.function == function;
}

bool isReduced(const RegionProgram& program, int prim, ReduceKind kind) {
  const Prim& self = program.prims[asIndex(prim)];
  return self.kind == Prim::Kind::Reduced && program.reducers[asIndex(self.reducer)].kind == kind;
}

void replaceReduced(RegionProgram& program, int oldReducer, int newReducer, int slot) {
  for (Prim& prim : program.prims) {
    if (prim.kind == Prim::Kind::Reduced && prim.reducer == oldReducer) {
      prim.reducer = newReducer;
      prim.slot = slot;
    }
  }
}

// sum(exp(x - max(x))): both in one pass.
bool fuseSoftmax(RegionProgram& program, int sum) {
  const int input = program.reducers[asIndex(sum)].input;
  if (program.reducers[asIndex(sum)].kind != ReduceKind::Sum || !isCall(program, input, "exp")) {
    return false;
  }
  const int difference = program.prims[asIndex(input)].args[0];
  if (!isCall(program, difference, "sub")) {
    return false;
  }
  const int x = program.prims[asIndex(difference)].args[0];
  const int maximum = program.prims[asIndex(difference)].args[1];
  if (!isReduced(program, maximum, ReduceKind::Maximum)) {
    return false;
  }
  const int maxReducer = program.prims[asIndex(maximum)].reducer;
  if (program.reducers[asIndex(maxReducer)].input != x) {
    return false;
  }
  program.reducers[asIndex(maxReducer)].kind = ReduceKind::SoftmaxPair;
  replaceReduced(program, sum, maxReducer, 1);
  return true;
}

// sum((x - sum(x) / n)^2): both in one pass.
bool fuseMoments(RegionProgram& program, int sum) {
  const int input = program.reducers[asIndex(sum)].input;
  if (program.reducers[asIndex(sum)].kind != ReduceKind::Sum || !isCall(program, input, "mul")) {
    return false;
  }
  const Prim& square = program.prims[asIndex(input)];
  if (square.args[0] != square.args[1] || !isCall(program, square.args[0], "sub")) {
    return false;
  }
  const Prim& difference = program.prims[asIndex(square.args[0])];
  const int x = difference.args[0];
  const int mean = difference.args[1];
  const bool isProduct = isCall(program, mean, "mul");
  if ((!isProduct && !isCall(program, mean, "div")) ||
      !isReduced(program, program.prims[asIndex(mean)].args[0], ReduceKind::Sum)) {
    return false;
  }
  const Prim& scale = program.prims[asIndex(program.prims[asIndex(mean)].args[1])];
  const int first = program.prims[asIndex(program.prims[asIndex(mean)].args[0])].reducer;
  const Reducer& moments = program.reducers[asIndex(first)];
  const auto count = static_cast<double>(moments.count);
  const bool isMean = scale.kind == Prim::Kind::Constant && scale.number == (isProduct ? 1.0 / count : count);
  if (!isMean || moments.input != x) {
    return false;
  }
  program.reducers[asIndex(first)].kind = ReduceKind::MomentPair;
  replaceReduced(program, sum, first, 1);
  return true;
}

}  // namespace

int RegionProgram::stageCount() const {
  int count = 0;
  for (const Reducer& reducer : reducers) {
    count = std::max(count, reducer.stage + 1);
  }
  return count;
}

std::int64_t RegionProgram::groupCount() const {
  std::int64_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.reduced ? 1 : axis.extent;
  }
  return count;
}

std::int64_t RegionProgram::reducedCount() const {
  std::int64_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.reduced ? axis.extent : 1;
  }
  return count;
}

void collapseAxes(RegionProgram& program) {
  for (std::size_t axis = program.axes.size(); axis-- > 0;) {
    if (program.axes[axis].extent == 1) {
      dropAxis(program, axis);
    }
  }
  for (std::size_t axis = program.axes.size(); axis-- > 1;) {
    if (canJoin(program, axis - 1)) {
      program.axes[axis - 1].extent *= program.axes[axis].extent;
      for (Access& access : program.accesses) {
        access.strides[axis - 1] = access.strides[axis];
      }
      dropAxis(program, axis);
    }
  }
}

Changed fuseStages(RegionProgram& program) {
  Changed changed = Changed::No;
  for (int sum = 0; sum < static_cast<int>(program.reducers.size()); ++sum) {
    if (fuseSoftmax(program, sum) || fuseMoments(program, sum)) {
      changed = Changed::Yes;
    }
  }
  if (changed == Changed::Yes) {
    finalise(program);
  }
  return changed;
}

void finalise(RegionProgram& program) {
  prune(program);
  annotate(program);
}

}  // namespace swage::synth
