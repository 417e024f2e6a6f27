// SPDX-License-Identifier: Apache-2.0
// Maps whose operands lie in another order than their results, such as channels last and first: tiles of these operands
// are turned in shared memory, so that reads and writes both move neighbours.
#include <algorithm>

#include "core/synth/cost_model.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cuda_loops.h"

namespace swage::synth::cuda {
namespace {

constexpr std::int64_t kMostItems = 32;  // elements of a tile for each thread

struct Turned {
  std::size_t along = 0;           // the axis in which neighbours of all results lie side by side
  std::size_t across = 0;          // that of the turned operands
  std::vector<int> loads;          // of these, prims
  std::vector<std::size_t> outer;  // the other axes
};

const Operand& operandOf(const Region& region, int load) {
  return region.operands[static_cast<std::size_t>(region.prims[static_cast<std::size_t>(load)].operand)];
}

std::optional<std::size_t> axisOfResults(const Region& region) {
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
    const bool isShared =
        std::all_of(region.elementStores.begin(), region.elementStores.end(), [&](const Store& store) {
          return region.operands[static_cast<std::size_t>(store.operand)].strides[axis] == 1;
        });
    if (isShared) {
      return axis;
    }
  }
  return std::nullopt;
}

std::optional<Turned> turnedOf(const Region& region) {
  const auto along = region.elementStores.empty() ? std::nullopt : axisOfResults(region);
  if (!along) {
    return std::nullopt;
  }
  Turned turned;
  turned.along = *along;
  for (const int load : elementLoads(region)) {
    const std::vector<std::int64_t>& strides = operandOf(region, load).strides;
    const auto axis = static_cast<std::size_t>(std::find(strides.begin(), strides.end(), 1) - strides.begin());
    if (axis < strides.size() && strides[*along] > 1 && (turned.loads.empty() || axis == turned.across)) {
      turned.across = axis;
      turned.loads.push_back(load);
    }
  }
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
    if (axis != turned.along && axis != turned.across) {
      turned.outer.push_back(axis);
    }
  }
  return turned.loads.empty() ? std::nullopt : std::optional(std::move(turned));
}

struct Tiles {
  std::int64_t along = 0;
  std::int64_t across = 0;
  std::int64_t threads = 0;

  explicit Tiles(const Instance& instance)
      : along(instance.value("along", 32)),
        across(instance.value("across", 32)),
        threads(instance.value("threads", 256)) {}
};

// Writes one kernel.
class TurnedText {
 public:
  explicit TurnedText(const Instance& instance)
      : m_region(instance.region),
        m_turned(*turnedOf(m_region)),
        m_tiles(instance),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp),
                 {"i", "tile", "outer", "a", "b", "first_a", "first_b"}),
        m_code(m_writer.code()) {}

  KernelText run(const Launch& launch) {
    const std::int64_t extentAlong = m_region.axes[m_turned.along].extent;
    const std::int64_t extentAcross = m_region.axes[m_turned.across].extent;
    const std::int64_t tilesAlong = divideUp(extentAlong, m_tiles.along);
    const std::int64_t tilesAcross = divideUp(extentAcross, m_tiles.across);
    std::vector<std::size_t> axes(m_region.axes.size());
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      axes[axis] = axis;
    }
    m_code.comment(fmt::format(
        "{} elements. Results and some operands lie in different order: a block turns tiles of {} by {} in shared "
        "memory.",
        extentsText(m_region, axes), m_tiles.along, m_tiles.across));
    openCudaKernel(m_writer, launch.step.entry, m_tiles.threads);
    for (std::size_t i = 0; i < m_turned.loads.size(); ++i) {
      const Operand& operand = operandOf(m_region, m_turned.loads[i]);
      m_names.push_back(m_writer.unique(m_writer.parameterOf(operand) + "_tile"));
      m_code.line("__shared__ {} {}[{}][{}];", m_writer.dialect().storageName(operand.dtype), m_names.back(),
                  m_tiles.along, m_tiles.across + 1);
    }
    m_code.line("const {0} tile = {1}blockIdx.x;", m_writer.index(), m_writer.index() == "int" ? "" : "(long long)");
    m_code.line("const int first_a = tile % {} * {};", tilesAlong, m_tiles.along);
    m_code.line("const int first_b = tile / {} % {} * {};", tilesAlong, tilesAcross, m_tiles.across);
    if (!m_turned.outer.empty()) {
      m_code.line("const {} outer = tile / {};", m_writer.index(), tilesAlong * tilesAcross);
      m_writer.decode("outer", m_turned.outer);
    }
    m_writer.bindAxis(m_turned.along, "a");
    m_writer.bindAxis(m_turned.across, "b");
    read();
    m_code.line("__syncthreads();");
    write();
    m_code.close();
    return m_writer.finish();
  }

 private:
  // A loop of the threads over a tile; `a` and `b` are coordinates of tensors in it. The caller closes two blocks.
  void openTile(bool isAlong) {
    const std::string fast = fmt::format("i % {}", isAlong ? m_tiles.along : m_tiles.across);
    const std::string slow = fmt::format("i / {}", isAlong ? m_tiles.along : m_tiles.across);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = threadIdx.x; i < {}; i += {})", m_tiles.along * m_tiles.across, m_tiles.threads);
    m_code.line("const int a = first_a + {};", isAlong ? fast : slow);
    m_code.line("const int b = first_b + {};", isAlong ? slow : fast);
    m_code.open("if (a < {} && b < {})", m_region.axes[m_turned.along].extent, m_region.axes[m_turned.across].extent);
  }

  void read() {
    m_code.comment("Threads side by side read neighbours of the operands,");
    openTile(false);
    for (std::size_t i = 0; i < m_turned.loads.size(); ++i) {
      m_code.line("{}[a - first_a][b - first_b] = {};", m_names[i],
                  m_writer.element(operandOf(m_region, m_turned.loads[i])));
    }
    m_code.close();
    m_code.close();
  }

  void write() {
    m_code.comment("and write neighbours of the results.");
    const KernelWriter::Scope outside = m_writer.scope();
    openTile(true);
    for (std::size_t i = 0; i < m_turned.loads.size(); ++i) {
      const domain::ScalarType type = operandOf(m_region, m_turned.loads[i]).dtype;
      m_writer.bind(m_turned.loads[i],
                    m_writer.dialect().loaded(fmt::format("{}[a - first_a][b - first_b]", m_names[i]), type));
    }
    m_writer.compute(storedPrims(m_region.elementStores));
    m_writer.store(m_region.elementStores);
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  const Region& m_region;
  Turned m_turned;
  Tiles m_tiles;
  KernelWriter m_writer;
  Code& m_code;
  std::vector<std::string> m_names;
};

