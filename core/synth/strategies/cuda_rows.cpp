// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis with up to a cluster of blocks to a group.
#include "core/synth/strategies/builtin.h"
#include "core/synth/strategies/cuda_loops.h"

#include <algorithm>

namespace swage::synth::cuda {
namespace {

class RowBlock final : public LoopStrategy {
 public:
  RowBlock() : LoopStrategy("row_block", Form::Row) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const RowShape shape = rowShape(instance);
    Launch launch = oneLaunch(entry);
    launch.step.block.x = narrow(instance.value("threads", 1));
    launch.step.grid.x = narrow(shape.groups);
    return launch;
  }
};

class RowWarp final : public LoopStrategy {
 public:
  RowWarp() : LoopStrategy("row_warp", Form::Row) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const RowShape shape = rowShape(instance);
    Launch launch = oneLaunch(entry);
    launch.step.block.x = narrow(instance.value("warps") * kWarp);
    launch.step.grid.x = narrow(divideUp(shape.groups, instance.value("warps", 1)));
    return launch;
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    const RowShape shape = rowShape(instance);
    const std::int64_t steps = divideUp(shape.vectors, kWarp);
    const std::int64_t held = steps * instance.value("vector_width", 1) * std::max(1, streamedLoads(instance.region));
    if (instance.value("keep") != 0 && held > 96) {
      return unfit("a group does not fit into the registers of a warp");
    }
    if (steps > 64) {
      return unfit("a group is too long for one warp");
    }
    return {};
  }
};

class RowRegisters final : public LoopStrategy {
 public:
  RowRegisters() : LoopStrategy("row_registers", Form::Row) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const RowShape shape = rowShape(instance);
    Launch launch = oneLaunch(entry);
    const std::int64_t cluster = instance.value("cluster", 1);
    launch.step.block.x = narrow(instance.value("threads", 1));
    launch.step.grid.x = narrow(shape.groups * cluster);
    launch.step.cluster.x = narrow(cluster);
    return launch;
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    const std::int64_t cluster = instance.value("cluster", 1);
    const std::int64_t threads = instance.value("threads", 1);
    const std::int64_t resident = threads * instance.value("blocks_per_multiprocessor", 1);
    const RowShape shape = rowShape(instance);
    if (resident > kThreadsPerMultiprocessor) {
      return unfit("so many blocks do not run on one multiprocessor at once");
    }
    const std::int64_t registers = std::min<std::int64_t>(255, kRegistersPerMultiprocessor / resident);
    const std::int64_t steps = divideUp(divideUp(shape.vectors, cluster), threads);
    const std::int64_t held = steps * instance.value("vector_width", 1) * std::max(1, streamedLoads(instance.region));
    // Addresses, states and group values need a dozen registers beside the elements.
    if (held + 12 > registers) {
      return unfit("a group does not fit into the registers");
    }
    if (cluster > 1 && (instance.device.computeCapability < 90 || shape.vectors < cluster * kWarp)) {
      return unfit("a cluster is not possible, or longer than a group");
    }
    return {};
  }
};

// Groups in the shared memory of a block, or of the blocks of a cluster.
class RowShared final : public LoopStrategy {
 public:
  explicit RowShared(std::string id) : LoopStrategy(std::move(id), Form::Row) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const RowShape shape = rowShape(instance);
    Launch launch = oneLaunch(entry);
    const std::int64_t cluster = instance.value("cluster", 1);
    launch.step.block.x = narrow(instance.value("threads", 1));
    launch.step.grid.x = narrow(shape.groups * cluster);
    launch.step.cluster.x = narrow(cluster);
    launch.step.dynamicSharedBytes = narrow(cachedBytes(instance, divideUp(shape.vectors, cluster)));
    return launch;
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    const std::int64_t blocks = instance.value("cluster", 1);
    const RowShape shape = rowShape(instance);
    if (!canCacheElements(instance.region) || streamedLoads(instance.region) == 0) {
      return unfit("its elements cannot be kept in shared memory");
    }
    if (cachedBytes(instance, divideUp(shape.vectors, blocks)) + kOwnSharedBytes >
        instance.device.sharedBytesPerBlock) {
      return unfit("a group does not fit into shared memory");
    }
    if (blocks > 1 && instance.device.computeCapability < 90) {
      return unfit("this device has no clusters");
    }
    if (blocks > 1 && shape.vectors < blocks * kWarp) {
      return unfit("a group is too short for a cluster");
    }
    return {};
  }
};

}  // namespace

void addRows(StrategyTable& table) {
  table.add(std::make_unique<RowBlock>());
  table.add(std::make_unique<RowWarp>());
  table.add(std::make_unique<RowRegisters>());
  table.add(std::make_unique<RowShared>("row_shared"));
  table.add(std::make_unique<RowShared>("row_cluster"));
}

}  // namespace swage::synth::cuda
