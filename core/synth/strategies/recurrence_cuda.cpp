// SPDX-License-Identifier: Apache-2.0
// Recurrent layers in one launch whose blocks stay (Diamos et al., "Persistent RNNs", 2016): each keeps the weights of
// some units of a layer on its multiprocessor. Layers run one step behind each other, and nobody waits for all: every
// number that a block hands on says itself that it has come.
#include "core/synth/strategies/recurrence_cuda.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/synth/cost_model.h"

namespace swage::synth::cuda {
namespace {

using domain::NumericMode;

constexpr std::int64_t kMostSums = 64;        // of a thread
constexpr std::int64_t kMostUnrolled = 4096;  // multiplications in the text of one product, once it is unrolled
constexpr std::int64_t kMostScratch = std::int64_t{2} << 30;
// Cycles of a step, as measured on an H100 for 37 programs: their times are within 13 % of what these say, on average.
constexpr double kExchangeCycles = 910.0;  // until what a block wrote is in the shared memory of another
constexpr double kAddCycles = 0.55;        // of four multiplications of a warp
constexpr double kStateCycles = 3.2;       // to load four numbers of a state, which groups of lanes share
constexpr double kWeightCycles = 1.9;      // and four weights of each lane
constexpr double kGateCycles = 390.0;      // from the sums of a gate to the new state
constexpr double kMoreGateCycles = 60.0;   // of another unit of the same thread; none of them had one
constexpr double kBroughtBytes = 13.9;     // in a cycle, from other blocks to shared memory
// Of the time, for each place behind the numeric mode that is likely the nearest to eager's: more than what a parameter
// that has not its standard value counts.
constexpr double kFartherMode = 0.03;
constexpr std::int64_t kMostExactUnits = 384;
constexpr int kFirstWithTf32 = 80;  // compute capability

// How many modes are likely nearer to what cuDNN computes. It rounds inputs to TF32; states as well, but for those of
// small LSTMs, as measured on an H100 with layers of 90, 256 and 512 units.
int placeOfMode(const Instance& instance, NumericMode mode) {
  const Recurrence& recurrence = *instance.region.recurrence;
  const bool areStatesExact = recurrence.cell == CellKind::Lstm && recurrence.units <= kMostExactUnits;
  const NumericMode exact = recurrence.isStack() ? NumericMode::Tf32Inputs : NumericMode::Native;
  std::vector<NumericMode> order{NumericMode::Tf32, exact};
  if (areStatesExact) {
    std::swap(order[0], order[1]);
  }
  if (instance.device.computeCapability < kFirstWithTf32) {
    order.insert(order.begin(), NumericMode::Native);
  }
  return static_cast<int>(std::find(order.begin(), order.end(), mode) - order.begin());
}

class CudaRecurrence final : public Strategy {
 public:
  CudaRecurrence() : Strategy(domain::Language::CudaCpp, "recurrence") {}

  [[nodiscard]] Example example() const override { return examples::recurrent(); }
  [[nodiscard]] bool accepts(const Region& region) const override { return region.recurrence.has_value(); }

  // Cooperative: blocks wait for each other, so that all of them must run at once.
  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const RecurrenceTiles tiles(instance);
    Launch launch;
    launch.step.entry = entry;
    launch.step.block.x = narrow(tiles.threads);
    launch.step.grid.x = narrow(tiles.blocks());
    launch.step.dynamicSharedBytes = narrow(tiles.sharedBytes());
    launch.step.cooperative = true;
    launch.scratch.push_back(domain::contiguousTensor(domain::ScalarType::Int32, {tiles.exchanged()}));
    launch.zeroScratch = true;
    for (const PlacedByArgument& each : placedByArguments(tiles.recurrence)) {
      launch.numbers.push_back(each.first);
    }
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch, int number) const override {
    return writeRecurrence(instance, launch.step.entry, number);
  }

