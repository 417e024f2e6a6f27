// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/series_colors.h"

#include <array>

namespace swage::ui {
namespace {

constexpr std::array<QRgb, kSeriesColors> kOnLight = {0x0B5FC4, 0xB35A00, 0x7A2F8F, 0x00767A,
                                                      0xB0166B, 0x6B4E16, 0x57606A, 0x1B2A6B};
constexpr std::array<QRgb, kSeriesColors> kOnDark = {0x5AA2FF, 0xFFB27A, 0xD2A8FF, 0x4FD1C5,
                                                     0xFF8FC7, 0xD9B36C, 0xA3ACB6, 0x9DB2FF};

}  // namespace

QColor seriesColor(const Theme& theme, std::size_t index) {
  return QColor((theme.dark ? kOnDark : kOnLight)[index % kSeriesColors]);
}

}  // namespace swage::ui
