// SPDX-License-Identifier: Apache-2.0
// Convolutions as products on tensor cores by mma.sync (compute capability 8.0 and later): rows are positions of the
// result, columns its channels, and the depth is channels of the input times places of the window. The input is read
// as it lies, NCHW or another; threads side by side read neighbouring positions. Each thread keeps its positions for
// the whole sum, so that of an address and of what lies outside only what depends on the place in the window is left:
// a table in shared memory.
//
// Floats become halves on the way through registers. Their scale is 1; where a tile turns out to have a largest
// magnitude outside of 2^-2 to 2^15, it is made again with a scale from that. Weights are shortened by a pass before
// (product_parts.h), with a scale for each channel.
#include "core/synth/strategies/conv_mma.h"

#include <algorithm>
#include <cstdlib>

#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kFirstCapability = 80;
constexpr std::int64_t kRegistersOfThread = 255;
constexpr std::int64_t kRegistersOfBlock = 65536;
constexpr std::int64_t kMostGathered = 64;  // elements in registers of a thread
constexpr std::int64_t kTapBytes = 8;       // of an entry of the table
constexpr std::int64_t kHalvesPerPiece = 8;
constexpr std::int64_t kLinesOfPass = 32;  // that a block of the pass over the weights may have

const Prim& primAt(const Region& region, int prim) {
  return region.prims[static_cast<std::size_t>(prim)];
}

bool isShort(domain::ScalarType type) {
  return type == domain::ScalarType::Float16 || type == domain::ScalarType::BFloat16;
}

// Channels of the input that a result reads: folded axes that no window slides over.
std::int64_t inputChannels(const Region& region) {
  return positions(region, axesOf(region, AxisRole::K));
}

// The part of the sum that is left where phases have nothing of the rest, on average.
double keptShare(const ConvProblem& problem) {
  const Region& region = problem.region();
  double share = 1.0;
  for (const Bound& bound :
       region.operands[static_cast<std::size_t>(primAt(region, problem.shape().right).operand)].bounds) {
    double all = 1.0;
    for (std::size_t axis = 0; axis < bound.factors.size(); ++axis) {
      all *= bound.factors[axis] != 0 ? static_cast<double>(region.axes[axis].extent) : 1.0;
    }
    share *= static_cast<double>(bound.extent) / all;
  }
  return share;
}

// No value: it is computed, or lies so that ConvInput cannot say how.
std::optional<ConvInput> convInput(const Region& region, const ProductShape& shape) {
  const Prim& left = primAt(region, shape.left);
  if (left.kind != Prim::Kind::Load) {
    return std::nullopt;
  }
  const Operand& operand = region.operands[static_cast<std::size_t>(left.operand)];
  if (operand.dtype != domain::ScalarType::Float32 && !isShort(operand.dtype)) {
    return std::nullopt;
  }
  ConvInput input{&operand, operand.strides, operand.offset, {}};
  int bit = 0;
  for (const Bound& bound : operand.bounds) {
    ConvEdge edge{&bound, std::nullopt, 1, bit};
    for (const std::size_t axis : shape.depth) {
      if (bound.factors[axis] != 0 && edge.window) {
        return std::nullopt;
      }
      if (bound.factors[axis] != 0) {
        edge.window = axis;
        edge.places = region.axes[axis].extent;
      }
    }
    bit += static_cast<int>(std::min<std::int64_t>(edge.places, ConvInput::kEdgeBits + 1));
    if (bound.divisor != 1 || bit > ConvInput::kEdgeBits || operand.fill != 0.0) {
      return std::nullopt;
    }
    input.offset += bound.offset * bound.stride;
    for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
      input.factors[axis] += bound.factors[axis] * bound.stride;
    }
    input.edges.push_back(edge);
  }
  std::int64_t reach = 0;
  for (const std::size_t axis : shape.depth) {
    reach += (region.axes[axis].extent - 1) * std::abs(input.factors[axis]);
  }
  return reach <= kLargestInt ? std::optional(std::move(input)) : std::nullopt;
}

class ConvMma final : public Strategy {
 public:
  ConvMma() : Strategy(domain::Language::CudaCpp, "conv_mma") {}

