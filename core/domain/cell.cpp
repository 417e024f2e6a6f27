// SPDX-License-Identifier: Apache-2.0
#include "core/domain/cell.h"

#include <algorithm>

#include "core/base/assert.h"

namespace swage::domain {
namespace {

constexpr int kArithmetics = 3;
constexpr int kDecompositions = 3;
constexpr int kMovements = kCellCount / kArithmetics / kDecompositions;

Decomposition decompositionOf(const std::vector<KernelFacts>& kernels, int launchCount) {
  if (std::any_of(kernels.begin(), kernels.end(), [](const KernelFacts& kernel) { return kernel.interBlock; })) {
    return Decomposition::InterBlock;
  }
  return launchCount == 1 ? Decomposition::OneLaunch : Decomposition::SeveralLaunches;
}

}  // namespace

int Cell::index() const {
  return (static_cast<int>(movement) * kArithmetics + static_cast<int>(arithmetic)) * kDecompositions +
         static_cast<int>(decomposition);
}

Cell Cell::fromIndex(int index) {
  SWAGE_ASSERT(index >= 0 && index < kCellCount);
  return {static_cast<DataMovement>(index / (kArithmetics * kDecompositions)),
          static_cast<Arithmetic>(index / kDecompositions % kArithmetics),
          static_cast<Decomposition>(index % kDecompositions)};
}

std::string Cell::name() const {
  std::string text = "A0B0C0";
  text[1] = static_cast<char>('0' + static_cast<int>(movement));
  text[3] = static_cast<char>('0' + static_cast<int>(arithmetic));
  text[5] = static_cast<char>('0' + static_cast<int>(decomposition));
  return text;
}

std::optional<Cell> Cell::parse(std::string_view text) {
  if (text.size() != 6 || text[0] != 'A' || text[2] != 'B' || text[4] != 'C') {
    return std::nullopt;
  }
  const int a = text[1] - '0';
  const int b = text[3] - '0';
  const int c = text[5] - '0';
  if (a < 0 || a >= kMovements || b < 0 || b >= kArithmetics || c < 0 || c >= kDecompositions) {
    return std::nullopt;
  }
  return Cell{static_cast<DataMovement>(a), static_cast<Arithmetic>(b), static_cast<Decomposition>(c)};
}

std::string_view describe(DataMovement value) {
  switch (value) {
    case DataMovement::Direct: return "direct";
    case DataMovement::Wide: return "wide vector";
    case DataMovement::Staged: return "staged";
    case DataMovement::Pipelined: return "asynchronous pipeline";
  }
  return "unknown";
}

std::string_view describe(Arithmetic value) {
  switch (value) {
    case Arithmetic::Scalar: return "scalar";
    case Arithmetic::Packed: return "packed or collective";
    case Arithmetic::TensorCore: return "matrix unit";
  }
  return "unknown";
}

std::string_view describe(Decomposition value) {
  switch (value) {
    case Decomposition::SeveralLaunches: return "several launches";
    case Decomposition::OneLaunch: return "one launch";
    case Decomposition::InterBlock: return "inter-block";
  }
  return "unknown";
}

std::vector<Cell> neighbours(const Cell& cell) {
  std::vector<Cell> found;
  const int a = static_cast<int>(cell.movement);
  const int b = static_cast<int>(cell.arithmetic);
  const int c = static_cast<int>(cell.decomposition);
  for (const int step : {-1, 1}) {
    if (a + step >= 0 && a + step < kMovements) {
      found.push_back({static_cast<DataMovement>(a + step), cell.arithmetic, cell.decomposition});
    }
    if (b + step >= 0 && b + step < kArithmetics) {
      found.push_back({cell.movement, static_cast<Arithmetic>(b + step), cell.decomposition});
    }
    if (c + step >= 0 && c + step < kDecompositions) {
      found.push_back({cell.movement, cell.arithmetic, static_cast<Decomposition>(c + step)});
    }
  }
  return found;
}

Cell classify(const std::vector<KernelFacts>& kernels, int launchCount) {
  Cell cell{DataMovement::Direct, Arithmetic::Scalar, decompositionOf(kernels, launchCount)};
  for (const KernelFacts& kernel : kernels) {
    cell.movement = std::max(cell.movement, kernel.movement);
    cell.arithmetic = std::max(cell.arithmetic, kernel.arithmetic);
  }
  return cell;
}

}  // namespace swage::domain
