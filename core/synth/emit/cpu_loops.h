// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/synth/emit/kernel_writer.h"
#include "core/synth/region_shape.h"

// Loops that kernels for processors have in common.
namespace swage::synth {

// The axes of a map or a reduction as its loops walk them.
struct LoopAxes {
  std::vector<std::size_t> groups;   // that number groups, without the innermost axis
  std::vector<std::size_t> outer;    // that are folded, without the innermost axis
  std::optional<std::size_t> inner;  // none in a region of one element
  Loops counts;                      // positions of each
};
[[nodiscard]] LoopAxes loopAxesOf(const Region& region);

// Writes the map that stores the elements. Results are stored where they are computed, or go by way of tiles in the
// first-level cache to memory past the caches.
class ElementLoops {
 public:
  // `bind` is called inside every loop, with the coordinate along the innermost axis, before anything is computed.
  ElementLoops(KernelWriter& writer, const Region& region, bool isStreaming,
               std::function<void(const std::string& column)> bind = {});

  // Elements [first, last) of the innermost axis, each stored at once.
  void range(const std::string& first, const std::string& last);
  // `count` neighbours from `first` on ("0": from the beginning), of at most `room`, with `lane` as their number.
  void tile(const std::string& first, const std::string& count, const std::string& room, const std::string& lane);

 private:
  [[nodiscard]] bool isStreamed(const Store& store) const;
  [[nodiscard]] const Operand& operandOf(const Store& store) const;

  KernelWriter& m_writer;
  Code& m_code;
  const Region& m_region;
  std::optional<std::size_t> m_inner;
  bool m_isStreaming;
  std::function<void(const std::string&)> m_bind;
};

// Values of a whole group that loops over its elements read, or that are needed twice: those that are known after
// `stage` (-1: before all), in an order in which they can be computed.
[[nodiscard]] std::vector<int> keptGroupValues(const Region& region, int stage);

// Stores the results of a group. One that all groups share is stored by the first only: `isFirst` says so, and is empty
// where there is one group.
void storeGroup(KernelWriter& writer, const Region& region, const std::string& isFirst);

}  // namespace swage::synth
