// SPDX-License-Identifier: Apache-2.0
// What patterns need to know of a region before its text is written.
#include <algorithm>
#include <set>
#include <string>

#include "core/synth/emit_region.h"

namespace swage::synth {
namespace {

std::size_t asIndex(int value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

bool differsForEachElement(const RegionProgram& program, const Access& access) {
  for (std::size_t axis = 0; axis < program.axes.size(); ++axis) {
    if (access.strides[axis] == 0) {
      return false;
    }
  }
  return true;
}

std::vector<int> elementLoads(const RegionProgram& program) {
  std::vector<int> loads;
  for (int i = 0; i < static_cast<int>(program.prims.size()); ++i) {
    const Prim& prim = program.prims[asIndex(i)];
    if (prim.kind == Prim::Kind::Load && prim.perElement) {
      loads.push_back(i);
    }
  }
  return loads;
}

Form formOf(const RegionProgram& program) {
  if (!program.hasReduction()) {
    return Form::Map;
  }
  return program.axes.empty() || program.axes.back().reduced ? Form::Row : Form::Column;
}

Loops loopsOf(const RegionProgram& program) {
  Loops loops;
  for (std::size_t axis = 0; axis + 1 < program.axes.size(); ++axis) {
    (program.axes[axis].reduced ? loops.outer : loops.groups) *= program.axes[axis].extent;
  }
  loops.inner = program.axes.empty() ? 1 : program.axes.back().extent;
  return loops;
}

int maxVectorWidth(const RegionProgram& program, int limit) {
  const auto fits = [&](std::int64_t width) {
    if (program.axes.empty() || program.axes.back().extent % width != 0) {
      return false;
    }
    return std::all_of(program.accesses.begin(), program.accesses.end(), [&](const Access& access) {
      if (access.innerStride() != 1) {
        return true;  // one by one, or the same for all
      }
      return std::all_of(access.strides.begin(), access.strides.end() - 1,
                         [&](std::int64_t stride) { return stride % width == 0; });
    });
  };
  int width = 1;
  while (width * 2 <= limit && fits(std::int64_t{2} * width)) {
    width *= 2;
  }
  return width;
}

int streamedLoads(const RegionProgram& program) {
  const std::vector<int> loads = elementLoads(program);
  return static_cast<int>(std::count_if(loads.begin(), loads.end(), [&](int load) {
    return differsForEachElement(program, program.accesses[asIndex(program.prims[asIndex(load)].access)]);
  }));
}

bool canCacheElements(const RegionProgram& program) {
  const std::vector<int> loads = elementLoads(program);
  return std::all_of(loads.begin(), loads.end(), [&](int load) {
    const Prim& prim = program.prims[asIndex(load)];
    return prim.type == Compute::F32 || !differsForEachElement(program, program.accesses[asIndex(prim.access)]);
  });
}

bool canCopyElements(const RegionProgram& program) {
  const std::vector<int> loads = elementLoads(program);
  return canCacheElements(program) && std::all_of(loads.begin(), loads.end(), [&](int load) {
           const Access& access = program.accesses[asIndex(program.prims[asIndex(load)].access)];
           return !differsForEachElement(program, access) ||
                  (access.dtype == domain::ScalarType::Float32 && access.innerStride() == 1);
         });
}

int keptPrim(const RegionProgram& program) {
  static const std::set<std::string> costly{"exp",     "log",   "tanh",  "erf", "pow",
                                            "sigmoid", "log1p", "expm1", "sin", "cos"};
  std::vector<bool> needed(program.prims.size(), false);
  for (const Store& store : program.elementStores) {
    needed[asIndex(store.prim)] = true;
  }
  for (std::size_t i = program.prims.size(); i-- > 0;) {
    for (const int arg : program.prims[i].args) {
      needed[asIndex(arg)] = needed[asIndex(arg)] || needed[i];
    }
  }
  for (const Reducer& reducer : program.reducers) {
    const Prim& input = program.prims[asIndex(reducer.input)];
    const bool isLast = reducer.stage == program.stageCount() - 1;
    if (isLast && input.kind == Prim::Kind::Call && input.type == Compute::F32 && input.perElement &&
        costly.count(input.function) != 0 && needed[asIndex(reducer.input)]) {
      return reducer.input;
    }
  }
  return -1;
}

}  // namespace swage::synth
