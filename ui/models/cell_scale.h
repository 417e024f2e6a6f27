// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>
#include <optional>
#include <utility>
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

// What a person says about a scale.
struct ScaleOptions {
  std::optional<bool> logarithmic;                 // nothing: as suits the metric
  std::optional<std::pair<double, double>> range;  // from the lower to the higher value; nothing: those of the cells
  friend bool operator==(const ScaleOptions&, const ScaleOptions&) = default;
};

// Where the values of one metric lie on the colour map: logarithmic for what spans orders of magnitude if nobody says
// otherwise, with round ends, and better is brighter. Speedups contain 1× on a scale that nobody has fixed.
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
                                     Centred centred = Centred::No, const ScaleOptions& options = {});

  [[nodiscard]] CellMetric metric() const { return m_metric; }
  [[nodiscard]] bool isLogarithmic() const { return m_shape != Shape::Linear; }
  // The values at its ends.
  [[nodiscard]] std::pair<double, double> range() const;
  // No cell has a value, and nobody has said which there could be: it has no ticks.
  [[nodiscard]] bool isEmpty() const { return m_isEmpty; }
  // From 0, the worst and darkest, to 1.
  [[nodiscard]] double level(double value) const;
  [[nodiscard]] std::vector<Tick> ticks() const;
  friend bool operator==(const CellScale&, const CellScale&) = default;

 private:
  enum class Shape : std::uint8_t { Linear, Log2, Log10 };

  [[nodiscard]] static Shape shapeOf(CellMetric metric, const ScaleOptions& options);
  void fitTo(const std::vector<double>& positions, Centred centred);
  void fitSpeedups(const std::vector<double>& exponents, Centred centred);
  void fix(const std::pair<double, double>& range);
  [[nodiscard]] double step() const;
  [[nodiscard]] double transformed(double value) const;
  [[nodiscard]] double restored(double position) const;
  [[nodiscard]] QString tickText(double position) const;

  CellMetric m_metric = CellMetric::Speedup;
  Shape m_shape = Shape::Log2;
  double m_low = -1.0;  // log2 or log10 of the value, or the value
  double m_high = 1.0;
  bool m_isEmpty = false;
};

// A diverging map has a middle to show only for speedups; everything else gets one that is even in lightness.
[[nodiscard]] ColorMap colorsFor(CellMetric metric, ColorMap chosen);

}  // namespace swage::ui
