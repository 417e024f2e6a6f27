// SPDX-License-Identifier: Apache-2.0
// Products on tensor cores by mma.sync (compute capability 8.0 and later). A block brings tiles of both operands into
// shared memory, several steps ahead of the multiplication (cp.async); warps take them from there in matrices of 8 by 8
// (ldmatrix). Floats are split into shorter numbers by passes before the product (product_parts.h).
//
// Tensor cores cut off the low bits of what they add up, so over a long depth errors grow with it; after every
// `promote` of the depth the sum goes into one in float, by ordinary additions (Ootomo and Yokota, "Recovering single
// precision accuracy from Tensor Cores", 2022). The smaller products have sums of their own, which lose nothing to the
// large one.
#include "core/synth/strategies/product_mma.h"

#include <algorithm>

#include "core/synth/cost_model.h"
#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kFirstCapability = 80;
constexpr std::int64_t kRegistersOfThread = 255;
constexpr std::int64_t kRegistersOfBlock = 65536;

class CudaMmaProduct final : public Strategy {
 public:
  CudaMmaProduct() : Strategy(domain::Language::CudaCpp, "product_mma") {}

  [[nodiscard]] Example example() const override { return examples::linear(); }
  [[nodiscard]] bool accepts(const Region& region) const override {
    return productShape(region).has_value() && !region.hasBounds() && !region.hasRole(AxisRole::Window);
  }

  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const MmaTiles tiles(instance);
    const ProductShape shape = *productShape(instance.region);
    std::vector<domain::KernelStep> steps;
    Launch launch;
    for (const OperandParts::Side side : {OperandParts::Side::Left, OperandParts::Side::Right}) {
      if (const MmaSource source = mmaSource(instance.region, shape, tiles, side); source.parts) {
        steps.push_back(source.parts->step(entry + (side == OperandParts::Side::Left ? "_left" : "_right")));
        for (domain::TensorType& buffer : source.parts->scratch()) {
          launch.scratch.push_back(std::move(buffer));
        }
      }
    }
    domain::KernelStep product;
    product.entry = entry;
    product.block.x = static_cast<std::uint32_t>(tiles.threads());
    const std::int64_t blocks = mmaBlocks(shape, tiles);
    product.grid.x = static_cast<std::uint32_t>(tiles.isPersistent ? instance.device.multiprocessors : blocks);
    product.dynamicSharedBytes = static_cast<std::uint32_t>(tiles.stages * tiles.stageBytes());
    steps.push_back(std::move(product));
    launch.step = std::move(steps.front());
    launch.more.assign(steps.begin() + 1, steps.end());
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return writeMmaProduct(instance, launch);
  }

  [[nodiscard]] domain::Cell aims(const Instance& instance) const override {
    const MmaTiles tiles(instance);
    const ProductShape shape = *productShape(instance.region);
    const bool hasPass = mmaSource(instance.region, shape, tiles, OperandParts::Side::Left).parts ||
                         mmaSource(instance.region, shape, tiles, OperandParts::Side::Right).parts;
    domain::Cell cell;
    cell.movement = domain::DataMovement::Pipelined;
    cell.arithmetic = domain::Arithmetic::TensorCore;
    cell.decomposition = tiles.isPersistent ? domain::Decomposition::InterBlock
                         : hasPass          ? domain::Decomposition::SeveralLaunches
                                            : domain::Decomposition::OneLaunch;
    return cell;
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override;

  // A promotion at the end is one, however far it was.
  void normalise(const Instance& instance, Parameters& parameters) const override {
    const ProductShape shape = *productShape(instance.region);
    for (const std::int64_t promote : {32, 64, 128}) {
      if (promote >= shape.depthCount && parameters["promote"] > promote && parameters["tile_depth"] <= promote) {
        parameters["promote"] = promote;
      }
    }
  }

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const override {
    const MmaTiles tiles(instance);
    const ProductShape shape = *productShape(instance.region);
    if (instance.device.computeCapability < kFirstCapability) {
      return unfit("the device copies nothing past its registers, or has no tensor cores for it");
    }
    SWAGE_TRY(fitsOperands(instance.region, shape, tiles));
    if (tiles.rows % tiles.warpRows != 0 || tiles.columns % tiles.warpColumns != 0 || tiles.threads() < 64 ||
        tiles.threads() > 512) {
      return unfit("a block has 2 to 16 warps");
    }
    if (tiles.registers() > std::min(kRegistersOfThread, kRegistersOfBlock / tiles.threads())) {
      return unfit("the sums of a thread do not fit into its registers");
    }
    if (tiles.stages * tiles.stageBytes() > instance.device.sharedBytesPerBlock) {
      return unfit("the tiles do not fit into shared memory");
    }
    if (divideUp(shape.depthCount, tiles.depth) < tiles.stages - 1) {
      return unfit("there are more stages than steps");
    }
    if (tiles.isPersistent && mmaBlocks(shape, tiles) <= instance.device.multiprocessors) {
      return unfit("every block has one tile");
    }
    if (mmaBlocks(shape, tiles) > kMaxGrid || shape.depthCount > kMaxGrid ||
        shape.batchCount * (std::max(shape.rowCount, shape.columnCount) + tiles.rows + tiles.columns) > kMaxGrid) {
      return unfit("there are more tiles than blocks of a grid");
    }
    return {};
  }

  [[nodiscard]] Result<> fitsOperands(const Region& region, const ProductShape& shape, const MmaTiles& tiles) const {
    const Operand* left = shortOperand(region, shape.left);
    const Operand* right = shortOperand(region, shape.right);
    const bool areShort = left != nullptr && right != nullptr && left->dtype == right->dtype;
    if (areShort == tiles.isSplit()) {
      return unfit(areShort ? "its operands need not be split" : "its operands are no halves of one type");
    }
    for (const int side : {shape.left, shape.right}) {
      if (region.prims[static_cast<std::size_t>(side)].type != Compute::F32) {
        return unfit("it multiplies numbers that have more bits than a float");
      }
    }
    if (tiles.isSplit() && tiles.promote == 0) {
      return unfit("tensor cores would lose what the splitting keeps");
    }
    return {};
  }
};

