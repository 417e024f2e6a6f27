// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/cell_scale.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using State = services::CellSummary::State;

constexpr int kMostTicks = 6;

QString tr(const char* text) {
  return QCoreApplication::translate("cells", text);
}

bool isLogarithmic(CellMetric metric) {
  return metric == CellMetric::Time || metric == CellMetric::Error || metric == CellMetric::Tried;
}

bool isLessBetter(CellMetric metric) {
  return metric == CellMetric::Time || metric == CellMetric::Error || metric == CellMetric::Registers;
}

double transformed(CellMetric metric, double value) {
  if (metric == CellMetric::Speedup) {
    return std::log2(value);
  }
  return isLogarithmic(metric) ? std::log10(value) : value;
}

double restored(CellMetric metric, double position) {
  if (metric == CellMetric::Speedup) {
    return std::exp2(position);
  }
  return isLogarithmic(metric) ? std::pow(10.0, position) : position;
}

// 1, 2 or 5 times a power of ten, so that at most so many steps cover the length.
double roundStep(double length, int steps) {
  const double rough = std::max(length, 1e-9) / steps;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1.0 - 1e-9)) {
      return factor * power;
    }
  }
  return 10.0 * power;
}

QString speedupTick(double exponent) {
  const QString factor = QString::number(std::exp2(std::abs(exponent)));
  if (exponent >= 0.0) {
    return factor % u"×"_s;
  }
  return exponent == -1.0 ? u"0.5×"_s : u"1/%1×"_s.arg(factor);
}

std::optional<double> positive(double value) {
  return value > 0.0 ? std::optional(value) : std::nullopt;
}

}  // namespace

QString title(CellMetric metric) {
  switch (metric) {
    case CellMetric::Speedup: return tr("Speedup");
    case CellMetric::Time: return tr("Time");
    case CellMetric::RoofShare: return tr("Share of the roof");
    case CellMetric::Registers: return tr("Registers");
    case CellMetric::Error: return tr("Error");
    case CellMetric::Found: return tr("Found at");
    case CellMetric::Tried: return tr("Candidates tried");
  }
  return {};
}

QString explain(CellMetric metric) {
  switch (metric) {
    case CellMetric::Speedup: return tr("How much faster than the fastest of PyTorch's baselines");
    case CellMetric::Time: return tr("Median time of one call with a cold cache");
    case CellMetric::RoofShare: return tr("How near the time is to what the hardware allows for this task");
    case CellMetric::Registers: return tr("Registers of a thread, of the kernel that needs most");
    case CellMetric::Error: return tr("Largest relative error against the reference in float64");
    case CellMetric::Found: return tr("When in the run the best candidate of the cell was found");
    case CellMetric::Tried: return tr("What the cell has cost: every candidate that fell into it");
  }
  return {};
}

std::optional<double> valueOf(CellMetric metric, const services::CellSummary& cell) {
  if (metric == CellMetric::Tried) {
    return positive(static_cast<double>(cell.tried));
  }
  if (cell.state != State::Filled) {
    return std::nullopt;
  }
  switch (metric) {
    case CellMetric::Speedup: return positive(cell.speedup.value);
    case CellMetric::Time: return positive(cell.bestTimeNs);
    case CellMetric::RoofShare: return positive(cell.roofShare);
    case CellMetric::Registers: return positive(cell.registers);
    case CellMetric::Error: return cell.relativeError;
    case CellMetric::Found: return cell.foundSeconds;
    case CellMetric::Tried: break;
  }
  return std::nullopt;
}

QString formatValue(CellMetric metric, double value) {
  switch (metric) {
    case CellMetric::Speedup: return formatSpeedup(value);
    case CellMetric::Time: return formatTime(value);
    case CellMetric::RoofShare: return u"%1 %"_s.arg(std::lround(100.0 * value));
    case CellMetric::Registers:
    case CellMetric::Tried: return formatCount(std::llround(value));
    case CellMetric::Error: return value > 0.0 ? formatError(value) : tr("exact");
    case CellMetric::Found: return formatDuration(value);
  }
  return {};
}

ColorMap colorsFor(CellMetric metric, ColorMap chosen) {
  return chosen == ColorMap::Diverging && metric != CellMetric::Speedup ? ColorMap::Viridis : chosen;
}

CellScale CellScale::fit(CellMetric metric, const std::vector<services::CellSummary>& cells, Centred centred) {
  std::vector<double> positions;
  for (const services::CellSummary& cell : cells) {
    const std::optional<double> value = valueOf(metric, cell);
    if (value && (*value > 0.0 || !isLogarithmic(metric))) {
      positions.push_back(transformed(metric, *value));
    }
  }
  if (metric == CellMetric::Speedup) {
    return fitSpeedup(positions, centred);
  }
  if (metric == CellMetric::RoofShare) {
    return {metric, 0.0, 1.0};
  }
  if (positions.empty()) {
    return {metric, 0.0, 1.0};
  }
  const auto [low, high] = std::minmax_element(positions.begin(), positions.end());
  if (isLogarithmic(metric)) {
    // To thirds of a decade, 1, 2.15 and 4.64: a whole one would leave half of the colours unused.
    constexpr double kParts = 3.0;
    const double first = std::floor(*low * kParts) / kParts;
    return {metric, first, std::max(first + 1.0 / kParts, std::ceil(*high * kParts) / kParts)};
  }
  const double step = roundStep(std::max(*high, 1.0), kMostTicks - 1);
  return {metric, 0.0, std::max(step, std::ceil(*high / step) * step)};
}

CellScale CellScale::fitSpeedup(const std::vector<double>& exponents, Centred centred) {
  constexpr double kSlowest = -4.0;  // anything slower than 1/16 has the darkest colour: it would flatten the rest
  CellScale scale;
  for (const double exponent : exponents) {
    scale.m_low = std::max(kSlowest, std::min(scale.m_low, std::floor(exponent)));
    scale.m_high = std::max(scale.m_high, std::ceil(exponent));
  }
  if (centred == Centred::Yes) {
    scale.m_high = std::max(scale.m_high, -scale.m_low);
    scale.m_low = -scale.m_high;
  }
  return scale;
}

double CellScale::level(double value) const {
  if (isLogarithmic(m_metric) || m_metric == CellMetric::Speedup) {
    if (!(value > 0.0)) {
      return isLessBetter(m_metric) ? 1.0 : 0.0;
    }
  }
  const double share = std::clamp((transformed(m_metric, value) - m_low) / (m_high - m_low), 0.0, 1.0);
  return isLessBetter(m_metric) ? 1.0 - share : share;
}

std::vector<CellScale::Tick> CellScale::ticks() const {
  std::vector<Tick> ticks;
  const bool isSpeedup = m_metric == CellMetric::Speedup;
  double step = isSpeedup ? (m_high - m_low > 6.0 ? 2.0 : 1.0) : roundStep(m_high - m_low, kMostTicks - 1);
  if (isLogarithmic(m_metric)) {
    step = (m_high - m_low) / (m_high - m_low > 1.0 ? 3.0 : 2.0);
  }
  constexpr double kSlack = 1e-6;
  const int steps = static_cast<int>(std::floor((m_high - m_low + kSlack) / step));
  for (int i = 0; i <= steps; ++i) {
    const double position = m_low + i * step;
    const double value = restored(m_metric, position);
    ticks.push_back({level(value), isSpeedup ? speedupTick(position) : formatValue(m_metric, value)});
  }
  return ticks;
}

}  // namespace swage::ui
