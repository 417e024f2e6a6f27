// SPDX-License-Identifier: Apache-2.0
// Maps of which elements are read from anywhere, on a processor: flipped, padded, joined, cut off.
#include "core/synth/emit/frame.h"
#include "core/synth/region_shape.h"

namespace swage::synth {
namespace {

class CpuGather final : public Strategy {
 public:
  CpuGather() : Strategy(domain::Language::Cpp, "gather") {}

  [[nodiscard]] Example example() const override { return examples::concatenation(); }
  [[nodiscard]] bool accepts(const Region& region) const override { return isGathered(region); }

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
  table.add(std::make_unique<CpuGather>());
}

}  // namespace swage::synth