  [[nodiscard]] Example example() const override { return examples::convolution(); }
  [[nodiscard]] bool isForConvolutions() const override { return true; }
  [[nodiscard]] bool accepts(const Region& region) const override { return ConvProblem::of(region).has_value(); }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const ConvTiles tiles(instance);
    const ConvProblem problem = *ConvProblem::of(instance.region);
    const OperandParts weights = convWeights(problem, tiles);
    Launch launch;
    launch.step = weights.step(entry + "_weights");
    launch.scratch = weights.scratch();
    domain::KernelStep conv;
    conv.entry = entry;
    conv.block.x = static_cast<std::uint32_t>(tiles.threads());
    conv.grid.x = static_cast<std::uint32_t>(convBlocks(problem.shape(), tiles));
    conv.dynamicSharedBytes = static_cast<std::uint32_t>(convSharedBytes(problem, tiles));
    launch.more.push_back(std::move(conv));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return writeConv(instance, launch);
  }

  [[nodiscard]] domain::Cell aims(const Instance& /*instance*/) const override {
    return {domain::DataMovement::Pipelined, domain::Arithmetic::TensorCore, domain::Decomposition::SeveralLaunches};
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override;

  // Sums of one product stay where they are: halves have fewer bits than tensor cores keep.
  void normalise(const Instance& instance, Parameters& parameters) const override {
    if (!ConvTiles(instance).isExact()) {
      parameters["promote"] = instance.pattern.parameter("promote")->values.front();
    }
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const ConvTiles tiles(instance);
    if (instance.device.computeCapability < kFirstCapability) {
      return unfit("the device copies nothing past its registers, or has no tensor cores for it");
    }
    SWAGE_TRY(fitsTiles(tiles));
    const ConvProblem problem = *ConvProblem::of(instance.region);
    const ProductShape& shape = problem.shape();
    SWAGE_TRY(fitsNumbers(problem, tiles));
    if (convSharedBytes(problem, tiles) > instance.device.sharedBytesPerBlock) {
      return unfit("tiles and table do not fit into shared memory");
    }
    if (convBlocks(shape, tiles) > kLargestInt || shape.rowCount + tiles.rows > kLargestInt ||
        shape.depthCount > kLargestInt) {
      return unfit("there are more tiles than blocks of a grid");
    }
    // A tile that is mostly empty is never the best one.
    if ((tiles.columns > 16 && tiles.columns >= 2 * shape.columnCount) ||
        (tiles.rows > 64 && tiles.rows >= 2 * shape.rowCount)) {
      return unfit("half of the tile would be empty");
    }
    if (!convWeights(problem, tiles).isAlongDepth()) {
      return unfit("the channels of its weights are neighbours in memory");
    }
    return {};
  }

  [[nodiscard]] Result<> fitsTiles(const ConvTiles& tiles) const {
    if (tiles.rows % tiles.warpRows != 0 || tiles.columns % tiles.warpColumns != 0 || tiles.threads() < 64 ||
        tiles.threads() > 512) {
      return unfit("a block has 2 to 16 warps");
    }
    if (tiles.depth / kHalvesPerPiece % tiles.pieceGroups() != 0 ||
        tiles.rows * tiles.depth / tiles.threads() > kMostGathered) {
      return unfit("threads cannot share the gathering evenly");
    }
    if (tiles.isExact() && tiles.promote % tiles.depth != 0) {
      return unfit("it adds up in float after whole steps only");
    }
    if (tiles.registers() > kRegistersOfThread || tiles.threads() * tiles.registers() > kRegistersOfBlock) {
      return unfit("its sums do not fit into registers");
    }
    return {};
  }

  [[nodiscard]] Result<> fitsNumbers(const ConvProblem& problem, const ConvTiles& tiles) const {
    const Region& region = problem.region();
    const domain::ScalarType left = problem.input().operand->dtype;
    const Prim& weight = primAt(region, problem.shape().right);
    if (weight.type != Compute::F32) {
      return unfit("it multiplies numbers that have more bits than a float");
    }
    if (isShort(left) == tiles.isSplit()) {
      return unfit(tiles.isSplit() ? "its operands need not be split" : "its operands are no halves of one type");
    }
    if (isShort(left) &&
        (weight.kind != Prim::Kind::Load || region.operands[static_cast<std::size_t>(weight.operand)].dtype != left)) {
      return unfit("its operands are no halves of one type");
    }
    return {};
  }
};

