// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis, a block to a group.
#include "core/synth/emit/cuda_rows.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth::cuda {
namespace {

// Writes one kernel.
class RowBlockText final : private RowText {
 public:
  explicit RowBlockText(const Instance& instance)
      : RowText(instance), m_threads(instance.value("threads", 1)), m_unroll(instance.value("unroll", 1)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(fmt::format("{}, one to a block of {} threads{}.", rowsText(), m_threads,
                               stages() + (storesElements() ? 1 : 0) > 1 ? ", which reads it more than once" : ""));
    openCudaKernel(m_writer, entry, m_threads);
    openGroup("blockIdx.x");
    settle(-1);
    const Walk all = walk("threadIdx.x" + timesWidth(), fmt::format("{}", m_length), m_threads, vectors(), m_unroll);
    for (std::size_t i = 0; i < stages(); ++i) {
      reduce(i, all);
    }
    explainGroup();
    storeGroup("threadIdx.x == 0");
    if (storesElements()) {
      m_code.comment("The row is read from memory again; results are stored to memory.");
      mapBatches(all, Caching::Leave);
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  void reduce(std::size_t index, const Walk& all) {
    StageText& stage = this->stage(index);
    m_code.blank();
    stage.define(isLong(stage, all.steps) ? StageText::Totals::Yes : StageText::Totals::No);
    const std::string places = parts(stage, m_threads / kWarp);
    explainFold(index,
                "Threads read their elements from memory and fold them; lanes join by shuffles, warps in "
                "shared memory.");
    reduceBatches(stage, all, Caching::Leave);
    const std::string mine = own(stage, isLong(stage, all.steps));
    found(stage, index, fmt::format("reduceBlock({}, {}, {}, {})", mine, places, stage.none(), stage.join()));
  }

  std::int64_t m_threads;
  std::int64_t m_unroll;
};

class RowBlock final : public LoopStrategy {
 public:
  RowBlock() : LoopStrategy("row_block", Form::Row) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    Launch launch = oneLaunch(entry);
    launch.step.block.x = narrow(instance.value("threads", 1));
    launch.step.grid.x = narrow(rowShape(instance).groups);
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return RowBlockText(instance).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const RowShape shape = rowShape(instance);
    const std::int64_t threads = instance.value("threads", 1);
    return secondsOfGroups(instance, {.blocks = shape.groups,
                                      .threads = threads,
                                      .registers = 32 + 4 * instance.value("unroll", 1),
                                      .steps = divideUp(shape.vectors, threads),
                                      .atOnce = instance.value("unroll", 1)});
  }
};

}  // namespace

void addRowBlock(StrategyTable& table) {
  table.add(std::make_unique<RowBlock>());
}

}  // namespace swage::synth::cuda
