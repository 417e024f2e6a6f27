// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/synth/strategies/conv_wgmma_text.h"

namespace swage::synth {

// The tables in shared memory that say where the pixels of a patch lie in the input, as text.
class HaloPlaces : private HaloPart {
 public:
  explicit HaloPlaces(HaloText& text) : HaloPart(text) {}

  void name();   // declares the tables
  void write();  // fills them for `tile`
  // The place of `pixel` in the tables. Where the pixels of two tiles are told of, `table` says which.
  [[nodiscard]] std::string_view at() const { return m_tiles.isStreamed() ? "table + pixel" : "pixel"; }

 private:
  // Of a dimension: the coordinate that the patch begins with, for a position that is bound.
  [[nodiscard]] std::string cornerOf(const HaloDim& dim, std::int64_t behind) const;
  // Whether coordinates of positions alone, without a window, may lie outside.
  [[nodiscard]] bool hasEdges(const HaloDim& dim) const;
  // Of dimensions that a tile has one position of: what they add to an address, and that they are inside.
  void locateOuter(std::string& isInside, std::string& address);
};

}  // namespace swage::synth
