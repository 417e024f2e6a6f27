// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/services/types.h"
#include "ui/models/color_map.h"

namespace swage::ui {

// What the colours and values of the map stand for, always of the best candidate of a cell but for Tried.
enum class CellMetric : std::uint8_t { Speedup, Time, RoofShare, Registers, Error, Found, Tried };
inline constexpr int kCellMetrics = 7;
[[nodiscard]] QString title(CellMetric metric);    // "Speedup"
[[nodiscard]] QString explain(CellMetric metric);  // in one sentence

// Nothing where the cell has no such value: no correct candidate, or no baseline yet.
[[nodiscard]] std::optional<double> valueOf(CellMetric metric, const services::CellSummary& cell);
[[nodiscard]] QString formatValue(CellMetric metric, double value);

// Where the values of one metric lie on the colour map: always logarithmic for what spans orders of magnitude, with
// round ends, and better is brighter. Speedups always contain 1×.
class CellScale {
 public:
  struct Tick {
    double level = 0.0;
    QString text;
  };
  // The same distance below and above 1×: for a diverging colour map, whose middle means "as the baseline".
  enum class Centred : std::uint8_t { No, Yes };

  CellScale() = default;
  [[nodiscard]] static CellScale fit(CellMetric metric, const std::vector<services::CellSummary>& cells,
                                     Centred centred = Centred::No);

  [[nodiscard]] CellMetric metric() const { return m_metric; }
  // From 0, the worst and darkest, to 1.
  [[nodiscard]] double level(double value) const;
  [[nodiscard]] std::vector<Tick> ticks() const;
  friend bool operator==(const CellScale&, const CellScale&) = default;

 private:
  CellScale(CellMetric metric, double low, double high) : m_metric(metric), m_low(low), m_high(high) {}
  [[nodiscard]] static CellScale fitSpeedup(const std::vector<double>& exponents, Centred centred);

  CellMetric m_metric = CellMetric::Speedup;
  double m_low = -1.0;  // log2 of a speedup, log10 of a time, an error or a number of candidates, else the value
  double m_high = 1.0;
};

// A diverging map has a middle to show only for speedups; everything else gets one that is even in lightness.
[[nodiscard]] ColorMap colorsFor(CellMetric metric, ColorMap chosen);

}  // namespace swage::ui
