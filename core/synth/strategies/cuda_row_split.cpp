// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis in slices of a group, with a second launch that joins them and stores elements.
#include <algorithm>

#include "core/synth/cost_model.h"
#include "core/synth/emit/cuda_rows.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth::cuda {
namespace {

// Writes one of the two kernels.
class RowSplitText final : private RowText {
 public:
  explicit RowSplitText(const Instance& instance)
      : RowText(instance),
        m_threads(instance.value("threads", 1)),
        m_unroll(instance.value("unroll", 1)),
        m_slices(slicesOf(instance.value("slices", 1))) {}

  // What each slice finds.
  KernelText reduceSlices(const std::string& entry) {
    m_code.comment(
        fmt::format("{}, each in {} slices: a block reduces one and leaves what it found for the next launch.",
                    rowsText(), m_slices.count));
    openKernel(entry);
    if (m_groups > 1) {
      openGroup(fmt::format("blockIdx.x / {}", m_slices.count));
    }
    const Walk slice = sliceWalk();
    openSlice(m_slices, m_groups > 1 ? fmt::format("int(blockIdx.x % {})", m_slices.count) : "int(blockIdx.x)",
              endOf(slice));
    settle(-1);
    StageText& stage = this->stage(0);
    const bool isLongRun = isLong(stage, slice.steps);
    stage.define(isLongRun ? StageText::Totals::Yes : StageText::Totals::No);
    const std::string places = parts(stage, m_threads / kWarp);
    reduceBatches(stage, slice, Caching::Stay);
    const std::string name = stage.resultName("slice");
    const std::string mine = own(stage, isLongRun);
    m_code.line("const {} {} =", stage.type(), name);
    m_code.line("    reduceBlock({}, {}, {}, {});", mine, places, stage.none(), stage.join());
    m_code.open("if (threadIdx.x == 0)");
    m_code.line("*reinterpret_cast<{}*>(scratch + blockIdx.x * {}) = {};", stage.type(), kStateBytes, name);
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

  // What the slices of a group found together, and its elements.
  KernelText finish(const domain::KernelStep& step) {
    m_code.comment(
        storesElements()
            ? fmt::format("Joins what the {} slices of a row found, and stores its elements. The last slices "
                          "come first: they may still be in the cache.",
                          m_slices.count)
            : fmt::format("Joins what the {} slices of a row found.", m_slices.count));
    openKernel(step.entry);
    openBlock(step.grid.x);
    const Walk slice = sliceWalk();
    if (storesElements()) {
      openSlice(m_slices, "slice", endOf(slice));
      openBatch(slice);
    }
    joinSlices();
    storeGroup(storesElements() ? "threadIdx.x == 0 && slice == 0" : "threadIdx.x == 0");
    if (storesElements()) {
      mapBatches(slice);
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  void openKernel(const std::string& entry) {
    openCudaKernel(m_writer, entry, m_threads, "", "unsigned char* scratch");
  }

  [[nodiscard]] Walk sliceWalk() const {
    Walk slice = walk("begin + threadIdx.x" + timesWidth(), "end", m_threads, m_slices.vectors, m_unroll);
    slice.isWhole = slice.isWhole && m_slices.areEqual;
    return slice;
  }

  void openBlock(std::uint32_t blocks) {
    if (!storesElements()) {
      openGroup("blockIdx.x");
      return;
    }
    if (m_groups > 1) {
      m_code.line("const unsigned int block = {} - blockIdx.x;", blocks - 1);
      m_code.line("const int slice = block % {};", m_slices.count);
      openGroup(fmt::format("block / {}", m_slices.count));
    } else {
      m_code.line("const int slice = {} - blockIdx.x;", blocks - 1);
    }
  }

  // The first elements are on their way while the slices are joined.
  void openBatch(const Walk& slice) {
    const std::vector<int> loads = storedLoads();
    const bool isOnce = endOf(slice) == End::Unused;
    m_code.line("{}{} first = {};", isOnce ? "const " : "", m_writer.index(), slice.begin);
    m_elements.declare(loads, slice.unroll);
    if (!isOnce) {
      m_code.open("const auto bring = [&]");
    }
    const Batch batch = batchOf(slice);
    forEach(m_writer, batch, Position::Used, [&] { m_elements.load(loads, subscript(batch), Caching::Stay); });
    if (!isOnce) {
      m_code.close(";");
      m_code.line("bring();  // on their way while the slices are joined");
    }
  }

  [[nodiscard]] Batch batchOf(const Walk& slice) const {
    return {.first = "first",
            .distance = slice.threads * width(),
            .count = slice.unroll,
            .end = endOf(slice) == End::Unused ? "" : "end",
            .axes = m_foldAxes};
  }
  [[nodiscard]] static std::string subscript(const Batch& batch) { return batch.count > 1 ? "[u]" : "[0]"; }

  void joinSlices() {
    StageText& stage = this->stage(0);
    const bool isMany = m_slices.count > kWarp;
    m_code.blank();
    settle(-1);
    stage.define(isMany ? StageText::Totals::Yes : StageText::Totals::No);
    const std::string places = parts(stage, m_slices.count);
    m_code.open("for (int part = threadIdx.x; part < {}; part += {})", m_slices.count, m_threads);
    m_code.line("{}[part] = *reinterpret_cast<const {}*>(scratch + ({}part) * {});", places, stage.type(),
                m_groups > 1 ? fmt::format("row * {} + ", m_slices.count) : "", kStateBytes);
    m_code.close();
    m_code.line("__syncthreads();");
    m_code.open("if (threadIdx.x < 32)");
    std::string own = m_slices.count == kWarp ? fmt::format("{}[threadIdx.x]", places)
                                              : fmt::format("threadIdx.x < {} ? {}[threadIdx.x] : {}", m_slices.count,
                                                            places, stage.none());
    if (isMany) {
      stage.declareTotal("some");
      m_code.open("for (int part = threadIdx.x; part < {}; part += 32)", m_slices.count);
      stage.addToTotal("some", places + "[part]");
      m_code.close();
      own = stage.settled("some");
    }
    m_code.line("const {} all = reduceWarp({}, {});", stage.type(), own, stage.join());
    m_code.open("if (threadIdx.x == 0)");
    m_code.line("{}[0] = all;", places);
    m_code.close();
    m_code.close();
    m_code.line("__syncthreads();");
    found(stage, 0, places + "[0]");
  }

  void mapBatches(const Walk& slice) {
    const Batch batch = batchOf(slice);
    m_code.blank();
    if (slice.steps > slice.unroll || !slice.isWhole) {
      m_code.open("while (first < end)");
    } else {
      m_code.openBlock();
    }
    forEach(m_writer, batch, Position::Used, [&] { m_elements.evaluate(storedLoads(), subscript(batch), results()); });
    if (slice.steps > slice.unroll || !slice.isWhole) {
      m_code.line("first += {};", batch.distance * batch.count);
      m_code.line("bring();");
    }
    m_code.close();
  }

  std::int64_t m_threads;
  std::int64_t m_unroll;
  Slices m_slices;
};

class RowSplit final : public LoopStrategy {
 public:
  RowSplit() : LoopStrategy("row_split", Form::Row) {}

  [[nodiscard]] Example example() const override { return examples::rows({4, 1048576}); }
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

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    KernelText text = RowSplitText(instance).reduceSlices(launch.step.entry);
    text.source += "\n" + RowSplitText(instance).finish(launch.more.front()).source;
    return text;
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const RowShape shape = rowShape(instance);
    const std::int64_t slices = instance.value("slices", 1);
    const std::int64_t threads = instance.value("threads", 1);
    const std::int64_t launches = instance.region.elementStores.empty() ? 1 : 2;  // that read the elements
    return DeviceRates::of(instance.device).launchSeconds +
           secondsOfGroups(instance, {.blocks = launches * shape.groups,
                                      .threads = threads,
                                      .registers = 32 + 4 * instance.value("unroll", 1),
                                      .steps = divideUp(divideUp(shape.vectors, slices), threads),
                                      .atOnce = instance.value("unroll", 1),
                                      .blocksOfGroup = slices});
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

void addRowSplit(StrategyTable& table) {
  table.add(std::make_unique<RowSplit>());
}

}  // namespace swage::synth::cuda
