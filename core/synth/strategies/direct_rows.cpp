// SPDX-License-Identifier: Apache-2.0
// Windows that overlap: a thread makes several results along one axis, and reads each row of the operand once for all
// of them. Depthwise convolutions and pooling.
#include <algorithm>

#include "core/synth/emit/frame.h"
#include "core/synth/region_shape.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kMostPairs = 128;  // of a result and a row of its window, written out by the compiler
constexpr std::int64_t kUnrolledExtent = 8;

// An axis of positions, that of the window which slides along it, and the loads that see no more than
// position * step + place in the window.
struct Rows {
  std::size_t position = 0;
  std::size_t window = 0;
  std::int64_t step = 1;
  std::vector<int> loads;
};

bool isAlong(const Operand& operand, const Rows& rows) {
  const auto agree = [&rows](const std::vector<std::int64_t>& factors) {
    return factors[rows.position] == rows.step * factors[rows.window];
  };
  return operand.walksAlong(rows.position) && agree(operand.strides) &&
         std::all_of(operand.bounds.begin(), operand.bounds.end(),
                     [&](const Bound& bound) { return bound.divisor == 1 && agree(bound.factors); });
}

// The loads of a region that these axes slide over; empty where the window is read in two ways.
std::vector<int> loadsAlong(const Region& region, const Rows& rows) {
  std::vector<int> loads;
  for (std::size_t prim = 0; prim < region.prims.size(); ++prim) {
    const Prim& self = region.prims[prim];
    if (self.kind == Prim::Kind::Load && isAlong(region.operands[static_cast<std::size_t>(self.operand)], rows)) {
      loads.push_back(static_cast<int>(prim));
    }
  }
  return loads;
}

// The axis along which most of the windows overlap; no value: along the innermost alone, or along none.
std::optional<Rows> rowsOf(const Region& region) {
  std::optional<Rows> best;
  const std::vector<std::size_t> free = freeAxes(region);
  if (free.size() < 2) {
    return std::nullopt;
  }
  for (const std::size_t window : axesOf(region, AxisRole::Window)) {
    const std::int64_t extent = region.axes[window].extent;
    for (auto position = free.begin(); position + 1 != free.end(); ++position) {
      for (std::int64_t step = 1; step < extent; ++step) {
        Rows rows{*position, window, step, {}};
        rows.loads = loadsAlong(region, rows);
        const bool isBetter = !best || extent * best->step > region.axes[best->window].extent * step;
        if (!rows.loads.empty() && isBetter) {
          best = std::move(rows);
        }
      }
    }
  }
  return best;
}

class CudaDirectRows final : public Strategy {
 public:
  CudaDirectRows() : Strategy(domain::Language::CudaCpp, "direct_rows") {}