std::optional<double> CudaMmaProduct::estimate(const Instance& instance) const {
  // Measured on an H100.
  constexpr double kReached = 0.68;
  constexpr double kStored = 2.2;      // times the bytes of results: pairs of them are parts of lines of memory
  constexpr double kPerResult = 12.0;  // instructions, from sums to memory
  constexpr std::int64_t kOther = 20;  // registers that the compiler takes beyond what must be
  constexpr double kFewWarps = 8.0;    // below which nothing hides the waits of one
  const MmaTiles tiles(instance);
  const ProductShape shape = *productShape(instance.region);
  const DeviceRates device = DeviceRates::of(instance.device);
  const std::int64_t registers = std::min(kRegistersOfThread, tiles.registers() + kOther);
  const std::int64_t atOnce =
      std::max<std::int64_t>(1, blocksAtOnce(device, tiles.threads(), registers, tiles.stages * tiles.stageBytes()));
  const auto results = static_cast<double>(tiles.rows * tiles.columns);
  const auto depth = static_cast<double>(tiles.depth);
  const auto warps = static_cast<double>(tiles.threads()) / 32.0;
  const double hidden =
      std::min(1.0, static_cast<double>(atOnce) * warps / kFewWarps) * (tiles.stages == 2 && atOnce == 1 ? 0.8 : 1.0);
  const double products = results * depth * static_cast<double>(partPairs(tiles.mode).size()) /
                          std::max(device.each.halfAdds * kReached * hidden, 1.0);
  const double reads = warps * static_cast<double>((tiles.warpRows + tiles.warpColumns) * tiles.parts()) * depth * 2.0 /
                       device.each.sharedBytes;
  const double copies = static_cast<double>(tiles.stageBytes()) / device.each.cacheBytes;
  const double promotions = tiles.isPromoted() ? results * 2.0 / device.each.floatAdds * depth /
                                                     static_cast<double>(std::max(tiles.promote, tiles.depth))
                                               : 0.0;
  BlockWork work;
  work.count = mmaBlocks(shape, tiles);
  work.cycles = static_cast<double>(divideUp(shape.depthCount, tiles.depth)) *
                    (std::max({products, reads, copies}) + promotions) +
                results * kPerResult / device.each.floatAdds;
  work.bytes = kStored * results * static_cast<double>(bytesOfResult(instance.region, shape));
  work.hidesMemory = atOnce > 1;
  double seconds = device.launchSeconds + secondsOf(device, work);
  for (const OperandParts::Side side : {OperandParts::Side::Left, OperandParts::Side::Right}) {
    if (const MmaSource source = mmaSource(instance.region, shape, tiles, side); source.parts) {
      constexpr double kPassReached = 0.6;  // of two reads, the second mostly from a cache
      const double bytes = 2.0 * static_cast<double>(bytesOfElement(instance.region, source.prim) + tiles.parts());
      seconds += secondsOfPass(device, bytes * static_cast<double>(source.parts->planeElements()), kPassReached);
    }
  }
  return seconds;
}

}  // namespace

