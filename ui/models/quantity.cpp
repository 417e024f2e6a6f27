// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/quantity.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr std::array kPrefixes = {"", "k", "M", "G", "T", "P", "E"};

QString scaled(double value, const QString& unit) {
  std::size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1e3;
    ++prefix;
  }
  const bool isWhole = value == std::floor(value);
  const double magnitude = value > 0.0 ? std::floor(std::log10(value)) : 0.0;
  const int digits = isWhole ? 0 : static_cast<int>(std::clamp(2.0 - magnitude, 0.0, 2.0));
  return QString::number(value, 'f', digits) % u' ' % QLatin1StringView(kPrefixes[prefix]) % unit;
}

}  // namespace

QString formatBytes(double bytes) {
  return scaled(bytes, u"B"_s);
}

QString formatByteRate(double bytesPerSecond) {
  return scaled(bytesPerSecond, u"B/s"_s);
}

QString formatFlopRate(double flopsPerSecond) {
  return scaled(flopsPerSecond, u"FLOP/s"_s);
}

QString formatFlopCount(double flops) {
  return scaled(flops, u"F"_s);
}

}  // namespace swage::ui