  // Steps one after another: of each the products, what blocks bring to shared memory, the gates, and the way to the
  // other blocks. Blocks on one multiprocessor share what it can do.
  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const RecurrenceTiles tiles(instance);
    const DeviceRates device = DeviceRates::of(instance.device);
    const auto together = static_cast<double>(tiles.together());
    const double warps = together * static_cast<double>(tiles.threads) / 32.0;
    const auto product = [&](bool ofInputs) {
      const auto adds = static_cast<double>(tiles.weightsEach() * tiles.sequences) / 4.0;
      // Up to eight lanes load what lies in all banks once.
      const double states =
          static_cast<double>(tiles.steps * tiles.sequences) * std::max(1.0, static_cast<double>(tiles.lanes) / 8.0);
      const auto weights = tiles.isInRegisters(ofInputs) ? 0.0 : static_cast<double>(tiles.rowsEach * tiles.steps);
      return warps * (adds * kAddCycles + states * kStateCycles + weights * kWeightCycles);
    };
    const double bring = together * static_cast<double>(tiles.sequences * tiles.recurrence.units) * 4.0 / kBroughtBytes;
    const auto gates = static_cast<double>(gateCount(tiles.recurrence.cell)) *
                       (kGateCycles + kMoreGateCycles * static_cast<double>(tiles.owned - 1));
    const double step =
        kExchangeCycles + gates + product(false) + bring + (tiles.hasInputs ? product(true) + bring : 0.0);
    const auto steps = static_cast<double>(tiles.recurrence.steps + std::ssize(tiles.recurrence.layers));
    const double farther = kFartherMode * static_cast<double>(placeOfMode(instance, tiles.mode));
    return (device.launchSeconds + steps * step / device.cyclesPerSecond) * (1.0 + farther);
  }

  // Without layers that multiply their inputs, it makes no difference where their weights stay, or whether they are
  // rounded.
  void normalise(const Instance& instance, Parameters& parameters) const override {
    if (!instance.region.recurrence->isStack() && parameters["kept"] == 2) {
      parameters["kept"] = 1;
    }
    if (!instance.region.recurrence->isStack() && parameters["mode"] == 4) {
      parameters["mode"] = 0;
    }
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const RecurrenceTiles tiles(instance);
    const Recurrence& recurrence = tiles.recurrence;
    if (tiles.units >= 2 * recurrence.units || tiles.parts > recurrence.batch ||
        (tiles.lanes > 4 && tiles.lanes * 2 >= recurrence.units)) {
      return unfit("a layer is too small for that");
    }
    if (tiles.groups * tiles.rowsEach > 2 * tiles.rows) {
      return unfit("most threads would have nothing to do");
    }
    if (tiles.sumsEach() > kMostSums ||
        (tiles.kept != Kept::Shared && tiles.weightsEach() * tiles.sequences > kMostUnrolled)) {
      return unfit("weights and sums do not fit into registers");
    }
    if (tiles.sharedBytes() > instance.device.sharedBytesPerBlock) {
      return unfit("states, sums and weights do not fit into shared memory");
    }
    if (tiles.exchanged() * 4 > kMostScratch) {
      return unfit("the states of all steps need too much memory");
    }
    // The compiler is told how many there are together, and so keeps to these registers.
    const std::int64_t atOnce =
        blocksAtOnce(DeviceRates::of(instance.device), roundUp(tiles.threads, 128), 1, tiles.sharedBytes());
    if (tiles.together() > atOnce || tiles.registers() > tiles.registersThere()) {
      return unfit("so many blocks do not run at once");
    }
    return {};
  }
};

}  // namespace

std::vector<PlacedByArgument> placedByArguments(const Recurrence& recurrence) {
  std::vector<PlacedByArgument> found;
  for (PlacedByArgument each : {PlacedByArgument{"initial_at", &RecurrentLayer::initial},
                                PlacedByArgument{"cell_at", &RecurrentLayer::initialCell}}) {
    const Placed& placed = recurrence.layers.front().*each.member;
    if (!recurrence.isStack() && placed.isThere()) {
      each.first = placed.offset;
      found.push_back(each);
    }
  }
  return found;
}

void addRecurrence(StrategyTable& table) {
  table.add(std::make_unique<CudaRecurrence>());
}

}  // namespace swage::synth::cuda
