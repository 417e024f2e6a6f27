// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis, a group in the registers of a block or of a cluster of blocks.
#include <algorithm>

#include "core/synth/emit/cuda_rows.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth::cuda {
namespace {

// Writes one kernel.
class RowRegistersText final : private RowText {
 public:
  explicit RowRegistersText(const Instance& instance)
      : RowText(instance),
        m_threads(instance.value("threads", 1)),
        m_cluster(instance.value("cluster", 1)),
        m_slices(slicesOf(m_cluster)),
        m_steps(stepsOf(m_slices.vectors, m_threads)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(fmt::format("{}, one to {} {} threads, which keep{} its elements in registers.", rowsText(),
                               m_cluster == 1 ? "a block of" : fmt::format("a cluster of {} blocks of", m_cluster),
                               m_threads, m_cluster == 1 ? "s" : ""));
    openCudaKernel(m_writer, entry, m_threads, fmt::format(", {}", m_instance.value("blocks_per_multiprocessor", 1)));
    openGroup(m_cluster == 1 ? "blockIdx.x" : fmt::format("blockIdx.x / {}", m_cluster));
    const Batch all = openElements();
    m_code.comment("Threads load their share of the row from memory into registers.");
    hold(all);
    settle(-1);
    for (std::size_t i = 0; i < stages(); ++i) {
      reduce(i, all);
    }
    explainGroup();
    storeGroup(m_cluster == 1 ? "threadIdx.x == 0" : "threadIdx.x == 0 && clusterRank() == 0");
    if (storesElements()) {
      m_code.comment("Results are computed from the registers and stored to memory.");
      mapHeld(all);
    }
    if (m_cluster > 1) {
      m_code.line("clusterBarrier();  // no block may leave while another reads its shared memory");
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  Batch openElements() {
    const bool isWhole = m_slices.areEqual && m_slices.vectors % m_threads == 0;
    std::string end = fmt::format("{}", m_length);
    std::string begin;
    if (m_cluster > 1) {
      openSlice(m_slices, "int(clusterRank())", isWhole ? End::Unused : End::Used);
      begin = "begin + ";
      end = "end";
    }
    const std::string name = m_steps > 1 ? "first" : "k";
    m_code.line("const {} {} = {}threadIdx.x{};", m_writer.index(), name, begin, timesWidth());
    return {.first = name,
            .counter = "step",
            .distance = m_threads * width(),
            .count = m_steps,
            .end = isWhole ? "" : end,
            .axes = m_foldAxes};
  }

  void reduce(std::size_t index, const Batch& all) {
    StageText& stage = this->stage(index);
    m_code.blank();
    stage.define(isLong(stage, m_steps) ? StageText::Totals::Yes : StageText::Totals::No);
    const std::string places = parts(stage, m_threads / kWarp, m_cluster == 1 ? Sharing::InTurn : Sharing::Own);
    const std::string blocks = m_cluster == 1 ? "" : fmt::format("{}, ", m_cluster);
    explainFold(
        index, fmt::format("Threads fold the elements in their registers; lanes join by shuffles, {} in shared memory.",
                           m_cluster == 1 ? "warps" : "warps and blocks"));
    reduceHeld(stage, all, m_steps);
    found(stage, index,
          fmt::format("{}({}, {}, {}{}, {})", m_cluster == 1 ? "reduceBlock" : "reduceCluster",
                      own(stage, isLong(stage, m_steps)), places, blocks, stage.none(), stage.join()));
  }

  std::int64_t m_threads;
  std::int64_t m_cluster;
  Slices m_slices;
  std::int64_t m_steps;
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

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return RowRegistersText(instance).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const RowShape shape = rowShape(instance);
    const std::int64_t cluster = instance.value("cluster", 1);
    const std::int64_t threads = instance.value("threads", 1);
    const std::int64_t steps = divideUp(divideUp(shape.vectors, cluster), threads);
    const std::int64_t held = steps * instance.value("vector_width", 1) * std::max(1, streamedLoads(instance.region));
    const std::int64_t most = kRegistersPerMultiprocessor / threads / instance.value("blocks_per_multiprocessor", 1);
    return secondsOfGroups(instance, {.blocks = shape.groups,
                                      .threads = threads,
                                      .registers = std::min(most, 32 + held),
                                      .steps = steps,
                                      .atOnce = steps,
                                      .blocksOfGroup = cluster,
                                      .isKept = true,
                                      .meeting = cluster == 1 ? 1.5e-7 : 1.2e-6});
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

}  // namespace

void addRowRegisters(StrategyTable& table) {
  table.add(std::make_unique<RowRegisters>());
}

}  // namespace swage::synth::cuda