// Bounds of the throughput of a multiprocessor, of which the tightest counts. On an H100 the first choice of 17
// convolutions took at most 1.4 times as long as the best of ten.
std::optional<double> ConvMma::estimate(const Instance& instance) const {
  // Instructions of a thread, as counted in machine code for sm_90a.
  constexpr double kPerGathered = 8.5;  // for an element of a tile: table, edges, load, magnitude, shorten
  constexpr double kPerRest = 4.0;      // more for its low part
  constexpr double kPerMatrices = 3.0;  // for 16 by 16 of a tile, taken from shared memory
  constexpr double kPerStep = 20.0;
  constexpr double kIssued = 4.0;         // of warps, in a cycle
  constexpr double kHmma = 2048.0;        // products of one instruction
  constexpr double kPerResult = 16.0;     // instructions, from sums to memory
  constexpr std::int64_t kOther = 12;     // registers that the compiler takes beyond what must be
  constexpr double kReachedByPass = 0.3;  // of the rate of memory
  constexpr double kFewWarps = 8.0;       // below which nothing hides the waits of one
  constexpr double kStepWaits = 1500.0;   // cycles from the loads of a step to its end, which other blocks may hide
  const ConvTiles tiles(instance);
  const ConvProblem problem = *ConvProblem::of(instance.region);
  const Region& region = problem.region();
  const ProductShape& shape = problem.shape();
  const DeviceRates device = DeviceRates::of(instance.device);
  const std::int64_t registers = std::min(kRegistersOfThread, tiles.registers() + kOther);
  const std::int64_t atOnce =
      std::max<std::int64_t>(1, blocksAtOnce(device, tiles.threads(), registers, convSharedBytes(problem, tiles)));
  const auto results = static_cast<double>(tiles.rows * tiles.columns);
  const auto gathered = static_cast<double>(tiles.rows * tiles.depth);
  const auto depth = static_cast<double>(tiles.depth);
  const auto parts = static_cast<double>(tiles.parts());
  const auto warps = static_cast<double>(tiles.threads()) / 32.0;
  const double hidden = std::min(1.0, static_cast<double>(atOnce) * warps / kFewWarps) * (atOnce == 1 ? 0.6 : 0.8);
  const double products =
      results * depth * static_cast<double>(partPairs(tiles.mode).size()) / std::max(device.each.halfAdds, 1.0);
  const double reads = warps * static_cast<double>(tiles.warpRows + tiles.warpColumns) * parts * depth * 2.0;
  const double writes = parts * static_cast<double>(tiles.leftBytes() + tiles.rightBytes());
  // Of what lies in the first-level cache, and of the table, a line at a time for 32 elements.
  const double shared = (reads + writes) / device.each.sharedBytes + gathered / 32.0 * 2.5;
  const double matrices = static_cast<double>((tiles.warpRows + tiles.warpColumns) / 16) * parts * depth / 16.0;
  const double ofWarp = gathered / 32.0 / warps * (kPerGathered + kPerRest * (parts - 1.0)) + matrices * kPerMatrices +
                        results / warps * depth * static_cast<double>(partPairs(tiles.mode).size()) / kHmma + kPerStep;
  const double issue = warps * ofWarp / kIssued;
  const double promotions = tiles.isExact() ? results * 2.0 / device.each.floatAdds * depth /
                                                  static_cast<double>(std::max(tiles.promote, tiles.depth))
                                            : 0.0;
  const double kept = keptShare(problem);
  const double steps = std::max(1.0, kept * static_cast<double>(divideUp(shape.depthCount, tiles.depth)));
  BlockWork work;
  work.count = convBlocks(shape, tiles);
  const auto beside = static_cast<double>(std::min(atOnce, divideUp(work.count, device.multiprocessors)));
  const double ofStep = std::max(std::max({products, shared, issue}) / hidden, kStepWaits / beside);
  work.cycles = steps * (ofStep + promotions) + results * kPerResult / device.each.floatAdds;
  const double channels = static_cast<double>(inputChannels(region));
  // Times the bytes of results: parts of sectors.
  const ResultRows rows =
      resultRows(region.operands[static_cast<std::size_t>(region.groupStores.front().operand)], shape.rows.back());
  const double stored = rows == ResultRows::InSectors ? 1.5 : rows == ResultRows::Anywhere ? 3.0 : 5.0;
  work.bytes = stored * results * static_cast<double>(bytesOfResult(region, shape)) +
               static_cast<double>(tiles.rows) * channels * static_cast<double>(bytesOfElement(region, shape.left));
  work.hidesMemory = atOnce > 1;
  const OperandParts weights = convWeights(problem, tiles);
  return device.launchSeconds + secondsOf(device, work) +
         secondsOfPass(device, 8.0 * static_cast<double>(weights.planeElements()), kReachedByPass);
}

}  // namespace

