// SPDX-License-Identifier: Apache-2.0
// Maps, and reductions of which the innermost axis numbers the groups.
#include <algorithm>

#include "core/synth/strategies/builtin.h"
#include "core/synth/strategies/cuda_loops.h"

namespace swage::synth::cuda {
namespace {

class Map final : public LoopStrategy {
 public:
  Map() : LoopStrategy("map", Form::Map) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const Loops loops = loopsOf(instance.region);
    const std::int64_t vectors = loops.groups * (loops.inner / instance.value("vector_width", 1));
    const std::int64_t threads = instance.value("threads", 1);
    std::int64_t blocks = divideUp(vectors, threads * instance.value("items", 1));
    if (instance.value("persistent") != 0) {
      blocks = std::min(blocks, instance.device.multiprocessors * kThreadsPerMultiprocessor / threads);
    }
    Launch launch = oneLaunch(entry);
    launch.step.grid.x = narrow(blocks);
    launch.step.block.x = narrow(threads);
    return launch;
  }
};

class Column final : public LoopStrategy {
 public:
  Column() : LoopStrategy("column", Form::Column) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const Loops loops = loopsOf(instance.region);
    const std::int64_t vectors = loops.inner / instance.value("vector_width", 1);
    Launch launch = oneLaunch(entry);
    launch.step.grid.x = narrow(loops.groups * divideUp(vectors, instance.value("columns", 1)));
    launch.step.block.x = narrow(instance.value("columns", 1) * instance.value("rows", 1));
    return launch;
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    const std::int64_t threads = instance.value("columns") * instance.value("rows");
    if (threads > 1024 || threads < kWarp) {
      return unfit("a block has 32 to 1024 threads");
    }
    std::int64_t stateBytes = 0;
    for (const Fold& fold : instance.region.folds) {
      stateBytes += fold.kind == FoldKind::Sum || fold.kind == FoldKind::Maximum ? 8 : 24;
    }
    if (instance.value("rows") > 1 && threads * instance.value("vector_width", 1) * stateBytes > (44 << 10)) {
      return unfit("the rows' states do not fit into shared memory");
    }
    return {};
  }
};

}  // namespace

void addMapAndColumn(StrategyTable& table) {
  table.add(std::make_unique<Map>());
  table.add(std::make_unique<Column>());
}

}  // namespace swage::synth::cuda
