// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>
#include <optional>

namespace swage::ui {

// A measured value, a time in nanoseconds or a speedup, with its 95 % interval. Where only a median is known, it is its
// own interval.
struct DeltaInterval {
  double median = 0.0;  // 0: not measured
  double low = 0.0;
  double high = 0.0;

  [[nodiscard]] bool isKnown() const { return median > 0.0; }
  [[nodiscard]] double relativeHalfWidth() const;
};

// Of two values, which is the better one. Undecided: their intervals overlap, so nobody wins.
enum class Verdict : std::uint8_t { Unknown, Better, Worse, Same, Undecided };

enum class Preference : std::uint8_t { Lower, Higher, Neither };

// How a value stands against another.
struct Delta {
  Verdict verdict = Verdict::Unknown;
  std::optional<double> relative;  // value over reference, less one; no value where the reference is 0
};

[[nodiscard]] Delta compareTimes(const DeltaInterval& value, const DeltaInterval& reference);
// Of other measured values than times: a speedup, say.
[[nodiscard]] Delta compareIntervals(const DeltaInterval& value, const DeltaInterval& reference, Preference preference);
// Of exact numbers: counts, bytes, registers.
[[nodiscard]] Delta compareValues(double value, double reference, Preference preference);

// "−12 %", "+3.4 %", "±0", and after an undecided one that it lies within the intervals. Empty when not known.
[[nodiscard]] QString formatDelta(const Delta& delta);
[[nodiscard]] QString formatPercent(double share);  // of 0 to 1: "93 %", "0.4 %"
[[nodiscard]] QString describe(Verdict verdict);

}  // namespace swage::ui