std::optional<ConvProblem> ConvProblem::of(const Region& region) {
  ConvProblem problem;
  problem.m_original = &region;
  const bool hasDivisors = std::any_of(region.operands.begin(), region.operands.end(), [](const Operand& operand) {
    return std::any_of(operand.bounds.begin(), operand.bounds.end(),
                       [](const Bound& bound) { return bound.divisor != 1; });
  });
  if (hasDivisors && !(problem.m_dense = denseRegion(region))) {
    return std::nullopt;
  }
  const Region& dense = problem.region();
  auto shape = productShape(dense);
  if (problem.m_dense && shape && primAt(dense, shape->right).kind != Prim::Kind::Load) {
    return std::nullopt;
  }
  auto input = shape ? convInput(dense, *shape) : std::nullopt;
  if (!input || shape->rows.empty() || shape->columns.empty()) {
    return std::nullopt;
  }
  const bool isMatrix =
      !dense.hasRole(AxisRole::Window) && !dense.hasBounds() &&
      (isContiguousAlong(dense, shape->left, shape->depth) || !isContiguousAlong(dense, shape->left, shape->rows));
  if (isMatrix) {
    return std::nullopt;
  }
  if (problem.m_dense) {
    // So that what a phase has nothing of is a step by itself.
    std::stable_partition(shape->depth.begin(), shape->depth.end(),
                          [&](std::size_t axis) { return dense.axes[axis].role == AxisRole::Window; });
  }
  problem.m_shape = std::move(*shape);
  problem.m_input = std::move(*input);
  return problem;
}

std::span<const Bound> ConvProblem::results() const {
  return m_dense ? std::span<const Bound>(m_dense->results) : std::span<const Bound>();
}

bool rowsStartAt(const Operand& operand, std::initializer_list<std::size_t> across, std::int64_t count) {
  bool is = operand.offset % count == 0;
  for (std::size_t axis = 0; axis < operand.strides.size(); ++axis) {
    is = is && (std::ranges::count(across, axis) > 0 || operand.strides[axis] % count == 0);
  }
  return is;
}

ResultRows resultRows(const Operand& out, std::size_t across) {
  constexpr std::int64_t kSector = 32;  // bytes
  if (out.strides[across] != 1) {
    return ResultRows::Apart;
  }
  const std::int64_t count = kSector / static_cast<std::int64_t>(domain::byteSize(out.dtype));
  return rowsStartAt(out, {across}, count) ? ResultRows::InSectors : ResultRows::Anywhere;
}

OperandParts convWeights(const ConvProblem& problem, const ConvTiles& tiles) {
  const PartFormat format = partFormat(tiles.mode, problem.input().operand->dtype);
  return {problem.region(),
          problem.shape(),
          OperandParts::Side::Right,
          format,
          {std::max<std::int64_t>(tiles.columns, kLinesOfPass), tiles.depth}};
}

std::int64_t convDepth(const ProductShape& shape, const ConvTiles& tiles) {
  return divideUp(shape.depthCount, tiles.depth) * tiles.depth;
}

std::int64_t convSharedBytes(const ConvProblem& problem, const ConvTiles& tiles) {
  const std::int64_t depth = convDepth(problem.shape(), tiles);
  const std::int64_t order = problem.hasPhases() ? depth / tiles.depth + 1 : 0;
  return 2 * tiles.stageBytes() + depth * kTapBytes + order * 4;
}

std::int64_t convBlocks(const ProductShape& shape, const ConvTiles& tiles) {
  return divideUp(shape.columnCount, tiles.columns) * divideUp(shape.rowCount, tiles.rows) * shape.batchCount;
}

void addConvMma(StrategyTable& table) {
  table.add(std::make_unique<ConvMma>());
}

}  // namespace swage::synth
