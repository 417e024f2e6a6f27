// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "core/synth/geometry.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kMaxGrid = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t kWarp = 32;
// Shared memory the patterns declare themselves, beside what they ask for at launch.
constexpr std::int64_t kOwnSharedBytes = 12 << 10;
// A multiprocessor of every architecture we know can hold this many threads.
constexpr std::int64_t kThreadsPerMultiprocessor = 2048;
constexpr std::int64_t kRegistersPerMultiprocessor = 65536;
constexpr std::int64_t kStateBytes = 64;
constexpr std::int64_t kGangCounterBytes = 128;
constexpr std::int64_t kMaxGangBlocks = 1024;
// Of each block, by the system, on every architecture with compute capability 8.0 and later.
constexpr std::int64_t kReservedSharedBytes = 1024;

std::int64_t value(const Parameters& parameters, const char* name, std::int64_t otherwise = 0) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

std::int64_t divideUp(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

Error unfit(const patterns::Pattern& pattern, std::string_view why) {
  return Error(ErrorKind::InvalidInput, fmt::format("pattern '{}': {}", pattern.id, why));
}

// The numbers all row patterns are written in.
struct RowShape {
  std::int64_t groups = 0;
  std::int64_t vectors = 0;  // of one group
  std::int64_t elements = 0;
};

RowShape rowShape(const RegionProgram& program, const Parameters& parameters) {
  const Loops loops = loopsOf(program);
  const std::int64_t width = value(parameters, "vector_width", 1);
  return {loops.groups, loops.outer * (loops.inner / width), loops.outer * loops.inner};
}

std::int64_t gangSize(const Parameters& parameters, const domain::DeviceInfo& device) {
  return device.multiprocessors * value(parameters, "blocks_per_multiprocessor", 1) /
         std::max<std::int64_t>(1, value(parameters, "gangs", 1));
}

std::int64_t cachedBytes(const RegionProgram& program, std::int64_t vectors, const Parameters& parameters) {
  return streamedLoads(program) * vectors * value(parameters, "vector_width", 1) * 4;
}

Result<> checkVector(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters) {
  const std::int64_t width = value(parameters, "vector_width", 1);
  if (maxVectorWidth(program, static_cast<int>(width)) < width) {
    return unfit(pattern, "the innermost axis cannot be read in vectors this wide");
  }
  for (const Access& access : program.accesses) {
    if (static_cast<std::int64_t>(domain::byteSize(access.dtype)) * width > 32) {
      return unfit(pattern, "vectors of this type are too wide");
    }
  }
  if (value(parameters, "asynchronous") != 0 && (width != 4 || !canCopyElements(program))) {
    return unfit(pattern, "only vectors of four floats can be copied asynchronously");
  }
  return {};
}

Result<> checkStages(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters) {
  if (value(parameters, "fused") != 0) {
    RegionProgram fused = program;
    if (fuseStages(fused) == Changed::No) {
      return unfit(pattern, "no two stages of this region can be one");
    }
  }
  if (program.elementStores.empty() && program.hasReduction() && value(parameters, "streaming") != 0 &&
      pattern.parameter("streaming")->standard == 0) {
    return unfit(pattern, "there is nothing to stream");
  }
  return {};
}

Result<> checkWarp(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters) {
  const RowShape shape = rowShape(program, parameters);
  const std::int64_t steps = divideUp(shape.vectors, kWarp);
  const std::int64_t held = steps * value(parameters, "vector_width", 1) * std::max(1, streamedLoads(program));
  if (value(parameters, "keep") != 0 && held > 96) {
    return unfit(pattern, "a group does not fit into the registers of a warp");
  }
  if (steps > 64) {
    return unfit(pattern, "a group is too long for one warp");
  }
  return {};
}

Result<> checkShared(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters,
                     const domain::DeviceInfo& device) {
  const std::int64_t blocks = value(parameters, "cluster", 1);
  const RowShape shape = rowShape(program, parameters);
  if (!canCacheElements(program) || streamedLoads(program) == 0) {
    return unfit(pattern, "its elements cannot be kept in shared memory");
  }
  if (cachedBytes(program, divideUp(shape.vectors, blocks), parameters) + kOwnSharedBytes >
      device.sharedBytesPerBlock) {
    return unfit(pattern, "a group does not fit into shared memory");
  }
  if (blocks > 1 && device.computeCapability < 90) {
    return unfit(pattern, "this device has no clusters");
  }
  if (blocks > 1 && shape.vectors < blocks * kWarp) {
    return unfit(pattern, "a group is too short for a cluster");
  }
  return {};
}

Result<> checkRegisters(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters,
                        const domain::DeviceInfo& device) {
  const std::int64_t cluster = value(parameters, "cluster", 1);
  const std::int64_t threads = value(parameters, "threads", 1);
  const std::int64_t resident = threads * value(parameters, "blocks_per_multiprocessor", 1);
  const RowShape shape = rowShape(program, parameters);
  if (resident > kThreadsPerMultiprocessor) {
    return unfit(pattern, "so many blocks do not run on one multiprocessor at once");
  }
  const std::int64_t registers = std::min<std::int64_t>(255, kRegistersPerMultiprocessor / resident);
  const std::int64_t steps = divideUp(divideUp(shape.vectors, cluster), threads);
  const std::int64_t held = steps * value(parameters, "vector_width", 1) * std::max(1, streamedLoads(program));
  // Addresses, states and group values need a dozen registers beside the elements.
  if (held + 12 > registers) {
    return unfit(pattern, "a group does not fit into the registers");
  }
  if (cluster > 1 && (device.computeCapability < 90 || shape.vectors < cluster * kWarp)) {
    return unfit(pattern, "a cluster is not possible, or longer than a group");
  }
  return {};
}

Result<> checkGang(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters,
                   const domain::DeviceInfo& device) {
  const std::int64_t size = gangSize(parameters, device);
  const std::int64_t perMultiprocessor = value(parameters, "blocks_per_multiprocessor", 1);
  const std::int64_t threads = value(parameters, "threads", 1);
  const RowShape shape = rowShape(program, parameters);
  if (size < 2 || size > kMaxGangBlocks || shape.vectors < size * kWarp) {
    return unfit(pattern, "a group is too short for a gang of blocks");
  }
  // A cooperative launch needs all blocks at once; 64 registers a thread is what these kernels may use then.
  if (perMultiprocessor * threads > kThreadsPerMultiprocessor ||
      perMultiprocessor * threads * 32 > kRegistersPerMultiprocessor) {
    return unfit(pattern, "so many blocks do not run on one multiprocessor at once");
  }
  if (value(parameters, "gangs") > std::max<std::int64_t>(1, shape.groups)) {
    return unfit(pattern, "there are fewer groups than gangs");
  }
  return {};
}

// How pattern row_resident lays groups out. A gang is as small as shared memory allows: fewer blocks have to meet, and
// more gangs cover each other's waiting. Its blocks are then all that the gangs leave to each.
struct Residence {
  std::int64_t gangs = 0;  // 0: a group does not fit
  std::int64_t blocks = 0;
  std::int64_t steps = 0;  // vectors of a thread
  std::int64_t bytes = 0;  // shared memory of a block
};

Residence residenceOf(const RegionProgram& program, const Parameters& parameters, const domain::DeviceInfo& device) {
  const std::int64_t threads = value(parameters, "threads", 1);
  const std::int64_t perMultiprocessor = value(parameters, "blocks_per_multiprocessor", 1);
  const std::int64_t lookahead = value(parameters, "lookahead");
  const RowShape shape = rowShape(program, parameters);
  const std::int64_t slotBytes = cachedBytes(program, threads, parameters);
  // The pattern's own states: one for each warp and stage.
  const std::int64_t own =
      std::max(1, program.stageCount()) * divideUp(threads, kWarp) * kStateBytes + kReservedSharedBytes;
  const std::int64_t mostBytes =
      std::min(device.sharedBytesPerBlock, (device.sharedBytesPerBlock + kReservedSharedBytes) / perMultiprocessor) -
      own;
  const std::int64_t mostSteps = slotBytes > 0 ? mostBytes / slotBytes - lookahead : 0;
  const std::int64_t blocks = device.multiprocessors * perMultiprocessor;
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

Result<> checkResident(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters,
                       const domain::DeviceInfo& device) {
  const std::int64_t resident = value(parameters, "threads", 1) * value(parameters, "blocks_per_multiprocessor", 1);
  if (!canCacheElements(program) || !canCopyElements(program) || streamedLoads(program) == 0) {
    return unfit(pattern, "its elements cannot be copied into shared memory");
  }
  if (resident > kThreadsPerMultiprocessor || resident * 32 > kRegistersPerMultiprocessor) {
    return unfit(pattern, "so many blocks do not run on one multiprocessor at once");
  }
  const Residence residence = residenceOf(program, parameters, device);
  if (residence.gangs == 0) {
    return unfit(pattern, "a group does not fit into the shared memory of the device");
  }
  if (residence.steps < 2 || residence.blocks > kMaxGangBlocks) {
    return unfit(pattern, "a group is too short for a gang of blocks");
  }
  return {};
}

Result<> checkSplit(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters) {
  RegionProgram walked = program;
  if (value(parameters, "fused") != 0) {
    fuseStages(walked);
  }
  const RowShape shape = rowShape(program, parameters);
  if (walked.stageCount() > 1) {
    return unfit(pattern, "its stages cannot be one");
  }
  if (shape.vectors < value(parameters, "slices") * kWarp) {
    return unfit(pattern, "a group is too short for so many slices");
  }
  if (shape.groups * value(parameters, "slices") > kMaxGrid) {
    return unfit(pattern, "there are more slices than blocks of a grid");
  }
  return {};
}

Result<> checkColumn(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters) {
  const std::int64_t threads = value(parameters, "columns") * value(parameters, "rows");
  if (threads > 1024 || threads < kWarp) {
    return unfit(pattern, "a block has 32 to 1024 threads");
  }
  std::int64_t stateBytes = 0;
  for (const Reducer& reducer : program.reducers) {
    stateBytes += reducer.kind == ReduceKind::Sum || reducer.kind == ReduceKind::Maximum ? 8 : 24;
  }
  if (value(parameters, "rows") > 1 && threads * value(parameters, "vector_width", 1) * stateBytes > (44 << 10)) {
    return unfit(pattern, "the rows' states do not fit into shared memory");
  }
  return {};
}

std::uint32_t narrow(std::int64_t number) {
  return static_cast<std::uint32_t>(number);
}

domain::TensorType bytes(std::int64_t count) {
  return domain::contiguousTensor(domain::ScalarType::UInt8, {count});
}

Launch planMap(const RegionProgram& program, const Parameters& parameters, const domain::DeviceInfo& device) {
  const Loops loops = loopsOf(program);
  const std::int64_t vectors = loops.groups * (loops.inner / value(parameters, "vector_width", 1));
  const std::int64_t threads = value(parameters, "threads", 1);
  std::int64_t blocks = divideUp(vectors, threads * value(parameters, "items", 1));
  if (value(parameters, "persistent") != 0) {
    blocks = std::min(blocks, device.multiprocessors * kThreadsPerMultiprocessor / threads);
  }
  Launch launch;
  launch.step.grid.x = narrow(blocks);
  launch.step.block.x = narrow(threads);
  return launch;
}

Launch planColumn(const RegionProgram& program, const Parameters& parameters) {
  const Loops loops = loopsOf(program);
  const std::int64_t vectors = loops.inner / value(parameters, "vector_width", 1);
  Launch launch;
  launch.step.grid.x = narrow(loops.groups * divideUp(vectors, value(parameters, "columns", 1)));
  launch.step.block.x = narrow(value(parameters, "columns", 1) * value(parameters, "rows", 1));
  return launch;
}

Launch planRow(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters) {
  const RowShape shape = rowShape(program, parameters);
  Launch launch;
  launch.step.block.x = narrow(value(parameters, "threads", 1));
  launch.step.grid.x = narrow(shape.groups);
  if (pattern.id == "row_warp") {
    launch.step.block.x = narrow(value(parameters, "warps") * kWarp);
    launch.step.grid.x = narrow(divideUp(shape.groups, value(parameters, "warps", 1)));
  } else if (pattern.id == "row_registers") {
    const std::int64_t cluster = value(parameters, "cluster", 1);
    launch.step.grid.x = narrow(shape.groups * cluster);
    launch.step.cluster.x = narrow(cluster);
  } else if (pattern.id == "row_shared" || pattern.id == "row_cluster") {
    const std::int64_t cluster = value(parameters, "cluster", 1);
    launch.step.grid.x = narrow(shape.groups * cluster);
    launch.step.cluster.x = narrow(cluster);
    launch.step.dynamicSharedBytes = narrow(cachedBytes(program, divideUp(shape.vectors, cluster), parameters));
  }
  return launch;
}

// Counters and states of all gangs; see common.cuh.
domain::TensorType gangScratch(const RegionProgram& program, std::int64_t gangs, std::int64_t blocks) {
  const std::int64_t stages = std::max(1, program.stageCount());
  return bytes(kGangCounterBytes * gangs + kStateBytes * 2 * stages * gangs * blocks);
}

Launch planGang(const RegionProgram& program, const Parameters& parameters, const domain::DeviceInfo& device) {
  const std::int64_t size = gangSize(parameters, device);
  const std::int64_t gangs = value(parameters, "gangs");
  Launch launch;
  launch.step.block.x = narrow(value(parameters, "threads", 1));
  launch.step.grid.x = narrow(gangs * size);
  launch.step.cooperative = true;
  launch.scratch.push_back(gangScratch(program, gangs, size));
  launch.zeroScratch = true;
  launch.constants["gang"] = size;
  return launch;
}

Launch planResident(const RegionProgram& program, const Parameters& parameters, const domain::DeviceInfo& device) {
  const Residence residence = residenceOf(program, parameters, device);
  Launch launch;
  launch.step.block.x = narrow(value(parameters, "threads", 1));
  launch.step.grid.x = narrow(residence.gangs * residence.blocks);
  launch.step.cooperative = true;
  launch.step.dynamicSharedBytes = narrow(residence.bytes);
  launch.scratch.push_back(gangScratch(program, residence.gangs, residence.blocks));
  launch.zeroScratch = true;
  launch.constants["gang"] = residence.blocks;
  launch.constants["gangs"] = residence.gangs;
  return launch;
}

Launch planSplit(const RegionProgram& program, const Parameters& parameters, const std::string& entry) {
  const RowShape shape = rowShape(program, parameters);
  const std::int64_t slices = value(parameters, "slices");
  Launch launch;
  launch.step.block.x = narrow(value(parameters, "threads", 1));
  launch.step.grid.x = narrow(shape.groups * slices);
  launch.scratch.push_back(bytes(kStateBytes * shape.groups * slices));
  domain::KernelStep finish = launch.step;
  finish.entry = entry + "_finish";
  finish.grid.x = narrow(program.elementStores.empty() ? shape.groups : shape.groups * slices);
  launch.more.push_back(std::move(finish));
  return launch;
}

}  // namespace

Result<> checkFitCuda(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters,
                      const domain::DeviceInfo& device) {
  SWAGE_TRY(checkVector(pattern, program, parameters));
  SWAGE_TRY(checkStages(pattern, program, parameters));
  if (pattern.id == "row_warp") {
    SWAGE_TRY(checkWarp(pattern, program, parameters));
  } else if (pattern.id == "row_shared" || pattern.id == "row_cluster") {
    SWAGE_TRY(checkShared(pattern, program, parameters, device));
  } else if (pattern.id == "row_registers") {
    SWAGE_TRY(checkRegisters(pattern, program, parameters, device));
  } else if (pattern.id == "row_gang") {
    SWAGE_TRY(checkGang(pattern, program, parameters, device));
  } else if (pattern.id == "row_resident") {
    SWAGE_TRY(checkResident(pattern, program, parameters, device));
  } else if (pattern.id == "row_split") {
    SWAGE_TRY(checkSplit(pattern, program, parameters));
  } else if (pattern.id == "column") {
    SWAGE_TRY(checkColumn(pattern, program, parameters));
  } else if (pattern.id != "map" && pattern.id != "row_block") {
    return unfit(pattern, "this build knows no geometry for it");
  }
  if (loopsOf(program).groups * value(parameters, "cluster", 1) > kMaxGrid && pattern.family == "row") {
    return unfit(pattern, "there are more groups than blocks of a grid");
  }
  return {};
}

Launch planLaunchCuda(const patterns::Pattern& pattern, const RegionProgram& program, const Parameters& parameters,
                      const domain::DeviceInfo& device, const std::string& entry) {
  Launch launch;
  if (pattern.family == "map") {
    launch = planMap(program, parameters, device);
  } else if (pattern.family == "column") {
    launch = planColumn(program, parameters);
  } else if (pattern.id == "row_split") {
    launch = planSplit(program, parameters, entry);
  } else if (pattern.id == "row_gang") {
    launch = planGang(program, parameters, device);
  } else if (pattern.id == "row_resident") {
    launch = planResident(program, parameters, device);
  } else {
    launch = planRow(pattern, program, parameters);
  }
  launch.step.entry = entry;
  return launch;
}

}  // namespace swage::synth
