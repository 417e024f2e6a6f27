// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis, a gang of blocks to a group, which meet in memory.
#include <algorithm>

#include "core/synth/emit/cuda_gangs.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth::cuda {
namespace {

std::int64_t gangSize(const Instance& instance) {
  return instance.device.multiprocessors * instance.value("blocks_per_multiprocessor", 1) /
         std::max<std::int64_t>(1, instance.value("gangs", 1));
}

// Writes one kernel.
class RowGangText final : private GangText {
 public:
  explicit RowGangText(const Instance& instance)
      : GangText(instance, {.gangs = instance.value("gangs", 1), .blocks = gangSize(instance)}),
        m_unroll(instance.value("unroll", 1)),
        m_slices(slicesOf(gangs().blocks)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(
        fmt::format("{}, each to a gang of {} blocks, {} at a time. A block has a slice of the row; what "
                    "the blocks find meets in memory.",
                    rowsText(), gangs().blocks, gangs().gangs));
    openCudaKernel(m_writer, entry, threads(), fmt::format(", {}", m_instance.value("blocks_per_multiprocessor", 1)),
                   "unsigned char* scratch");
    openGang();
    const Walk slice = sliceWalk();
    openSlice(m_slices, "member", End::Used);
    defineStages(slice.steps);
    m_code.blank();
    openRows();
    settle(-1);
    for (std::size_t i = 0; i < stages(); ++i) {
      StageText& stage = this->stage(i);
      reduceBatches(stage, slice, Caching::Stay);
      joinGang(i, own(stage, isLong(stage, slice.steps)));
    }
    storeGroup("threadIdx.x == 0 && member == 0");
    if (storesElements()) {
      m_code.comment("Backwards: what was read last is still in the second-level cache.");
      mapBackwards(slice);
    }
    closeRows();
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] Walk sliceWalk() const {
    Walk slice = walk("begin + threadIdx.x" + timesWidth(), "end", threads(), m_slices.vectors, m_unroll);
    slice.isWhole = slice.isWhole && m_slices.areEqual;
    return slice;
  }

  std::int64_t m_unroll;
  Slices m_slices;
};

class RowGang final : public LoopStrategy {
 public:
  RowGang() : LoopStrategy("row_gang", Form::Row) {}

  [[nodiscard]] Example example() const override { return examples::rows({4, 1048576}); }
  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const std::int64_t size = gangSize(instance);
    const std::int64_t gangs = instance.value("gangs");
    Launch launch = oneLaunch(entry);
    launch.step.block.x = narrow(instance.value("threads", 1));
    launch.step.grid.x = narrow(gangs * size);
    launch.step.cooperative = true;
    launch.scratch.push_back(
        bytes(gangBytes({.gangs = gangs, .blocks = size}, std::max(1, instance.region.stageCount()))));
    launch.zeroScratch = true;
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return RowGangText(instance).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const RowShape shape = rowShape(instance);
    const std::int64_t gangs = std::max<std::int64_t>(1, instance.value("gangs", 1));
    const double rounds = static_cast<double>(divideUp(shape.groups, gangs));
    constexpr double kMeeting = 2.2e-6;
    return secondsOfGroups(instance, {.blocks = instance.device.multiprocessors,
                                      .threads = instance.value("threads", 1),
                                      .idle = rounds * meetingsOfGroup(instance) * kMeeting,
                                      .isPersistent = true});
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

}  // namespace

void addRowGang(StrategyTable& table) {
  table.add(std::make_unique<RowGang>());
}

}  // namespace swage::synth::cuda
