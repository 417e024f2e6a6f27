// SPDX-License-Identifier: Apache-2.0
#include "core/synth/region_shape.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/synth/sizes.h"

namespace swage::synth {
namespace {}  // namespace

bool differsForEachElement(const Region& program, const Operand& operand) {
  for (std::size_t axis = 0; axis < program.axes.size(); ++axis) {
    if (operand.strides[axis] == 0) {
      return false;
    }
  }
  return true;
}

std::vector<int> elementLoads(const Region& program) {
  std::vector<int> loads;
  for (int i = 0; i < static_cast<int>(program.prims.size()); ++i) {
    const Prim& prim = program.prims[asIndex(i)];
    if (prim.kind == Prim::Kind::Load && prim.perElement) {
      loads.push_back(i);
    }
  }
  return loads;
}

Form formOf(const Region& program) {
  if (!program.hasReduction()) {
    return Form::Map;
  }
  return program.axes.empty() || program.axes.back().isFolded() ? Form::Row : Form::Column;
}

bool isWalkedIn(const Region& program, Form form) {
  const bool isWhole = std::all_of(program.operands.begin(), program.operands.end(), [](const Operand& operand) {
    return operand.bounds.empty() && operand.offset == 0;
  });
  const bool isNamed = std::any_of(program.prims.begin(), program.prims.end(),
                                   [](const Prim& prim) { return prim.kind == Prim::Kind::Coordinate; });
  // Results share the elements of windows, of which each is a short sum: whole blocks and rows are not made for that.
  return program.kind() <= NestKind::Reduce && isWhole && !isNamed && !program.hasRole(AxisRole::Window) &&
         formOf(program) == form;
}

bool isGathered(const Region& program) {
  const bool isMoved = program.hasBounds() ||
                       std::any_of(program.operands.begin(), program.operands.end(),
                                   [](const Operand& operand) { return operand.offset != 0; }) ||
                       std::any_of(program.prims.begin(), program.prims.end(),
                                   [](const Prim& prim) { return prim.kind == Prim::Kind::Coordinate; });
  return program.kind() == NestKind::Map && isMoved;
}

Loops loopsOf(const Region& program) {
  Loops loops;
  for (std::size_t axis = 0; axis + 1 < program.axes.size(); ++axis) {
    (program.axes[axis].isFolded() ? loops.outer : loops.groups) *= program.axes[axis].extent;
  }
  loops.inner = program.axes.empty() ? 1 : program.axes.back().extent;
  return loops;
}

int maxVectorWidth(const Region& program, int limit) {
  const auto fits = [&](std::int64_t width) {
    if (program.axes.empty() || program.axes.back().extent % width != 0) {
      return false;
    }
    return std::all_of(program.operands.begin(), program.operands.end(), [&](const Operand& operand) {
      if (operand.innerStride() != 1) {
        return true;  // one by one, or the same for all
      }
      return std::all_of(operand.strides.begin(), operand.strides.end() - 1,
                         [&](std::int64_t stride) { return stride % width == 0; });
    });
  };
  int width = 1;
  while (width * 2 <= limit && fits(std::int64_t{2} * width)) {
    width *= 2;
  }
  return width;
}

int streamedLoads(const Region& program) {
  const std::vector<int> loads = elementLoads(program);
  return static_cast<int>(std::count_if(loads.begin(), loads.end(), [&](int load) {
    return differsForEachElement(program, program.operands[asIndex(program.prims[asIndex(load)].operand)]);
  }));
}

bool canCacheElements(const Region& program) {
  const std::vector<int> loads = elementLoads(program);
  return std::all_of(loads.begin(), loads.end(), [&](int load) {
    const Prim& prim = program.prims[asIndex(load)];
    return prim.type == Compute::F32 || !differsForEachElement(program, program.operands[asIndex(prim.operand)]);
  });
}

bool canCopyElements(const Region& program) {
  const std::vector<int> loads = elementLoads(program);
  return canCacheElements(program) && std::all_of(loads.begin(), loads.end(), [&](int load) {
           const Operand& operand = program.operands[asIndex(program.prims[asIndex(load)].operand)];
           return !differsForEachElement(program, operand) ||
                  (operand.dtype == domain::ScalarType::Float32 && operand.innerStride() == 1);
         });
}

bool isMeanOf(const Region& program, const Prim& prim, int fold) {
  if (prim.kind != Prim::Kind::Call || (prim.function != "mul" && prim.function != "div")) {
    return false;
  }
  const Prim& sum = program.prims[asIndex(prim.args[0])];
  const Prim& scale = program.prims[asIndex(prim.args[1])];
  const Fold& folded = program.folds[asIndex(fold)];
  const auto count = static_cast<double>(folded.count);
  return sum.kind == Prim::Kind::Folded && sum.fold == fold && sum.slot == 0 && scale.kind == Prim::Kind::Constant &&
         (folded.kind == FoldKind::Sum || folded.kind == FoldKind::MomentPair) &&
         scale.number == (prim.function == "mul" ? 1.0 / count : count);
}

int keptPrim(const Region& program) {
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
  for (const Fold& fold : program.folds) {
    const Prim& input = program.prims[asIndex(fold.input)];
    const bool isLast = fold.stage == program.stageCount() - 1;
    if (isLast && input.kind == Prim::Kind::Call && input.type == Compute::F32 && input.perElement &&
        costly.count(input.function) != 0 && needed[asIndex(fold.input)]) {
      return fold.input;
    }
  }
  return -1;
}

bool isOneStage(const Region& region) {
  const bool isPlain = std::none_of(region.folds.begin(), region.folds.end(), [](const Fold& fold) {
    return fold.running || fold.kind == FoldKind::SoftmaxPair || fold.kind == FoldKind::MomentPair;
  });
  return region.stageCount() == 1 && region.elementStores.empty() && isPlain;
}

}  // namespace swage::synth
