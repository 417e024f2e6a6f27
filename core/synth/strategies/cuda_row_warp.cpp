// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis, a warp to a group, or to several short ones.
#include <algorithm>

#include "core/synth/emit/cuda_rows.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth::cuda {
namespace {

constexpr std::int64_t kLeastAtOnce = 64;  // bytes that the lanes of a group read side by side
constexpr std::int64_t kMostSteps = 8;     // of lanes that are fewer than a warp

// How a block is shared out.
struct WarpSplit {
  explicit WarpSplit(const Instance& instance)
      : warps(instance.value("warps", 1)), lanes(instance.value("lanes", kWarp)) {}

  std::int64_t warps;
  std::int64_t lanes;  // of a group

  [[nodiscard]] std::int64_t groups() const { return warps * kWarp / lanes; }  // of a block
};

// Writes one kernel.
class RowWarpText final : private RowText {
 public:
  explicit RowWarpText(const Instance& instance)
      : RowText(instance), m_split(instance), m_keeps(instance.value("keep") != 0) {}

  KernelText run(const std::string& entry) {
    const std::int64_t lanes = m_split.lanes;
    const std::int64_t steps = stepsOf(vectors(), lanes);
    m_code.comment(fmt::format("{}, one to {}; its elements {}.", rowsText(),
                               lanes == kWarp ? "a warp" : fmt::format("{} lanes", lanes),
                               m_keeps ? "stay in registers" : "are read more than once"));
    openCudaKernel(m_writer, entry, m_split.warps * kWarp);
    m_code.line("const int lane = threadIdx.x % {};", lanes);
    if (m_groups > 1) {
      openGroup(m_split.groups() == 1
                    ? "blockIdx.x"
                    : fmt::format("{}blockIdx.x * {} + threadIdx.x / {}", cast(), m_split.groups(), lanes));
    }
    if (m_groups % m_split.groups() != 0) {
      m_code.open("if ({} >= {})", m_groups > 1 ? "row" : "threadIdx.x / 32", m_groups);
      m_code.line("return;");
      m_code.close();
    }
    m_code.line("const {} {} = lane{};", m_writer.index(), steps > 1 ? "first" : "k", timesWidth());
    const Batch all{.first = steps > 1 ? "first" : "k",
                    .counter = "step",
                    .distance = lanes * width(),
                    .count = steps,
                    .end = vectors() % lanes == 0 ? "" : fmt::format("{}", m_length),
                    .axes = m_foldAxes};
    if (m_keeps) {
      m_code.comment("Each lane loads its share of the row from memory into registers.");
      hold(all);
    }
    settle(-1);
    for (std::size_t i = 0; i < stages(); ++i) {
      reduce(i, all, steps);
    }
    explainGroup();
    storeGroup("lane == 0");
    if (storesElements()) {
      map(all);
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  void map(const Batch& all) {
    if (m_keeps) {
      m_code.comment("Results are computed from the registers and stored to memory.");
      mapHeld(all);
    } else {
      m_code.comment("The row is read from memory again; results are stored to memory.");
      mapRead(all);
    }
  }

  void reduce(std::size_t index, const Batch& all, std::int64_t steps) {
    StageText& stage = this->stage(index);
    m_code.blank();
    stage.define(isLong(stage, steps) ? StageText::Totals::Yes : StageText::Totals::No);
    explainFold(index, m_keeps ? "Lanes fold the elements in their registers and join by shuffles."
                               : "Lanes read their elements from memory, fold them, and join by shuffles.");
    if (m_keeps) {
      reduceHeld(stage, all, steps);
    } else {
      reduceRead(stage, all, steps);
    }
    found(stage, index,
          fmt::format("reduceWarp{}({}, {})", m_split.lanes == kWarp ? "" : fmt::format("<{}>", m_split.lanes),
                      own(stage, isLong(stage, steps)), stage.join()));
  }

  WarpSplit m_split;
  bool m_keeps;
};

class RowWarp final : public LoopStrategy {
 public:
  RowWarp() : LoopStrategy("row_warp", Form::Row) {}

  [[nodiscard]] Example example() const override { return examples::rows({4096, 512}); }
  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const RowShape shape = rowShape(instance);
    Launch launch = oneLaunch(entry);
    launch.step.block.x = narrow(instance.value("warps") * kWarp);
    launch.step.grid.x = narrow(divideUp(shape.groups, WarpSplit(instance).groups()));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return RowWarpText(instance).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const RowShape shape = rowShape(instance);
    const bool isKept = instance.value("keep") != 0;
    const WarpSplit split(instance);
    const std::int64_t steps = divideUp(shape.vectors, split.lanes);
    return secondsOfGroups(instance, {.blocks = divideUp(shape.groups, split.groups()),
                                      .threads = instance.value("warps", 1) * kWarp,
                                      .registers = 32 + (isKept ? steps * instance.value("vector_width", 1) : 4),
                                      .steps = steps,
                                      .atOnce = isKept ? steps : 2,
                                      .isKept = isKept,
                                      .meeting = 5e-8});
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    const RowShape shape = rowShape(instance);
    const WarpSplit split(instance);
    const std::int64_t steps = divideUp(shape.vectors, split.lanes);
    if (split.lanes < kWarp) {
      const std::int64_t bytes = split.lanes * instance.value("vector_width", 1) * narrowestBytes(instance.region);
      if (shape.groups % split.groups() != 0) {
        return unfit("the last warp would have lanes without a group");
      }
      if (steps > kMostSteps || bytes < kLeastAtOnce) {
        return unfit("so few lanes read too little of a group at once");
      }
    }
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

}  // namespace

void addRowWarp(StrategyTable& table) {
  table.add(std::make_unique<RowWarp>());
}

}  // namespace swage::synth::cuda
