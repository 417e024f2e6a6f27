// SPDX-License-Identifier: Apache-2.0
// One result at a time: loops over all that is folded away, whatever it is. Plain, and right for every window.
#include <algorithm>

#include "core/synth/emit/frame.h"
#include "core/synth/region_shape.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth {
namespace {

// Of whole rows and products there are better patterns; with few elements to a result this one is as good.
constexpr std::int64_t kMostPlainElements = 64;
// Shorter loops are written out by the compiler.
constexpr std::int64_t kUnrolled = 8;

// Opens a loop over each folded axis; the caller closes so many blocks.
std::size_t openLoops(KernelWriter& writer, const Region& region) {
  static constexpr std::string_view kNames = "kuvw";
  const std::vector<std::size_t> axes = foldedAxes(region);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t extent = region.axes[axes[i]].extent;
    const std::string name = writer.unique(std::string(1, kNames[std::min(i, kNames.size() - 1)]));
    if (extent <= kUnrolled && !writer.dialect().unroll().empty()) {
      writer.code().pragma(writer.dialect().unroll());
    }
    writer.code().open("for ({0} {1} = 0; {1} < {2}; ++{1})", writer.index(), name, extent);
    writer.bindAxis(axes[i], name);
  }
  return axes.size();
}

void closeLoops(KernelWriter& writer, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    writer.code().close();
  }
}

class Direct : public Strategy {
 public:
  explicit Direct(domain::Language language) : Strategy(language, "direct") {}

  [[nodiscard]] Example example() const override { return examples::pooling(); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    return isOneStage(region) &&
           (region.hasBounds() || region.hasRole(AxisRole::Window) || region.reducedCount() <= kMostPlainElements);
  }
  [[nodiscard]] int fallbackOrder() const override { return 2; }
};

class CudaDirect final : public Direct {
 public:
  CudaDirect() : Direct(domain::Language::CudaCpp) {}

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const std::int64_t threads = instance.value("threads", 1);
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = static_cast<std::uint32_t>(threads);
    launch.step.grid.x = static_cast<std::uint32_t>((instance.region.groupCount() + threads - 1) / threads);
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Region& region = instance.region;
    KernelWriter writer(instance, Dialect::of(language()));
    Code& code = writer.code();
    const std::vector<std::size_t> free = freeAxes(region);
    const std::int64_t results = region.groupCount();
    const std::int64_t threads = instance.value("threads", 1);
    code.comment(fmt::format("One of {} results to a thread, which folds {} elements for it.",
                             extentsText(region, free), extentsText(region, foldedAxes(region))));
    openCudaKernel(writer, launch.step.entry, threads);
    const std::string at = writer.unique("at");
    code.line("const {0} {1} = {2}blockIdx.x * {3} + threadIdx.x;", writer.index(), at,
              writer.index() == "int" ? "" : "(long long)", threads);
    if (results % threads != 0) {
      code.open("if ({} >= {})", at, results);
      code.line("return;");
      code.close();
    }
    if (!free.empty()) {
      writer.decode(at, free);
    }
    FoldText folds(writer, region, "", "");
    folds.declare();
    const KernelWriter::Scope outside = writer.scope();
    const std::size_t loops = openLoops(writer, region);
    writer.compute(folds.inputs());
    folds.accumulate();
    closeLoops(writer, loops);
    writer.leave(outside);
    folds.bindResults();
    writer.compute(storedPrims(region.groupStores));
    writer.store(region.groupStores);
    code.close();
    return writer.finish();
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    return cuda::secondsOfPlainFolds(instance, instance.region.groupCount(), 1.0);
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const std::int64_t threads = instance.value("threads", 1);
    if ((instance.region.groupCount() + threads - 1) / threads > kMaxGrid) {
      return unfit("there are more results than threads of a grid");
    }
    return {};
  }
};

class CpuDirect final : public Direct {
 public:
  CpuDirect() : Direct(domain::Language::Cpp) {}

  [[nodiscard]] Launch launch(const Instance& /*instance*/, const std::string& entry) const override {
    Launch launch;
    launch.step.entry = entry;
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Region& region = instance.region;
    KernelWriter writer(instance, Dialect::of(language()));
    Code& code = writer.code();
    std::vector<std::size_t> rows = freeAxes(region);
    std::optional<std::size_t> inner;
    if (!rows.empty()) {
      inner = rows.back();
      rows.pop_back();
    }
    const std::int64_t width = inner ? region.axes[*inner].extent : 1;
    const std::int64_t lanes = std::min(instance.value("lanes", 1), width);
    code.comment(fmt::format("{} neighbouring results at a time, each of which folds {} elements.", lanes,
                             extentsText(region, foldedAxes(region))));
    openCppKernel(writer, launch.step.entry);
    const std::string row = writer.unique("row");
    code.pragma("#pragma omp parallel for schedule(static)");
    code.open("for (long long {0} = 0; {0} < {1}; ++{0})", row, positions(region, rows));
    if (!rows.empty()) {
      writer.decode(row, rows);
    }
    const std::string first = width > lanes ? writer.unique("first") : "";
    const std::string lane = writer.unique("lane");
    if (width > lanes) {
      code.open("for (long long {0} = 0; {0} < {1}; {0} += {2})", first, width, lanes);
    }
    std::string count = std::to_string(lanes);
    if (width % lanes != 0) {
      count = writer.unique("lanes");
      code.line("const int {0} = {1} - {2} < {3} ? int({1} - {2}) : {3};", count, width, first, lanes);
    }
    FoldText folds(writer, region, std::to_string(lanes), lane);
    folds.declare();
    const KernelWriter::Scope outside = writer.scope();
    const std::size_t loops = openLoops(writer, region);
    openLanes(writer, inner, first, lane, count);
    writer.compute(folds.inputs());
    folds.accumulate();
    closeLoops(writer, loops + 1);
    writer.leave(outside);
    openLanes(writer, inner, first, lane, count);
    folds.bindResults();
    writer.compute(storedPrims(region.groupStores));
    writer.store(region.groupStores);
    closeLoops(writer, width > lanes ? 4 : 3);
    return writer.finish();
  }

  [[nodiscard]] domain::Cell aims(const Instance& /*instance*/) const override {
    return {domain::DataMovement::Wide, domain::Arithmetic::Packed, domain::Decomposition::OneLaunch};
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& /*instance*/) const override { return {}; }

  static void openLanes(KernelWriter& writer, std::optional<std::size_t> inner, const std::string& first,
                        const std::string& lane, const std::string& count) {
    writer.code().pragma("#pragma omp simd");
    writer.code().open("for (int {0} = 0; {0} < {1}; ++{0})", lane, count);
    if (inner) {
      writer.bindAxis(*inner, first.empty() ? lane : fmt::format("({} + {})", first, lane));
    }
  }
};

}  // namespace

void addDirect(StrategyTable& table) {
  table.add(std::make_unique<CudaDirect>());
  table.add(std::make_unique<CpuDirect>());
}

}  // namespace swage::synth
