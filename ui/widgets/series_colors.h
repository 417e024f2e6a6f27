// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

#include <cstddef>

#include "ui/widgets/theme.h"

namespace swage::ui {

inline constexpr std::size_t kSeriesColors = 8;

// The colour of the n-th line of a chart with several, 3:1 or better on the theme's base (tests/ui/agents_test.cpp). No
// two of them differ by red against green alone; after the last it begins again.
[[nodiscard]] QColor seriesColor(const Theme& theme, std::size_t index);

}  // namespace swage::ui