class MapTurned final : public Strategy {
 public:
  MapTurned() : Strategy(domain::Language::CudaCpp, "map_turned") {}

  [[nodiscard]] Example example() const override { return examples::channelsLast(); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    return isWalkedIn(region, Form::Map) && turnedOf(region).has_value();
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const Tiles tiles(instance);
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = narrow(tiles.threads);
    launch.step.grid.x = narrow(blocks(instance.region, tiles));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return TurnedText(instance).run(launch);
  }

  [[nodiscard]] domain::Cell aims(const Instance& /*instance*/) const override {
    return {domain::DataMovement::Staged, domain::Arithmetic::Scalar, domain::Decomposition::OneLaunch};
  }

  // A pass over memory, longer where tiles are cut off or their lines are short. Not yet compared with a device.
  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    constexpr double kStart = 4.0;  // elements that a line of a tile costs beside its own
    const Tiles tiles(instance);
    const Region& region = instance.region;
    const Turned turned = *turnedOf(region);
    double bytes = 0.0;
    for (const Operand& operand : region.operands) {
      double size = static_cast<double>(domain::byteSize(operand.dtype));
      for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
        size *= operand.walksAlong(axis) ? static_cast<double>(region.axes[axis].extent) : 1.0;
      }
      bytes += size;
    }
    const auto share = [&](std::int64_t tile, std::int64_t extent) {
      const auto whole = static_cast<double>(divideUp(extent, tile) * tile);
      return static_cast<double>(extent) / whole * static_cast<double>(tile) / (static_cast<double>(tile) + kStart);
    };
    return secondsOfPass(DeviceRates::of(instance.device), bytes,
                         0.85 * share(tiles.along, region.axes[turned.along].extent) *
                             share(tiles.across, region.axes[turned.across].extent));
  }

 private:
  static std::int64_t blocks(const Region& region, const Tiles& tiles) {
    const Turned turned = *turnedOf(region);
    return divideUp(region.axes[turned.along].extent, tiles.along) *
           divideUp(region.axes[turned.across].extent, tiles.across) * positions(region, turned.outer);
  }

  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const Tiles tiles(instance);
    const Turned turned = *turnedOf(instance.region);
    const std::int64_t elements = tiles.along * tiles.across;
    if (elements % tiles.threads != 0 || elements / tiles.threads > kMostItems) {
      return unfit("threads cannot share a tile evenly");
    }
    std::int64_t bytes = 0;
    for (const int load : turned.loads) {
      bytes += tiles.along * (tiles.across + 1) *
               static_cast<std::int64_t>(domain::byteSize(operandOf(instance.region, load).dtype));
    }
    if (bytes > kMostShared) {
      return unfit("the tiles do not fit into shared memory");
    }
    if (blocks(instance.region, tiles) > kMaxGrid) {
      return unfit("there are more tiles than blocks of a grid");
    }
    const auto isWasted = [](std::int64_t tile, std::int64_t least, std::int64_t extent) {
      return tile > least && tile >= 2 * extent;
    };
    if (isWasted(tiles.along, 16, instance.region.axes[turned.along].extent) ||
        isWasted(tiles.across, 4, instance.region.axes[turned.across].extent)) {
      return unfit("half of the tile would be empty");
    }
    return {};
  }

  static constexpr std::int64_t kMostShared = 48 << 10;  // that every device gives without being asked
};

}  // namespace

void addMapTurned(StrategyTable& table) {
  table.add(std::make_unique<MapTurned>());
}

}  // namespace swage::synth::cuda