  [[nodiscard]] Example example() const override { return examples::pooling(); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    return isOneStage(region) && rowsOf(region).has_value();
  }
  [[nodiscard]] int fallbackOrder() const override { return 1; }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const std::int64_t threads = instance.value("threads", 1);
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = static_cast<std::uint32_t>(threads);
    launch.step.grid.x = static_cast<std::uint32_t>((threadCount(instance) + threads - 1) / threads);
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    const Region& region = instance.region;
    const Rows rows = *rowsOf(region);
    const std::int64_t count = instance.value("rows", 1);
    const std::int64_t threads = instance.value("threads", 1);
    KernelWriter writer(instance, Dialect::of(language()), {"at", "first", "r", "j"});
    Code& code = writer.code();
    code.comment(fmt::format(
        "{} of {} results below each other to a thread, each of which folds {} elements; rows that they share are read "
        "once.",
        count, extentsText(region, freeAxes(region)), extentsText(region, foldedAxes(region))));
    openCudaKernel(writer, launch.step.entry, threads);
    place(writer, instance, rows, threads);
    FoldText folds(writer, region, std::to_string(count), "r");
    folds.declare();
    fold(writer, region, rows, count, folds);
    code.pragma("#pragma unroll");
    code.open("for (int r = 0; r < {}; ++r)", count);
    writer.bindAxis(rows.position, "(first + r)");
    folds.bindResults();
    writer.compute(storedPrims(region.groupStores));
    writer.store(region.groupStores);
    code.close();
    code.close();
    return writer.finish();
  }

  // Rows that several results see are loaded once for all of them.
  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const Rows rows = *rowsOf(instance.region);
    const std::int64_t count = instance.value("rows", 1);
    const std::int64_t extent = instance.region.axes[rows.window].extent;
    const double shared = static_cast<double>((count - 1) * rows.step + extent) / static_cast<double>(count * extent);
    return cuda::secondsOfPlainFolds(instance, instance.region.groupCount(), shared);
  }

 private:
  static std::int64_t bands(const Instance& instance, const Rows& rows) {
    const std::int64_t count = instance.value("rows", 1);
    return (instance.region.axes[rows.position].extent + count - 1) / count;
  }

  static std::int64_t threadCount(const Instance& instance) {
    const Rows rows = *rowsOf(instance.region);
    return instance.region.groupCount() / instance.region.axes[rows.position].extent * bands(instance, rows);
  }

  // The coordinates of a thread. At the end of the axis it makes the results of another once more, which are the same.
  static void place(KernelWriter& writer, const Instance& instance, const Rows& rows, std::int64_t threads) {
    const Region& region = instance.region;
    Code& code = writer.code();
    const std::int64_t count = instance.value("rows", 1);
    const std::int64_t all = threadCount(instance);
    code.line("const {0} at = {1}blockIdx.x * {2} + threadIdx.x;", writer.index(),
              writer.index() == "int" ? "" : "(long long)", threads);
    if (all % threads != 0) {
      code.open("if (at >= {})", all);
      code.line("return;");
      code.close();
    }
    const std::vector<std::size_t> free = freeAxes(region);
    std::int64_t inside = 1;
    for (std::size_t i = free.size(); i-- > 0;) {
      const bool isRows = free[i] == rows.position;
      const std::int64_t extent = isRows ? bands(instance, rows) : region.axes[free[i]].extent;
      const std::string quotient = inside == 1 ? "at" : fmt::format("at / {}", inside);
      std::string text = i == 0 ? quotient : fmt::format("{} % {}", quotient, extent);
      if (isRows) {
        text = fmt::format("{} * {}", text, count);
        const std::int64_t size = region.axes[free[i]].extent;
        code.line("const {} first = {};", writer.index(),
                  size % count == 0 ? text
                                    : fmt::format("min({0}({1}), {0}({2}))",
                                                  writer.index() == "int" ? "int" : "(long long)", text, size - count));
      } else {
        const std::string name = writer.unique(fmt::format("at{}", i));
        code.line("const {} {} = {};", writer.index(), name, text);
        writer.bindAxis(free[i], name);
      }
      inside *= extent;
    }
  }

  static void fold(KernelWriter& writer, const Region& region, const Rows& rows, std::int64_t count, FoldText& folds) {
    Code& code = writer.code();
    const KernelWriter::Scope outside = writer.scope();
    static constexpr std::string_view kNames = "kuvw";
    std::size_t loops = 0;
    for (const std::size_t axis : foldedAxes(region)) {
      if (axis == rows.window) {
        continue;
      }
      const std::string name = writer.unique(std::string(1, kNames[std::min(loops, kNames.size() - 1)]));
      if (region.axes[axis].extent <= kUnrolledExtent) {
        code.pragma("#pragma unroll");
      }
      code.open("for ({0} {1} = 0; {1} < {2}; ++{1})", writer.index(), name, region.axes[axis].extent);
      writer.bindAxis(axis, name);
      ++loops;
    }
    const std::int64_t window = region.axes[rows.window].extent;
    code.pragma("#pragma unroll");
    code.open("for (int j = 0; j < {}; ++j)", (count - 1) * rows.step + window);
    writer.bindAxis(rows.position, "first");
    writer.bindAxis(rows.window, "j");
    writer.compute(rows.loads);
    code.pragma("#pragma unroll");
    code.open("for (int r = 0; r < {}; ++r)", count);
    const std::string place = rows.step == 1 ? "(j - r)" : fmt::format("(j - r * {})", rows.step);
    code.open("if (inside({}, {}))", place, window);
    writer.bindAxis(rows.position, "(first + r)");
    writer.bindAxis(rows.window, place);
    writer.compute(folds.inputs());
    folds.accumulate();
    for (std::size_t i = 0; i < loops + 3; ++i) {
      code.close();
    }
    writer.leave(outside);
  }

  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const Rows rows = *rowsOf(instance.region);
    const std::int64_t count = instance.value("rows", 1);
    if (count > instance.region.axes[rows.position].extent) {
      return unfit("there are not so many results below each other");
    }
    if (count * instance.region.axes[rows.window].extent > kMostPairs) {
      return unfit("the text would become too long");
    }
    if (threadCount(instance) / instance.value("threads", 1) >= kMaxGrid) {
      return unfit("there are more results than threads of a grid");
    }
    return {};
  }
};

}  // namespace

void addDirectRows(StrategyTable& table) {
  table.add(std::make_unique<CudaDirectRows>());
}

}  // namespace swage::synth
