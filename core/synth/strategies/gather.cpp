// SPDX-License-Identifier: Apache-2.0
// Maps of which elements are read from anywhere: flipped, padded, joined, cut off.
#include <algorithm>

#include "core/synth/emit/frame.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/builtin.h"

namespace swage::synth {
namespace {

class Gather : public Strategy {
 public:
  explicit Gather(domain::Language language) : Strategy(language, "gather") {}

  // Whole tensors have better patterns.
  [[nodiscard]] bool accepts(const Region& region) const override {
    const bool isMoved = region.hasBounds() ||
                         std::any_of(region.operands.begin(), region.operands.end(),
                                     [](const Operand& operand) { return operand.offset != 0; }) ||
                         std::any_of(region.prims.begin(), region.prims.end(),
                                     [](const Prim& prim) { return prim.kind == Prim::Kind::Coordinate; });
    return region.kind() == NestKind::Map && isMoved;
  }
};

class CudaGather final : public Gather {
 public:
  CudaGather() : Gather(domain::Language::CudaCpp) {}

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
    const std::int64_t threads = instance.value("threads", 1);
    const std::vector<std::size_t> axes = freeAxes(region);
    code.comment(fmt::format("One of {} elements to a thread.", extentsText(region, axes)));
    openCudaKernel(writer, launch.step.entry, threads);
    const std::string at = writer.unique("at");
    code.line("const {0} {1} = {2}blockIdx.x * {3} + threadIdx.x;", writer.index(), at,
              writer.index() == "int" ? "" : "(long long)", threads);
    if (region.groupCount() % threads != 0) {
      code.open("if ({} >= {})", at, region.groupCount());
      code.line("return;");
      code.close();
    }
    if (!axes.empty()) {
      writer.decode(at, axes);
    }
    writer.compute(storedPrims(region.elementStores));
    writer.store(region.elementStores);
    code.close();
    return writer.finish();
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const std::int64_t threads = instance.value("threads", 1);
    if ((instance.region.groupCount() + threads - 1) / threads > kMaxGrid) {
      return unfit("there are more elements than threads of a grid");
    }
    return {};
  }
};

class CpuGather final : public Gather {
 public:
  CpuGather() : Gather(domain::Language::Cpp) {}

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
    code.comment(
        fmt::format("{} elements, along the innermost axis in vectors.", extentsText(region, freeAxes(region))));
    openCppKernel(writer, launch.step.entry);
    const std::string row = writer.unique("row");
    code.pragma("#pragma omp parallel for schedule(static)");
    code.open("for (long long {0} = 0; {0} < {1}; ++{0})", row, positions(region, rows));
    if (!rows.empty()) {
      writer.decode(row, rows);
    }
    const std::string column = writer.unique("column");
    code.pragma("#pragma omp simd");
    code.open("for (long long {0} = 0; {0} < {1}; ++{0})", column, inner ? region.axes[*inner].extent : 1);
    if (inner) {
      writer.bindAxis(*inner, column);
    }
    writer.compute(storedPrims(region.elementStores));
    writer.store(region.elementStores);
    code.close();
    code.close();
    code.close();
    return writer.finish();
  }

  [[nodiscard]] domain::Cell aims(const Instance& /*instance*/) const override {
    return {domain::DataMovement::Wide, domain::Arithmetic::Packed, domain::Decomposition::OneLaunch};
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& /*instance*/) const override { return {}; }
};

}  // namespace

void addGather(StrategyTable& table) {
  table.add(std::make_unique<CudaGather>());
  table.add(std::make_unique<CpuGather>());
}

}  // namespace swage::synth
