// SPDX-License-Identifier: Apache-2.0
// Pointwise chains: threads share tiles of the innermost axis.
#include <algorithm>

#include "core/synth/emit/cpu_loops.h"
#include "core/synth/emit/frame.h"
#include "core/synth/sizes.h"
#include "core/synth/strategies/cpu_loops.h"

namespace swage::synth::cpu {
namespace {

// Writes one kernel.
class MapKernel {
 public:
  explicit MapKernel(const Instance& instance)
      : m_region(instance.region),
        m_axes(loopAxesOf(instance.region)),
        m_tile(std::min(instance.value("tile", 1), m_axes.counts.inner)),
        m_tiles(divideUp(m_axes.counts.inner, m_tile)),
        // A row that does not fill a tile is not worth the way around the caches.
        m_isStreaming(instance.value("streaming") != 0 && m_tile == instance.value("tile", 1)),
        m_writer(instance, Dialect::of(domain::Language::Cpp)),
        m_code(m_writer.code()),
        m_first(m_tiles > 1 ? m_writer.unique("first") : "0") {}

  KernelText run(const std::string& entry) {
    m_code.comment(description());
    openCppKernel(m_writer, entry);
    const bool isOne = m_axes.counts.groups * m_tiles == 1;
    if (!isOne) {
      openTiles();
    }
    tile();
    if (!isOne) {
      m_code.close();
    }
    if (m_isStreaming) {
      m_code.line("_mm_sfence();");
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::string description() const {
    const Loops& counts = m_axes.counts;
    std::string text = counts.groups == 1 ? fmt::format("{} elements", counts.inner)
                                          : fmt::format("{} rows of {} elements", counts.groups, counts.inner);
    if (m_tiles > 1) {
      text += fmt::format(" in tiles of {}, which the threads share", m_tile);
    } else if (counts.groups > 1) {
      text += ", which the threads share";
    }
    text += m_isStreaming ? ": a tile is computed in the first-level cache, then written past the caches."
                          : ": each is read once, computed in vectors and written once.";
    return text;
  }

  // One of all tiles of all rows.
  void openTiles() {
    m_code.pragma("#pragma omp parallel for schedule(static)");
    const std::int64_t inner = m_axes.counts.inner;
    if (m_axes.counts.groups == 1) {
      m_code.open("for (long long {0} = 0; {0} < {1}; {0} += {2})", m_first, inner, m_tile);
      return;
    }
    const std::string row = m_writer.unique("row");
    if (m_tiles == 1) {
      m_code.open("for (long long {0} = 0; {0} < {1}; ++{0})", row, m_axes.counts.groups);
    } else {
      const std::string tile = m_writer.unique("tile");
      m_code.open("for (long long {0} = 0; {0} < {1}; ++{0})", tile, m_axes.counts.groups * m_tiles);
      m_code.line("const long long {} = {} / {};", row, tile, m_tiles);
      m_code.line("const long long {} = {} % {} * {};", m_first, tile, m_tiles, m_tile);
    }
    m_writer.decode(row, m_axes.groups);
  }

  void tile() {
    const std::int64_t inner = m_axes.counts.inner;
    const bool isWhole = inner % m_tile == 0;
    ElementLoops loops(m_writer, m_region, m_isStreaming);
    if (m_isStreaming) {
      std::string count = std::to_string(m_tile);
      if (!isWhole) {
        count = m_writer.unique("count");
        m_code.line("const long long {} = std::min({}LL, {} - {});", count, m_tile, inner, m_first);
      }
      loops.tile(m_first, count, std::to_string(m_tile), m_writer.unique("i"));
    } else if (m_tiles == 1) {
      loops.range("0", std::to_string(inner));
    } else if (isWhole) {
      loops.range(m_first, fmt::format("{} + {}", m_first, m_tile));
    } else {
      const std::string last = m_writer.unique("last");
      m_code.line("const long long {} = std::min({} + {}, {}LL);", last, m_first, m_tile, inner);
      loops.range(m_first, last);
    }
  }

  const Region& m_region;
  LoopAxes m_axes;
  std::int64_t m_tile;
  std::int64_t m_tiles;  // of a row
  bool m_isStreaming;
  KernelWriter m_writer;
  Code& m_code;
  std::string m_first;  // element of the tile
};

class Map final : public CpuLoopStrategy {
 public:
  Map() : CpuLoopStrategy("map", Form::Map) {}

  [[nodiscard]] Example example() const override { return examples::map(); }
  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return MapKernel(instance).run(launch.step.entry);
  }
};

}  // namespace

void addMap(StrategyTable& table) {
  table.add(std::make_unique<Map>());
}

}  // namespace swage::synth::cpu
