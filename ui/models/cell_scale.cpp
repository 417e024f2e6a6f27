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

bool isCount(CellMetric metric) {
  return metric == CellMetric::Registers || metric == CellMetric::Tried;
}

bool isLessBetter(CellMetric metric) {
  return metric == CellMetric::Time || metric == CellMetric::Error || metric == CellMetric::Registers;
}

// 1, 2 or 5 times a power of ten, so that at most so many steps cover the length.
double roundStep(double length, int steps) {
  const double rough = std::max(length, 1e-300) / steps;
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
    case CellMetric::RoofShare: return tr("% of roofline");
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

CellScale::Shape CellScale::shapeOf(CellMetric metric, const ScaleOptions& options) {
  const bool spansMagnitudes = metric == CellMetric::Speedup || metric == CellMetric::Time ||
                               metric == CellMetric::Error || metric == CellMetric::Tried;
  if (!options.logarithmic.value_or(spansMagnitudes)) {
    return Shape::Linear;
  }
  return metric == CellMetric::Speedup ? Shape::Log2 : Shape::Log10;
}

double CellScale::transformed(double value) const {
  switch (m_shape) {
    case Shape::Log2: return std::log2(value);
    case Shape::Log10: return std::log10(value);
    case Shape::Linear: break;
  }
  return value;
}

double CellScale::restored(double position) const {
  switch (m_shape) {
    case Shape::Log2: return std::exp2(position);
    case Shape::Log10: return std::pow(10.0, position);
    case Shape::Linear: break;
  }
  return position;
}

CellScale CellScale::fit(CellMetric metric, const std::vector<services::CellSummary>& cells, Centred centred,
                         const ScaleOptions& options) {
  CellScale scale;
  scale.m_metric = metric;
  scale.m_shape = shapeOf(metric, options);
  std::vector<double> positions;
  for (const services::CellSummary& cell : cells) {
    const std::optional<double> value = valueOf(metric, cell);
    if (value && (*value > 0.0 || scale.m_shape == Shape::Linear)) {
      positions.push_back(scale.transformed(*value));
    }
  }
  if (options.range) {
    scale.fix(*options.range);
  } else {
    scale.fitTo(positions, centred);
  }
  return scale;
}

void CellScale::fix(const std::pair<double, double>& range) {
  static constexpr double kLeast = 1e-12;  // a logarithm needs something above nothing
  const auto end = [this](double value) {
    return transformed(m_shape == Shape::Linear ? value : std::max(value, kLeast));
  };
  m_low = end(std::min(range.first, range.second));
  m_high = end(std::max(range.first, range.second));
  if (!(m_high > m_low)) {
    m_high = m_low + 1.0;
  }
}

void CellScale::fitTo(const std::vector<double>& positions, Centred centred) {
  if (m_shape == Shape::Log2) {
    fitSpeedups(positions, centred);
    return;
  }
  m_low = 0.0;
  m_high = 1.0;
  if (positions.empty() || (m_metric == CellMetric::RoofShare && m_shape == Shape::Linear)) {
    m_isEmpty = positions.empty();
    return;
  }
  const auto [low, high] = std::minmax_element(positions.begin(), positions.end());
  if (m_shape == Shape::Log10) {
    // To thirds of a decade, 1, 2.15 and 4.64: a whole one would leave half of the colours unused.
    constexpr double kParts = 3.0;
    m_low = std::floor(*low * kParts) / kParts;
    m_high = std::max(m_low + 1.0 / kParts, std::ceil(*high * kParts) / kParts);
    return;
  }
  const double least = isCount(m_metric) || m_metric == CellMetric::Found ? 1.0 : 0.0;
  const double top = std::max(*high, least);
  const double length = roundStep(top > 0.0 ? top : 1.0, kMostTicks - 1);
  m_high = std::max(length, std::ceil(top / length) * length);
}

void CellScale::fitSpeedups(const std::vector<double>& exponents, Centred centred) {
  constexpr double kSlowest = -4.0;  // anything slower than 1/16 has the darkest colour: it would flatten the rest
  m_low = -1.0;
  m_high = 1.0;
  for (const double exponent : exponents) {
    m_low = std::max(kSlowest, std::min(m_low, std::floor(exponent)));
    m_high = std::max(m_high, std::ceil(exponent));
  }
  if (centred == Centred::Yes) {
    m_high = std::max(m_high, -m_low);
    m_low = -m_high;
  }
}

std::pair<double, double> CellScale::range() const {
  return {restored(m_low), restored(m_high)};
}

double CellScale::level(double value) const {
  if (m_shape != Shape::Linear && !(value > 0.0)) {
    return isLessBetter(m_metric) ? 1.0 : 0.0;
  }
  const double share = std::clamp((transformed(value) - m_low) / (m_high - m_low), 0.0, 1.0);
  return isLessBetter(m_metric) ? 1.0 - share : share;
}

double CellScale::step() const {
  const double length = m_high - m_low;
  if (m_shape == Shape::Log10) {
    return length / (length > 1.0 ? 3.0 : 2.0);
  }
  if (m_shape == Shape::Log2) {
    return length > 6.0 ? 2.0 : length >= 1.0 ? 1.0 : length / 2.0;
  }
  const double rounded = roundStep(length, kMostTicks - 1);
  return isCount(m_metric) ? std::max(1.0, rounded) : rounded;
}

QString CellScale::tickText(double position) const {
  const double value = restored(position);
  if (m_shape == Shape::Log2 && std::abs(position - std::round(position)) < 1e-6) {
    return speedupTick(std::round(position));
  }
  if (value == 0.0) {
    return m_metric == CellMetric::Speedup ? u"0×"_s : m_metric == CellMetric::RoofShare ? u"0 %"_s : u"0"_s;
  }
  return formatValue(m_metric, value);
}

std::vector<CellScale::Tick> CellScale::ticks() const {
  std::vector<Tick> ticks;
  if (m_isEmpty) {
    return ticks;
  }
  constexpr double kSlack = 1e-6;
  const double between = step();
  // A range that somebody has fixed may begin anywhere; ticks stand at round values, but for decades in parts.
  const bool isRound = m_shape == Shape::Linear || (m_shape == Shape::Log2 && between >= 1.0);
  const double first = isRound ? std::ceil(m_low / between - kSlack) * between : m_low;
  const int steps = static_cast<int>(std::floor((m_high - first) / between + kSlack));
  for (int i = 0; i <= steps; ++i) {
    const double position = first + i * between;
    ticks.push_back({level(restored(position)), tickText(position)});
  }
  return ticks;
}

}  // namespace swage::ui
