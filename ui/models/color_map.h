// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

#include <cstdint>
#include <vector>

#include "core/services/types.h"

namespace swage::ui {

// Colour maps that are even in lightness and readable with any colour vision.
enum class ColorMap : std::uint8_t { Viridis, Cividis };

// `level` from 0 (slow, dark) to 1 (fast, bright); values outside are clamped.
[[nodiscard]] QColor mapColor(ColorMap map, double level);

// WCAG contrast ratio of two opaque colours, 1 to 21.
[[nodiscard]] double contrastRatio(const QColor& first, const QColor& second);
// Black or white, whichever reads better on `background`; always at least 4.5:1.
[[nodiscard]] QColor readableOn(const QColor& background);

// Where speedups lie on the colour map: logarithmic, always containing 1× and whole powers of two at the ends.
struct HeatScale {
  double low = -1.0;  // log2
  double high = 1.0;

  [[nodiscard]] static HeatScale fit(const std::vector<services::CellSummary>& cells);
  [[nodiscard]] double level(double speedup) const;
  friend bool operator==(const HeatScale&, const HeatScale&) = default;
};

}  // namespace swage::ui