const Operand* shortOperand(const Region& region, int prim) {
  const Prim& self = region.prims[static_cast<std::size_t>(prim)];
  if (self.kind != Prim::Kind::Load) {
    return nullptr;
  }
  const Operand& operand = region.operands[static_cast<std::size_t>(self.operand)];
  const bool isShort = operand.dtype == domain::ScalarType::Float16 || operand.dtype == domain::ScalarType::BFloat16;
  return isShort ? &operand : nullptr;
}

bool hasPieces(const Region& region, const Operand& operand, const std::vector<std::size_t>& along) {
  constexpr std::int64_t kPiece = 8;  // numbers in 16 bytes
  if (along.empty() || operand.offset % kPiece != 0 || operand.strides[along.back()] != 1 ||
      region.axes[along.back()].extent % kPiece != 0) {
    return false;
  }
  for (std::size_t axis = 0; axis < region.axes.size(); ++axis) {
    if (axis != along.back() && operand.strides[axis] % kPiece != 0) {
      return false;
    }
  }
  return true;
}

MmaSource mmaSource(const Region& region, const ProductShape& shape, const MmaTiles& tiles, OperandParts::Side side) {
  const bool isLeft = side == OperandParts::Side::Left;
  MmaSource source{isLeft ? "row" : "column",
                   isLeft ? "rows" : "columns",
                   isLeft ? &shape.rows : &shape.columns,
                   isLeft ? shape.rowCount : shape.columnCount,
                   isLeft ? tiles.rows : tiles.columns,
                   isLeft ? tiles.warpRows : tiles.warpColumns,
                   isLeft ? shape.left : shape.right,
                   nullptr,
                   std::nullopt,
                   {},
                   {}};
  const Operand* operand = shortOperand(region, source.prim);
  const bool isWhole = operand != nullptr && !tiles.isSplit();
  if (isWhole && hasPieces(region, *operand, shape.depth)) {
    source.operand = operand;
  } else if (isWhole && hasPieces(region, *operand, *source.axes)) {
    source.operand = operand;
    source.isAlongDepth = false;
  } else {
    const domain::ScalarType native = operand != nullptr ? operand->dtype : domain::ScalarType::Float16;
    source.parts.emplace(region, shape, side, partFormat(tiles.mode, native),
                         OperandParts::Padding{source.tile, tiles.depth});
    source.isAlongDepth = source.parts->isAlongDepth();
  }
  return source;
}

std::int64_t mmaBlocks(const ProductShape& shape, const MmaTiles& tiles) {
  return divideUp(shape.columnCount, tiles.columns) * divideUp(shape.rowCount, tiles.rows) * shape.batchCount;
}

std::string describeMma(const Region& region, const ProductShape& shape, const MmaTiles& tiles) {
  const std::string way = tiles.mode == ProductMode::Native   ? "in one product"
                          : tiles.mode == ProductMode::Fp16x3 ? "as high * high + (low * high + high * low) / 2048"
                                                              : "as six products of the three parts of each number";
  const std::string promoted =
      tiles.promote > 0
          ? fmt::format(
                " Tensor cores cut off low bits when they add, so after every {} their sums go into sums in float.",
                tiles.promote)
          : "";
  return fmt::format(
      "A product of {} by {}, summed over {}{}, on tensor cores {}. A block makes a tile of {} by {}, each warp {} by "
      "{} "
      "of it; tiles of {} of the sum are copied into shared memory {} ahead.{}",
      shape.rowCount, shape.columnCount, extentsText(region, shape.depth),
      shape.batchCount > 1 ? fmt::format(", {} times", shape.batchCount) : "", way, tiles.rows, tiles.columns,
      tiles.warpRows, tiles.warpColumns, tiles.depth,
      tiles.stages == 2 ? "a step" : fmt::format("{} steps", tiles.stages - 1), promoted);
}

void addCudaMmaProduct(StrategyTable& table) {
  table.add(std::make_unique<CudaMmaProduct>());
}

}  // namespace swage::synth
