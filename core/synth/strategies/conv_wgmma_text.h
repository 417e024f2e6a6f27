// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/synth/strategies/conv_wgmma.h"

// The parts of the kernel of a convolution by wgmma, and what their texts share.
namespace swage::synth {

// The kernel being written, in its names: `tile`, `place`, `slot` and `turn` of patches, `step`, `tap`.
struct HaloText {
  HaloText(const Instance& of, HaloProblem convolution, int kernel);

  HaloProblem problem;
  const Region& region;
  const ProductShape& shape;
  HaloTiles tiles;
  HaloLayout layout;
  HaloWeights weights;
  int number;
  Instance instance;
  KernelWriter writer;
  Code& code;
  std::string planes;  // names of parameters
  std::string exponents;
  std::string findings;  // of later folds over positions
  int held = -1;         // the prim whose values have taken the place of the sums; -1: none

  [[nodiscard]] bool isScaled() const { return tiles.isSplit(); }
  [[nodiscard]] bool isBatched() const { return problem.batchCount > 1; }
  [[nodiscard]] bool isFolded() const { return problem.folds != HaloFolds::None; }
  // Binds the sum of a result; what later folds have kept of a position, by its number in the tile.
  void bindSum(const std::string& sum);
  void bindFound(const std::string& at);
  // Loads that a prim is computed from, without those behind what is held or found.
  void collectLoads(int prim, std::set<int>& loads) const;
  // The number of the group and phase whose weights are meant, `p` among the phases across; empty: there is one.
  [[nodiscard]] std::string weightsBatch(const std::string& p) const;
  [[nodiscard]] std::string_view storage() const;      // of the input
  [[nodiscard]] std::string_view partStorage() const;  // of weights
  [[nodiscard]] const Prim& primAt(int prim) const { return region.prims[static_cast<std::size_t>(prim)]; }
  [[nodiscard]] const Operand& operandAt(int operand) const {
    return region.operands[static_cast<std::size_t>(operand)];
  }
  // Whether the warp for the weights must be told that a tile is made a second time.
  [[nodiscard]] bool waitsForVerdict() const { return isScaled() && !layout.isKept; }
  // Of kept weights, inside of these loops.
  [[nodiscard]] std::string stageNumber() const;
  // Of the step.
  [[nodiscard]] std::string firstChannel() const;

  // Opens a loop over the tiles of a block, steps, phases across that a block makes together, or places of the window;
  // the caller closes it. Places that a phase has nothing of are passed over, unless told otherwise.
  void openTiles(const std::string& condition = {});
  void openSteps(const std::string& count = {});
  void nameFar();                           // of a step, where there is a window far out
  int openPhases(std::string_view pragma);  // how many blocks were opened: none where there are none
  enum class EmptyPlaces : std::uint8_t { Skipped, Kept };
  struct TapRange {
    std::string first = "0";
    std::string end = {};  // all
  };
  void openTaps(EmptyPlaces empty, const TapRange& range);
  void openTaps(EmptyPlaces empty = EmptyPlaces::Skipped) { openTaps(empty, TapRange()); }
  // Of each two places of the window that are multiplied at once, what is added to the descriptor of the patch.
  static constexpr std::string_view kPairs =
      "of two places of the window: pixels from the first of the patch, and from one place to the other";
  [[nodiscard]] std::vector<std::string> pairs() const;
  // Whether a tile has nothing of the window at all; "": no tile is so.
  [[nodiscard]] std::string isEmptyTile() const;
  // Ends a turn of the loop over tiles where there is nothing to multiply.
  void passOverEmpty();
  // Cuts `place`, the number of a tile of positions, into where it begins, and binds all other positions.
  void locate();
  // To the next place for weights.
  void advanceStage();
};

// One of the parts below, with what it reads of the text at hand.
class HaloPart {
 protected:
  explicit HaloPart(HaloText& text)
      : m_text(text),
        m_problem(text.problem),
        m_region(text.region),
        m_shape(text.shape),
        m_tiles(text.tiles),
        m_layout(text.layout),
        m_weights(text.weights),
        m_writer(text.writer),
        m_code(text.code) {}
  ~HaloPart() = default;

  void unroll(const std::string& name, std::int64_t count);
  // Adds what one result is made of to `total`, in float: where its indices are bound.
  void addProducts();

  // --- what a thread has of the sums: pairs of neighbours in blocks of 8 positions, of two channels
  static constexpr std::int64_t kOfBlock = 8;
  [[nodiscard]] std::int64_t positions() const { return m_tiles.pixels * m_problem.phases; }
  [[nodiscard]] std::int64_t blocks() const { return positions() / kOfBlock; }
  [[nodiscard]] std::int64_t ofRow() const { return m_tiles.width() / kOfBlock; }
  // The sum of position `s` of the thread's two in `block`, of channel `half`; `block` counts phase by phase.
  [[nodiscard]] std::string sumOf() const;
  // Binds the position `s` of the thread's two in `block`; whether it is one of the results, empty: all are.
  void openPosition();
  [[nodiscard]] std::string isThere() const;
  // Whether tiles have channels that are not there.
  [[nodiscard]] bool hasTail() const { return m_shape.columnCount % m_tiles.columns != 0; }
  // What changes nothing in a fold of this kind; and what a fold makes of two.
  [[nodiscard]] static std::string none(FoldKind kind);
  [[nodiscard]] static std::string joined(FoldKind kind, const std::string& a, const std::string& b);
  // "block / 8" or what is the same; and what is left of a number below `of`.
  [[nodiscard]] static std::string over(const std::string& number, std::int64_t by);
  [[nodiscard]] static std::string rest(const std::string& number, std::int64_t of, std::int64_t by);

  HaloText& m_text;
  const HaloProblem& m_problem;
  const Region& m_region;
  const ProductShape& m_shape;
  const HaloTiles& m_tiles;
  const HaloLayout& m_layout;
  const HaloWeights& m_weights;
  KernelWriter& m_writer;
  Code& m_code;
};

// The branch of the warps that bring, that of the warp groups that multiply, and in it what becomes of a tile's sums.
void writeHaloBring(HaloText& text);
void writeHaloBringWeights(HaloText& text);  // a part of it
void writeHaloMultiply(HaloText& text);
void writeHaloResults(HaloText& text);
// The first part of that where results are folded: sums get their scale, and what is found of them goes into shared
// memory, or into scratch memory for the kernel that joins what tiles have found.
void writeHaloFolds(HaloText& text);
// Of a pooling instead: what becomes of its windows, and is stored.
void writeHaloPool(HaloText& text);
void writeHaloJoin(HaloText& text, const std::string& entry, const std::vector<std::size_t>& buffers);

}  // namespace swage::synth
