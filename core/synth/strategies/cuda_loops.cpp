// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/cuda_loops.h"

#include <algorithm>

namespace swage::synth::cuda {

domain::TensorType bytes(std::int64_t count) {
  return domain::contiguousTensor(domain::ScalarType::UInt8, {count});
}

RowShape rowShape(const Instance& instance) {
  const Loops loops = loopsOf(instance.region);
  const std::int64_t width = instance.value("vector_width", 1);
  return {loops.groups, loops.outer * (loops.inner / width), loops.outer * loops.inner};
}

std::int64_t cachedBytes(const Instance& instance, std::int64_t vectors) {
  return streamedLoads(instance.region) * vectors * instance.value("vector_width", 1) * 4;
}

Launch LoopStrategy::oneLaunch(const std::string& entry) {
  Launch launch;
  launch.step.entry = entry;
  return launch;
}

Result<> LoopStrategy::checkVector(const Instance& instance) const {
  const std::int64_t width = instance.value("vector_width", 1);
  if (maxVectorWidth(instance.region, static_cast<int>(width)) < width) {
    return unfit("the innermost axis cannot be read in vectors this wide");
  }
  for (const Operand& operand : instance.region.operands) {
    if (static_cast<std::int64_t>(domain::byteSize(operand.dtype)) * width > 32) {
      return unfit("vectors of this type are too wide");
    }
  }
  if (instance.value("asynchronous") != 0 && (width != 4 || !canCopyElements(instance.region))) {
    return unfit("only vectors of four floats can be copied asynchronously");
  }
  return {};
}

Result<> LoopStrategy::checkStages(const Instance& instance) const {
  if (instance.value("fused") != 0 && !canFuseStages(instance.region)) {
    return unfit("no two stages of this region can be one");
  }
  if (instance.region.elementStores.empty() && instance.region.hasReduction() && instance.value("streaming") != 0 &&
      instance.pattern.parameter("streaming")->standard == 0) {
    return unfit("there is nothing to stream");
  }
  return {};
}

Result<> LoopStrategy::fits(const Instance& instance) const {
  SWAGE_TRY(checkVector(instance));
  SWAGE_TRY(checkStages(instance));
  SWAGE_TRY(fitsPattern(instance));
  if (m_form == Form::Row && loopsOf(instance.region).groups * instance.value("cluster", 1) > kMaxGrid) {
    return unfit("there are more groups than blocks of a grid");
  }
  return {};
}

Result<> LoopStrategy::fitsPattern(const Instance& /*instance*/) const {
  return {};
}

}  // namespace swage::synth::cuda
