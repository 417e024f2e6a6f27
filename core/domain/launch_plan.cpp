// SPDX-License-Identifier: Apache-2.0
#include "core/domain/launch_plan.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "core/domain/aten.h"
#include "core/domain/checks.h"

namespace swage::domain {
namespace {

// Limits of the CUDA driver for every compute capability that Swage knows.
constexpr std::uint64_t kMaxThreadsPerBlock = 1024;
constexpr std::uint32_t kMaxBlockXy = 1024;
constexpr std::uint32_t kMaxBlockZ = 64;
constexpr std::uint32_t kMaxGridX = std::numeric_limits<std::int32_t>::max();
constexpr std::uint32_t kMaxGridYz = 65535;
constexpr std::uint64_t kMaxClusterBlocks = 16;
constexpr std::uint32_t kMaxSharedBytes = 1U << 20U;
constexpr std::size_t kMaxKernelArguments = 1024;

struct Limits {
  std::uint32_t x;
  std::uint32_t y;
  std::uint32_t z;
  std::uint64_t product;
};

std::string findExtentDefect(std::string_view what, const Dim3& value, const Limits& limits) {
  if (value.x == 0 || value.y == 0 || value.z == 0) {
    return fmt::format("has a {} with a zero extent ({}, {}, {})", what, value.x, value.y, value.z);
  }
  // The product of two extents within their limits always fits 64 bits; the third is checked by division.
  const std::uint64_t plane = std::uint64_t{value.x} * value.y;
  if (value.x > limits.x || value.y > limits.y || value.z > limits.z || plane > limits.product / value.z) {
    return fmt::format("has a {} of ({}, {}, {}), which is beyond the limits of the device", what, value.x, value.y,
                       value.z);
  }
  return {};
}

bool isInRange(ValueId id, const LaunchPlan& plan) {
  return id.isValid() && static_cast<std::size_t>(id.value()) < plan.buffers.size();
}

std::string findIdDefect(ValueId id, const LaunchPlan& plan) {
  if (isInRange(id, plan)) {
    return {};
  }
  return fmt::format("names buffer {}, but there are {} buffers", id.value(), plan.buffers.size());
}

std::string findArgumentDefect(const KernelArgument& argument, const LaunchPlan& plan) {
  const std::optional<ValueId> buffer = bufferOf(argument);
  if (std::string defect = buffer ? findIdDefect(*buffer, plan) : std::string(); !defect.empty()) {
    return defect;
  }
  const auto* map = std::get_if<TensorMap>(&argument);
  const std::string defect =
      map != nullptr ? findDefect(*map, plan.buffers[static_cast<std::size_t>(map->buffer.value())]) : std::string();
  return defect.empty() ? defect : fmt::format("has a tensor map of buffer {} that {}", map->buffer.value(), defect);
}

std::string findStepDefect(const KernelStep& step, const LaunchPlan& plan) {
  if (!isIdentifier(step.entry)) {
    return fmt::format("has the entry point '{}', which is not a C identifier", step.entry);
  }
  const Limits grid{kMaxGridX, kMaxGridYz, kMaxGridYz, std::numeric_limits<std::uint64_t>::max()};
  const Limits block{kMaxBlockXy, kMaxBlockXy, kMaxBlockZ, kMaxThreadsPerBlock};
  const Limits cluster{kMaxClusterBlocks, kMaxClusterBlocks, kMaxClusterBlocks, kMaxClusterBlocks};
  for (std::string defect : {findExtentDefect("grid", step.grid, grid), findExtentDefect("block", step.block, block),
                             findExtentDefect("cluster", step.cluster, cluster)}) {
    if (!defect.empty()) {
      return defect;
    }
  }
  if (step.grid.x % step.cluster.x != 0 || step.grid.y % step.cluster.y != 0 || step.grid.z % step.cluster.z != 0) {
    return "has a grid that its cluster does not divide";
  }
  if (step.dynamicSharedBytes > kMaxSharedBytes) {
    return fmt::format("asks for {} bytes of shared memory", step.dynamicSharedBytes);
  }
  if (step.arguments.size() > kMaxKernelArguments) {
    return fmt::format("has {} arguments, more than {}", step.arguments.size(), kMaxKernelArguments);
  }
  for (const KernelArgument& argument : step.arguments) {
    if (std::string defect = findArgumentDefect(argument, plan); !defect.empty()) {
      return defect;
    }
  }
  return {};
}

std::string findStepDefect(const AtenStep& step, const LaunchPlan& plan) {
  if (!isAten(step.node.op) || !isOperatorName(step.node.op)) {
    return fmt::format("calls '{}', which is not an ATen operator", step.node.op);
  }
  for (const ValueId id : inputsOf(step.node)) {
    if (std::string defect = findIdDefect(id, plan); !defect.empty()) {
      return defect;
    }
  }
  for (const ValueId id : step.node.outputs) {
    if (std::string defect = id.isValid() ? findIdDefect(id, plan) : std::string(); !defect.empty()) {
      return defect;
    }
  }
  return {};
}

std::string findStepDefect(const ZeroStep& step, const LaunchPlan& plan) {
  return findIdDefect(step.buffer, plan);
}

}  // namespace

std::optional<ValueId> bufferOf(const KernelArgument& argument) {
  if (const auto* id = std::get_if<ValueId>(&argument)) {
    return *id;
  }
  const auto* map = std::get_if<TensorMap>(&argument);
  return map != nullptr ? std::optional(map->buffer) : std::nullopt;
}

int LaunchPlan::launchCount() const {
  return static_cast<int>(std::count_if(steps.begin(), steps.end(),
                                        [](const PlanStep& step) { return !std::holds_alternative<ZeroStep>(step); }));
}

bool LaunchPlan::hasKernels() const {
  return std::any_of(steps.begin(), steps.end(),
                     [](const PlanStep& step) { return std::holds_alternative<KernelStep>(step); });
}

std::vector<ValueId> buffersOfKernels(const LaunchPlan& plan) {
  std::set<ValueId> named;
  for (const PlanStep& step : plan.steps) {
    if (const auto* kernel = std::get_if<KernelStep>(&step)) {
      for (const KernelArgument& argument : kernel->arguments) {
        if (const std::optional<ValueId> buffer = bufferOf(argument)) {
          named.insert(*buffer);
        }
      }
    } else if (const auto* zero = std::get_if<ZeroStep>(&step)) {
      named.insert(zero->buffer);
    }
  }
  return {named.begin(), named.end()};
}

std::string findDefect(const LaunchPlan& plan) {
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (const std::string defect = findDefect(plan.buffers[i]); !defect.empty()) {
      return fmt::format("buffer {} {}", i, defect);
    }
  }
  for (const auto& [what, ids] : {std::pair("input", &plan.inputs), std::pair("output", &plan.outputs)}) {
    for (std::size_t i = 0; i < ids->size(); ++i) {
      if (const std::string defect = findIdDefect((*ids)[i], plan); !defect.empty()) {
        return fmt::format("{} {} {}", what, i, defect);
      }
    }
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const std::string defect = std::visit([&](const auto& step) { return findStepDefect(step, plan); }, plan.steps[i]);
    if (!defect.empty()) {
      return fmt::format("step {} {}", i, defect);
    }
  }
  return {};
}

}  // namespace swage::domain
