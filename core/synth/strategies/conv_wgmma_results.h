// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/synth/strategies/conv_mma.h"
#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {

// What becomes of the sums of a convolution by wgmma, as text. A thread has the sums of two channels of the result: of
// each, pairs of neighbours in every 8 positions. Four threads side by side have 8 positions of a channel, which are a
// sector of memory. Where shared memory has room, warps bring results of a channel side by side there first, so that
// they store whole lines (conv_wgmma_staged.cpp).
class HaloResults : private HaloPart {
 public:
  explicit HaloResults(HaloText& text) : HaloPart(text) {}

  void write();

 private:
  static constexpr std::int64_t kLeastShifted = 32;  // positions of a row, from which on shifting them pays

  // --- what lies where
  [[nodiscard]] const std::vector<Store>& stores() const { return m_problem.resultStores; }
  [[nodiscard]] bool returnsValue() const { return stores().size() == 1; }
  [[nodiscard]] const Operand& result() const { return m_text.operandAt(stores().front().operand); }
  // Whether sums come without their scale, and may be of infinities and NaN; and whether they have none yet.
  [[nodiscard]] bool isScaled() const { return m_text.isScaled() && !m_text.isFolded(); }
  [[nodiscard]] bool lacksScale() const { return isScaled() && !m_isFinished; }
  [[nodiscard]] std::int64_t resultBytes() const { return static_cast<std::int64_t>(domain::byteSize(result().dtype)); }
  [[nodiscard]] std::int64_t blocksOfRow() const { return ofRow() + (isShifted() ? 1 : 0); }

  // Whether all rows begin at a multiple of so many results.
  [[nodiscard]] bool isMultiple(std::int64_t count) const {
    return rowsStartAt(result(), {m_problem.across().position}, count);
  }
  // Whether results go through shared memory: those of phases, or of rows.
  [[nodiscard]] bool isStaged() const { return m_layout.stagedStride > 0; }
  [[nodiscard]] bool joinsPhases() const { return m_problem.phases > 1; }
  // Results of a channel that are brought side by side at a time.
  [[nodiscard]] std::int64_t slots() const { return m_layout.stagedBlocks * kOfBlock * m_problem.phases; }
  [[nodiscard]] std::int64_t neighbours() const { return m_layout.stagedNeighbours; }
  [[nodiscard]] bool hasNeighbours() const {
    return returnsValue() && resultBytes() <= 4 && result().bounds.empty() &&
           result().strides[m_problem.across().position] == 1;
  }
  [[nodiscard]] bool isShifted() const {
    return !isStaged() && hasNeighbours() && m_tiles.width() >= kLeastShifted && !isMultiple(kOfBlock);
  }
  // Whether both results of a pair are there, or none, side by side in a place for two.
  [[nodiscard]] bool hasWholePairs() const {
    return hasNeighbours() && isMultiple(2) && m_problem.across().positions % 2 == 0;
  }

  // Of the rows of a warp, those that have channels.
  [[nodiscard]] bool hasFewChannels() const { return m_weights.ofWarp < HaloTiles::kRowsOfWarp; }
  [[nodiscard]] int halves() const { return hasFewChannels() ? 1 : 2; }

  // Whether all results of a channel take the place of its sums before any is stored: so a thread has many that do not
  // wait for each other, and the compiler makes no branches around what takes long. For more than a few instructions,
  // which read nothing of a position; for any where results go through shared memory.
  [[nodiscard]] bool isAhead() const;

  // --- loops
  void openChannel(const std::string& of);
  // All sums of the channel; the last one that there is stands for those that are not there.
  void finishAhead();
  // Loads what all results of a channel have in common. The channel must be there.
  void loadOfChannel();
  // Whether a row is there in this channel.
  void openRow();
  [[nodiscard]] bool hasPartialRows() const {
    return !joinsPhases() && m_problem.across().positions % m_tiles.width() != 0;
  }

  // The first of two positions of a thread.
  void openPair();
  // Whether a position of a thread is a result.
  [[nodiscard]] std::string isThere(bool isSecond);
  [[nodiscard]] static std::string nameOf(bool isSecond) { return isSecond ? "x_next" : "x_at"; }
  void bind(bool isSecond) { m_writer.bindAxis(m_problem.across().position, nameOf(isSecond)); }

  // --- sums
  // Those of 8 positions of a row, by the number of these.
  [[nodiscard]] std::string sumsOf(const std::string& block, const std::string& more,
                                   std::string_view phaseNumber = {}) const;
  void scaleChannel();
  // Some positions of a channel side by side in shared memory, with all their phases.
  void stage();
  // Of what lies side by side, where a thread has its first in turn `i`.
  [[nodiscard]] std::string slotOfTurn() const;
  // Binds the place of a result, by its number in what lies side by side.
  void openSlot(const std::string& number);
  // All turns are read before the first is stored: the compiler would read each behind the branch around its store.
  void writeSlots();
  void storeNeighbours(const std::string& one);
  // Of positions that begin `shift` earlier, a thread has some of these 8 and some of those before.
  void shiftPair();
  void writePair();

  // --- stores
  // What is stored for a sum.
  [[nodiscard]] std::string finished(const std::string& total, bool isSecond) const {
    return m_isFinished ? total : fmt::format("finish({}, {})", total, arguments(isSecond));
  }

  [[nodiscard]] std::string arguments(bool isSecond) const { return argumentsAt(nameOf(isSecond)); }
  [[nodiscard]] std::string argumentsAt(const std::string& across) const {
    return fmt::format("{}{}{}", across, m_problem.down() == nullptr ? "" : ", y_at", joinsPhases() ? ", p" : "");
  }

  // The function of a sum and its place that computes what follows, and returns or stores it.
  void writeFinish();
  void storePair(const std::string& left, const std::string& right);
  void storeOne(const std::string& total, bool isSecond);
  void storeOneIf(const std::string& condition, const std::string& total, bool isSecond);

  // --- infinities and NaN
  void writeOdd();
  void addUp(bool isSecond);

  bool m_isFinished = false;  // the sums are results already
};

}  // namespace swage::synth
