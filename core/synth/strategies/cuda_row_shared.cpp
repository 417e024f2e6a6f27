// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis, a group in the shared memory of a block or of a cluster of blocks.
#include <algorithm>

#include "core/synth/emit/cuda_rows.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth::cuda {
namespace {

// Writes one kernel.
class RowSharedText final : private RowText {
 public:
  explicit RowSharedText(const Instance& instance)
      : RowText(instance),
        m_threads(instance.value("threads", 1)),
        m_cluster(instance.value("cluster", 1)),
        m_isAsynchronous(instance.value("asynchronous") != 0),
        m_slices(slicesOf(m_cluster)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(fmt::format("{}, one to {} {} threads, which keep{} it in shared memory.", rowsText(),
                               m_cluster == 1 ? "a block of" : fmt::format("a cluster of {} blocks of", m_cluster),
                               m_threads, m_cluster == 1 ? "s" : ""));
    openCudaKernel(m_writer, entry, m_threads);
    openCache();
    openGroup(m_cluster == 1 ? "blockIdx.x" : fmt::format("blockIdx.x / {}", m_cluster));
    Walk all = m_cluster == 1 ? walk("threadIdx.x" + timesWidth(), fmt::format("{}", m_length), m_threads, vectors(), 1)
                              : walk("begin + threadIdx.x" + timesWidth(), "end", m_threads, m_slices.vectors, 1);
    all.isWhole = all.isWhole && m_slices.areEqual;
    if (m_cluster > 1) {
      openSlice(m_slices, "int(clusterRank())", endOf(all));
    } else {
      m_code.comment(fmt::format("Threads copy the row from memory to shared memory{}.",
                                 m_isAsynchronous ? ", past their registers" : ""));
    }
    fill(all);
    all.fetch = [this](const std::vector<int>& loads, const std::string& subscript) { fetch(loads, subscript); };
    settle(-1);
    for (std::size_t i = 0; i < stages(); ++i) {
      reduce(i, all);
    }
    explainGroup();
    storeGroup(m_cluster == 1 ? "threadIdx.x == 0" : "threadIdx.x == 0 && clusterRank() == 0");
    if (storesElements()) {
      m_code.comment("Results are computed from shared memory and stored to memory.");
      mapBatches(all, Caching::Leave);
    }
    if (m_cluster > 1) {
      m_code.line("clusterBarrier();  // no block may leave while another reads its shared memory");
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::int64_t rowFloats() const { return m_slices.vectors * width(); }
  [[nodiscard]] std::vector<int> cached() const { return m_elements.streamed(elementLoads(m_region)); }

  void openCache() {
    std::string contents;
    for (const int load : cached()) {
      contents += fmt::format("{}{}", contents.empty() ? "" : ", then ", m_elements.parameterOf(load));
    }
    m_code.line("extern __shared__ __align__(16) float cache[];  // {}, {} floats{}", contents, rowFloats(),
                cached().size() > 1 ? " each" : "");
  }

  // "cache[4096 + k]"
  [[nodiscard]] std::string place(std::size_t which) const {
    const std::string at = m_cluster == 1 ? "k" : "k - begin";
    return which == 0 ? fmt::format("cache[{}]", at)
                      : fmt::format("cache[{} + {}]", rowFloats() * static_cast<std::int64_t>(which), at);
  }

  // A thread only ever reads what it has brought itself, so the cache needs no barrier.
  void fill(const Walk& all) {
    const std::vector<int> loads = cached();
    walkOnce(all, [&] {
      for (std::size_t i = 0; i < loads.size(); ++i) {
        if (m_isAsynchronous) {
          m_code.line("copyFloats(&{}, {});", place(i), m_elements.address(loads[i]));
        } else {
          m_elements.copyTo(loads[i], place(i));
        }
      }
    });
    const std::string why = "// each thread reads only what it has brought itself: no barrier";
    m_code.line("{}{}", m_isAsynchronous ? "asm volatile(\"cp.async.wait_all;\" ::: \"memory\");  " : "", why);
  }

  void fetch(const std::vector<int>& loads, const std::string& subscript) {
    const std::vector<int> kept = cached();
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (std::find(loads.begin(), loads.end(), kept[i]) != loads.end()) {
        m_elements.loadFrom(kept[i], place(i));
      }
    }
    m_elements.load(m_elements.shared(loads), subscript, Caching::Stay);
  }

  void reduce(std::size_t index, const Walk& all) {
    StageText& stage = this->stage(index);
    const bool isLongRun = isLong(stage, all.steps);
    m_code.blank();
    stage.define(isLongRun ? StageText::Totals::Yes : StageText::Totals::No);
    const std::string places = parts(stage, m_threads / kWarp, m_cluster == 1 ? Sharing::InTurn : Sharing::Own);
    const std::string blocks = m_cluster == 1 ? "" : fmt::format("{}, ", m_cluster);
    if (m_cluster == 1) {
      explainFold(index, "Threads fold elements from shared memory; lanes join by shuffles, warps in shared memory.");
    }
    reduceBatches(stage, all, Caching::Leave);
    found(stage, index,
          fmt::format("{}({}, {}, {}{}, {})", m_cluster == 1 ? "reduceBlock" : "reduceCluster", own(stage, isLongRun),
                      places, blocks, stage.none(), stage.join()));
  }

  std::int64_t m_threads;
  std::int64_t m_cluster;
  bool m_isAsynchronous;
  Slices m_slices;
};

class RowShared final : public LoopStrategy {
 public:
  // `example`: a shape whose rows suit the pattern.
  RowShared(std::string id, domain::Shape example)
      : LoopStrategy(std::move(id), Form::Row), m_example(std::move(example)) {}

  [[nodiscard]] Example example() const override { return examples::rows(m_example); }

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

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return RowSharedText(instance).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const RowShape shape = rowShape(instance);
    const std::int64_t cluster = instance.value("cluster", 1);
    const std::int64_t threads = instance.value("threads", 1);
    const std::int64_t steps = divideUp(divideUp(shape.vectors, cluster), threads);
    return secondsOfGroups(instance, {.blocks = shape.groups,
                                      .threads = threads,
                                      .sharedBytes = cachedBytes(instance, divideUp(shape.vectors, cluster)) + 1024,
                                      .steps = steps,
                                      .atOnce = instance.value("asynchronous") != 0 ? steps : std::int64_t{2},
                                      .blocksOfGroup = cluster,
                                      .isKept = true,
                                      .meeting = cluster == 1 ? 2e-7 : 3e-6});
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

  domain::Shape m_example;
};

}  // namespace

void addRowShared(StrategyTable& table) {
  table.add(std::make_unique<RowShared>("row_shared", domain::Shape{1024, 4096}));
  table.add(std::make_unique<RowShared>("row_cluster", domain::Shape{256, 32768}));
}

}  // namespace swage::synth::cuda
