// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace swage::domain {

// How many times as fast one way is as another, with its 95 % interval. Against what, says the member that holds it;
// where it says nothing, it is the fastest of PyTorch's ways that a run's candidates compete with.
struct Speedup {
  double value = 0.0;  // 0: not known
  double low = 0.0;
  double high = 0.0;

  // Without an interval of its own: 1 of a way against itself, or a number of an earlier version.
  [[nodiscard]] static constexpr Speedup exactly(double value) { return {value, value, value}; }
  // Of a time against another time, both with their intervals, that were not measured in turns. Not known if one of
  // the medians is not.
  struct Times {
    double medianNs = 0.0;
    double lowNs = 0.0;  // 0: no interval, the median stands for it
    double highNs = 0.0;
  };
  [[nodiscard]] static Speedup ofTimes(const Times& slow, const Times& fast);

  [[nodiscard]] constexpr bool isKnown() const { return value > 0.0; }
  [[nodiscard]] constexpr bool hasInterval() const { return isKnown() && high > low; }
  // The interval is wider than ±20 %: shown as uncertain and measured again before it wins.
  [[nodiscard]] bool isUncertain() const;
  // a over b times b over c is a over c. The ends are multiplied as well, which gives a wider interval than the two
  // measurements need if they err independently, and the right one if they do not. Not known if one of the two is not.
  [[nodiscard]] Speedup times(const Speedup& other) const;

  friend bool operator==(const Speedup&, const Speedup&) = default;
};

// The order of every ranking: by the lower end of the interval, then by the value. What is not known comes last.
[[nodiscard]] bool ranksBefore(const Speedup& a, const Speedup& b);

}  // namespace swage::domain
