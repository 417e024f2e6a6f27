// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/color_map.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace swage::ui {
namespace {

// Ten equidistant samples; linear interpolation between them is within one 8-bit step of what an eye can tell apart.
using Samples = std::array<QRgb, 10>;
constexpr Samples kViridis = {0x440154, 0x482878, 0x3E4A89, 0x31688E, 0x26828E,
                              0x1F9E89, 0x35B779, 0x6DCD59, 0xB4DE2C, 0xFDE725};
constexpr Samples kCividis = {0x00204D, 0x00336F, 0x39486B, 0x575C6D, 0x707173,
                              0x8A8779, 0xA69D75, 0xC4B56C, 0xE4CF5B, 0xFFEA46};

int mix(int from, int to, double share) {
  return static_cast<int>(std::lround(from + (to - from) * share));
}

double linear(double channel) {
  return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& color) {
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

}  // namespace

QColor mapColor(ColorMap map, double level) {
  const Samples& samples = map == ColorMap::Viridis ? kViridis : kCividis;
  const double position =
      std::clamp(std::isnan(level) ? 0.0 : level, 0.0, 1.0) * static_cast<double>(samples.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(position), samples.size() - 2);
  const double share = position - static_cast<double>(below);
  const QRgb from = samples[below];
  const QRgb to = samples[below + 1];
  return QColor(mix(qRed(from), qRed(to), share), mix(qGreen(from), qGreen(to), share),
                mix(qBlue(from), qBlue(to), share));
}

double contrastRatio(const QColor& first, const QColor& second) {
  const double a = luminance(first) + 0.05;
  const double b = luminance(second) + 0.05;
  return std::max(a, b) / std::min(a, b);
}

QColor readableOn(const QColor& background) {
  return contrastRatio(background, Qt::white) >= contrastRatio(background, Qt::black) ? QColor(Qt::white)
                                                                                      : QColor(Qt::black);
}

HeatScale HeatScale::fit(const std::vector<services::CellSummary>& cells) {
  constexpr double kSlowest = -4.0;  // anything slower than 1/16 has the darkest colour: it would flatten the rest
  HeatScale scale;
  for (const services::CellSummary& cell : cells) {
    if (cell.state == services::CellSummary::State::Filled && cell.speedup > 0.0) {
      const double value = std::log2(cell.speedup);
      scale.low = std::max(kSlowest, std::min(scale.low, std::floor(value)));
      scale.high = std::max(scale.high, std::ceil(value));
    }
  }
  return scale;
}

double HeatScale::level(double speedup) const {
  if (!(speedup > 0.0)) {
    return 0.0;
  }
  return std::clamp((std::log2(speedup) - low) / (high - low), 0.0, 1.0);
}

}  // namespace swage::ui
