// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis with many blocks to a group, which meet in memory.
#include <algorithm>

#include "core/synth/strategies/builtin.h"
#include "core/synth/strategies/cuda_loops.h"

namespace swage::synth::cuda {
namespace {

constexpr std::int64_t kGangCounterBytes = 128;
constexpr std::int64_t kMaxGangBlocks = 1024;

std::int64_t gangSize(const Instance& instance) {
  return instance.device.multiprocessors * instance.value("blocks_per_multiprocessor", 1) /
         std::max<std::int64_t>(1, instance.value("gangs", 1));
}

// Counters and states of all gangs; see common.cuh.
domain::TensorType gangScratch(const Instance& instance, std::int64_t gangs, std::int64_t blocks) {
  const std::int64_t stages = std::max(1, instance.region.stageCount());
  return bytes(kGangCounterBytes * gangs + kStateBytes * 2 * stages * gangs * blocks);
}

class RowGang final : public LoopStrategy {
 public:
  RowGang() : LoopStrategy("row_gang", Form::Row) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const std::int64_t size = gangSize(instance);
    const std::int64_t gangs = instance.value("gangs");
    Launch launch = oneLaunch(entry);
    launch.step.block.x = narrow(instance.value("threads", 1));
    launch.step.grid.x = narrow(gangs * size);
    launch.step.cooperative = true;
    launch.scratch.push_back(gangScratch(instance, gangs, size));
    launch.zeroScratch = true;
    launch.constants["gang"] = size;
    return launch;
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    const std::int64_t size = gangSize(instance);
    const std::int64_t perMultiprocessor = instance.value("blocks_per_multiprocessor", 1);
    const std::int64_t threads = instance.value("threads", 1);
    const RowShape shape = rowShape(instance);
    if (size < 2 || size > kMaxGangBlocks || shape.vectors < size * kWarp) {
      return unfit("a group is too short for a gang of blocks");
    }
    // A cooperative launch needs all blocks at once; 64 registers a thread is what these kernels may use then.
    if (perMultiprocessor * threads > kThreadsPerMultiprocessor ||
        perMultiprocessor * threads * 32 > kRegistersPerMultiprocessor) {
      return unfit("so many blocks do not run on one multiprocessor at once");
    }
    if (instance.value("gangs") > std::max<std::int64_t>(1, shape.groups)) {
      return unfit("there are fewer groups than gangs");
    }
    return {};
  }
};

// How pattern row_resident lays groups out. A gang is as small as shared memory allows: fewer blocks have to meet, and
// more gangs cover each other's waiting. Its blocks are then all that the gangs leave to each.
struct Residence {
  std::int64_t gangs = 0;  // 0: a group does not fit
  std::int64_t blocks = 0;
  std::int64_t steps = 0;  // vectors of a thread
  std::int64_t bytes = 0;  // shared memory of a block
};

Residence residenceOf(const Instance& instance) {
  const std::int64_t threads = instance.value("threads", 1);
  const std::int64_t perMultiprocessor = instance.value("blocks_per_multiprocessor", 1);
  const std::int64_t lookahead = instance.value("lookahead");
  const RowShape shape = rowShape(instance);
  const std::int64_t slotBytes = cachedBytes(instance, threads);
  // The pattern's own states: one for each warp and stage.
  const std::int64_t own =
      std::max(1, instance.region.stageCount()) * divideUp(threads, kWarp) * kStateBytes + kReservedSharedBytes;
  const std::int64_t mostBytes =
      std::min(instance.device.sharedBytesPerBlock,
               (instance.device.sharedBytesPerBlock + kReservedSharedBytes) / perMultiprocessor) -
      own;
  const std::int64_t mostSteps = slotBytes > 0 ? mostBytes / slotBytes - lookahead : 0;
  const std::int64_t blocks = instance.device.multiprocessors * perMultiprocessor;
  Residence residence;
  if (mostSteps < 1 || shape.groups < 1) {
    return residence;
  }
  const std::int64_t smallest = divideUp(shape.vectors, mostSteps * threads);
  residence.gangs = std::min(blocks / smallest, shape.groups);
  if (residence.gangs > 0) {
    residence.blocks = blocks / residence.gangs;
    residence.steps = divideUp(divideUp(shape.vectors, residence.blocks), threads);
    residence.bytes = (residence.steps + lookahead) * slotBytes;
  }
  return residence;
}

class RowResident final : public LoopStrategy {
 public:
  RowResident() : LoopStrategy("row_resident", Form::Row) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const Residence residence = residenceOf(instance);
    Launch launch = oneLaunch(entry);
    launch.step.block.x = narrow(instance.value("threads", 1));
    launch.step.grid.x = narrow(residence.gangs * residence.blocks);
    launch.step.cooperative = true;
    launch.step.dynamicSharedBytes = narrow(residence.bytes);
    launch.scratch.push_back(gangScratch(instance, residence.gangs, residence.blocks));
    launch.zeroScratch = true;
    launch.constants["gang"] = residence.blocks;
    launch.constants["gangs"] = residence.gangs;
    return launch;
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    const std::int64_t resident = instance.value("threads", 1) * instance.value("blocks_per_multiprocessor", 1);
    if (!canCacheElements(instance.region) || !canCopyElements(instance.region) ||
        streamedLoads(instance.region) == 0) {
      return unfit("its elements cannot be copied into shared memory");
    }
    if (resident > kThreadsPerMultiprocessor || resident * 32 > kRegistersPerMultiprocessor) {
      return unfit("so many blocks do not run on one multiprocessor at once");
    }
    const Residence residence = residenceOf(instance);
    if (residence.gangs == 0) {
      return unfit("a group does not fit into the shared memory of the device");
    }
    if (residence.steps < 2 || residence.blocks > kMaxGangBlocks) {
      return unfit("a group is too short for a gang of blocks");
    }
    return {};
  }
};

class RowSplit final : public LoopStrategy {
 public:
  RowSplit() : LoopStrategy("row_split", Form::Row) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const RowShape shape = rowShape(instance);
    const std::int64_t slices = instance.value("slices");
    Launch launch = oneLaunch(entry);
    launch.step.block.x = narrow(instance.value("threads", 1));
    launch.step.grid.x = narrow(shape.groups * slices);
    launch.scratch.push_back(bytes(kStateBytes * shape.groups * slices));
    domain::KernelStep finish = launch.step;
    finish.entry = entry + "_finish";
    finish.grid.x = narrow(instance.region.elementStores.empty() ? shape.groups : shape.groups * slices);
    launch.more.push_back(std::move(finish));
    return launch;
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    Region walked = instance.region;
    if (instance.value("fused") != 0) {
      fuseStages(walked);
    }
    const RowShape shape = rowShape(instance);
    if (walked.stageCount() > 1) {
      return unfit("its stages cannot be one");
    }
    if (shape.vectors < instance.value("slices") * kWarp) {
      return unfit("a group is too short for so many slices");
    }
    if (shape.groups * instance.value("slices") > kMaxGrid) {
      return unfit("there are more slices than blocks of a grid");
    }
    return {};
  }
};

}  // namespace

void addGangs(StrategyTable& table) {
  table.add(std::make_unique<RowGang>());
  table.add(std::make_unique<RowResident>());
  table.add(std::make_unique<RowSplit>());
}

}  // namespace swage::synth::cuda
