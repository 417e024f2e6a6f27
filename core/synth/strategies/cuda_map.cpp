// SPDX-License-Identifier: Apache-2.0
// Maps: one pass over all elements, in the order of the results.
#include <algorithm>
#include <numeric>

#include "core/synth/emit/cuda_batch.h"
#include "core/synth/emit/cuda_elements.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth::cuda {
namespace {

// Writes one kernel.
class MapText {
 public:
  explicit MapText(const Instance& instance)
      : m_region(instance.region),
        m_threads(instance.value("threads", 1)),
        m_items(instance.value("items", 1)),
        m_isPersistent(instance.value("persistent") != 0),
        m_caching(instance.value("streaming") != 0 ? Caching::Leave : Caching::Stay),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp), {"i", "first", "u", "v"}),
        m_code(m_writer.code()),
        m_elements(m_writer, m_region, instance.value("vector_width", 1)),
        m_axes(m_region.axes.size()),
        m_total(m_region.groupCount()) {
    std::iota(m_axes.begin(), m_axes.end(), std::size_t{0});
  }

  KernelText run(const Launch& launch) {
    const std::int64_t block = m_threads * m_items * m_elements.width();
    if (m_axes.size() > 1 || m_total + block * launch.step.grid.x > std::numeric_limits<std::int32_t>::max()) {
      m_writer.countUnsigned();
    }
    m_loads = m_elements.loadsFor(storedPrims(m_region.elementStores));
    std::erase_if(m_loads, [this](int load) {
      const int operand = m_region.prims[static_cast<std::size_t>(load)].operand;
      return !comesTogether(m_region.operands[static_cast<std::size_t>(operand)], m_elements.width());
    });
    comment(launch);
    openCudaKernel(m_writer, launch.step.entry, m_threads);
    loadScalars();
    const std::string start =
        fmt::format("({}blockIdx.x * {} + threadIdx.x){}", cast(), m_threads * m_items, times(m_elements.width()));
    const std::string first = m_items > 1 ? "first" : "i";
    if (m_isPersistent) {
      m_code.open("for ({0} {1} = {2}; {1} < {3}; {1} += {4}gridDim.x * {5})", m_writer.index(), first, start, m_total,
                  cast(), block);
      batch(first, m_total % block == 0);
      m_code.close();
    } else {
      m_code.line("const {} {} = {};", m_writer.index(), first, start);
      const bool isWhole = m_total % block == 0;
      if (!isWhole && m_items == 1) {
        m_code.open("if (i >= {})", m_total);
        m_code.line("return;");
        m_code.close();
      }
      batch(first, isWhole);
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::string cast() const { return m_writer.index().ends_with("long long") ? "(long long)" : ""; }
  [[nodiscard]] static std::string times(std::int64_t number) {
    return number == 1 ? "" : fmt::format(" * {}", number);
  }

  void comment(const Launch& launch) {
    const std::int64_t width = m_elements.width();
    std::string text = fmt::format("{} elements. ", extentsText(m_region, m_axes));
    if (width > 1) {
      text += fmt::format("A thread moves {} neighbours at once", width);
    } else {
      text += "A thread takes one at a time";
    }
    if (m_items > 1) {
      text += fmt::format(", and has {} such loads under way", m_items);
    }
    text += m_isPersistent ? fmt::format("; {} blocks walk over all of them.", launch.step.grid.x) : ".";
    m_code.comment(text);
  }

  // What is the same for all elements is loaded once.
  void loadScalars() {
    const auto isScalar = [&](int load) {
      const int operand = m_region.prims[static_cast<std::size_t>(load)].operand;
      return std::none_of(m_axes.begin(), m_axes.end(), [&](std::size_t axis) {
        return m_region.operands[static_cast<std::size_t>(operand)].walksAlong(axis);
      });
    };
    std::vector<int> scalars;
    std::copy_if(m_loads.begin(), m_loads.end(), std::back_inserter(scalars), isScalar);
    m_loads.erase(std::remove_if(m_loads.begin(), m_loads.end(), isScalar), m_loads.end());
    m_writer.compute(scalars);
  }

  void batch(const std::string& first, bool isWhole) {
    const Batch batch{.first = first,
                      .position = "i",
                      .distance = m_threads * m_elements.width(),
                      .count = m_items,
                      .end = isWhole || m_items == 1 ? "" : fmt::format("{}", m_total),
                      .axes = m_axes};
    if (m_items > 1) {
      m_elements.declare(m_loads, m_items);
      forEach(m_writer, batch, Position::Used, [&] { m_elements.load(m_loads, batch.subscript(), m_caching); });
      forEach(m_writer, batch, Position::Used, [&] { m_elements.evaluate(m_loads, batch.subscript(), m_caching); });
    } else {
      forEach(m_writer, batch, Position::Used, [&] {
        m_elements.load(m_loads, "", m_caching);
        m_elements.evaluate(m_loads, "", m_caching);
      });
    }
  }

  const Region& m_region;
  std::int64_t m_threads;
  std::int64_t m_items;
  bool m_isPersistent;
  Caching m_caching;
  KernelWriter m_writer;
  Code& m_code;
  Elements m_elements;
  std::vector<std::size_t> m_axes;
  std::int64_t m_total;
  std::vector<int> m_loads;
};

Launch launchOf(const Instance& instance, const std::string& entry) {
  const Loops loops = loopsOf(instance.region);
  const std::int64_t vectors = loops.groups * (loops.inner / instance.value("vector_width", 1));
  const std::int64_t threads = instance.value("threads", 1);
  std::int64_t blocks = divideUp(vectors, threads * instance.value("items", 1));
  if (instance.value("persistent") != 0) {
    blocks = std::min(blocks, instance.device.multiprocessors * kThreadsPerMultiprocessor / threads);
  }
  Launch launch;
  launch.step.entry = entry;
  launch.step.grid.x = narrow(blocks);
  launch.step.block.x = narrow(threads);
  return launch;
}

class Map final : public LoopStrategy {
 public:
  Map() : LoopStrategy("map", Form::Map) {}

  [[nodiscard]] Example example() const override { return examples::map(); }
  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    return launchOf(instance, entry);
  }
  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return MapText(instance).run(launch);
  }
  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    return secondsOfMap(instance);
  }
};

// Elements that are read from anywhere: flipped, padded, joined, cut off.
class Gather final : public Strategy {
 public:
  Gather() : Strategy(domain::Language::CudaCpp, "gather") {}

  [[nodiscard]] Example example() const override { return examples::concatenation(); }
  [[nodiscard]] bool accepts(const Region& region) const override { return isGathered(region); }
  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    return launchOf(instance, entry);
  }
  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return MapText(instance).run(launch);
  }
  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    return secondsOfMap(instance);
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    if (!allowsVectors(instance.region, instance.value("vector_width", 1))) {
      return unfit("the innermost axis cannot be moved in vectors this wide");
    }
    if (divideUp(instance.region.groupCount(), instance.value("threads", 1)) > kMaxGrid) {
      return unfit("there are more elements than threads of a grid");
    }
    return {};
  }
};

}  // namespace

void addMap(StrategyTable& table) {
  table.add(std::make_unique<Map>());
  table.add(std::make_unique<Gather>());
}

}  // namespace swage::synth::cuda
