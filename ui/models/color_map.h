// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace swage::ui {

// Colour maps that are readable with any colour vision: two that are even in lightness, and one from blue over grey to
// orange for what lies below and above a middle.
enum class ColorMap : std::uint8_t { Viridis, Cividis, Diverging };

[[nodiscard]] QString name(ColorMap map);  // "viridis", as it is remembered
[[nodiscard]] std::optional<ColorMap> parseColorMap(const QString& text);

// `level` from 0 (slow, dark) to 1 (fast, bright); values outside are clamped.
[[nodiscard]] QColor mapColor(ColorMap map, double level);

// WCAG contrast ratio of two opaque colours, 1 to 21.
[[nodiscard]] double contrastRatio(const QColor& first, const QColor& second);
// Black or white, whichever reads better on `background`; always at least 4.5:1.
[[nodiscard]] QColor readableOn(const QColor& background);
// The same for several backgrounds that stand beside each other. Where black and white read about equally well, nearly
// equal backgrounds get the same one; there it is at least 3.5:1.
[[nodiscard]] std::vector<QColor> readableOn(const std::vector<QColor>& backgrounds);

}  // namespace swage::ui
