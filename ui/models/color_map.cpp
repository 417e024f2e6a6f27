// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/color_map.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// Ten equidistant samples; linear interpolation between them is within one 8-bit step of what an eye can tell apart.
using Samples = std::array<QRgb, 10>;
constexpr Samples kViridis = {0x440154, 0x482878, 0x3E4A89, 0x31688E, 0x26828E,
                              0x1F9E89, 0x35B779, 0x6DCD59, 0xB4DE2C, 0xFDE725};
constexpr Samples kCividis = {0x00204D, 0x00336F, 0x39486B, 0x575C6D, 0x707173,
                              0x8A8779, 0xA69D75, 0xC4B56C, 0xE4CF5B, 0xFFEA46};
// Made for this: lightness falls from the grey middle to both ends, where blue and orange differ for every colour
// vision.
constexpr Samples kDiverging = {0x0B3C78, 0x2A62A8, 0x5A8BC4, 0x94B4D6, 0xCBD3DC,
                                0xDED4C6, 0xE3B484, 0xD98A42, 0xB8620F, 0x7F3F00};

const Samples& samplesOf(ColorMap map) {
  switch (map) {
    case ColorMap::Viridis: return kViridis;
    case ColorMap::Cividis: return kCividis;
    case ColorMap::Diverging: return kDiverging;
  }
  return kViridis;
}

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

QString name(ColorMap map) {
  switch (map) {
    case ColorMap::Viridis: return u"viridis"_s;
    case ColorMap::Cividis: return u"cividis"_s;
    case ColorMap::Diverging: return u"diverging"_s;
  }
  return {};
}

std::optional<ColorMap> parseColorMap(const QString& text) {
  for (const ColorMap map : {ColorMap::Viridis, ColorMap::Cividis, ColorMap::Diverging}) {
    if (name(map) == text) {
      return map;
    }
  }
  return std::nullopt;
}

QColor mapColor(ColorMap map, double level) {
  const Samples& samples = samplesOf(map);
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

std::vector<QColor> readableOn(const std::vector<QColor>& backgrounds) {
  // The logarithm of the luminance from which on black is used: where both read equally well, or in the middle of the
  // widest gap around it.
  constexpr double kLeast = 3.5;
  const double from = std::log(kLeast * 0.05);  // black has that contrast from here on
  const double to = std::log(1.05 / kLeast);    // and white down from here
  const auto lightness = [](const QColor& color) { return std::log(luminance(color) + 0.05); };
  std::vector<double> between = {from, to};
  for (const QColor& color : backgrounds) {
    if (const double value = lightness(color); value > from && value < to) {
      between.push_back(value);
    }
  }
  std::sort(between.begin(), between.end());
  double limit = (from + to) / 2.0;
  double widest = 0.0;
  for (std::size_t i = 1; i < between.size() && between.size() > 2; ++i) {
    if (between[i] - between[i - 1] > widest) {
      widest = between[i] - between[i - 1];
      limit = (between[i] + between[i - 1]) / 2.0;
    }
  }
  std::vector<QColor> inks;
  inks.reserve(backgrounds.size());
  for (const QColor& color : backgrounds) {
    inks.push_back(lightness(color) > limit ? QColor(Qt::black) : QColor(Qt::white));
  }
  return inks;
}

}  // namespace swage::ui
