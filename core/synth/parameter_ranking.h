// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/synth/strategy.h"

// Which parameters of a pattern to try first for a region, by what its strategy says of the time.
namespace swage::synth {

struct RankedParameters {
  Parameters parameters;
  double seconds = 0.0;
};

// Whether nothing is rounded to less than it has.
[[nodiscard]] bool isExact(const RankedParameters& ranked);
// The strategy's estimate, several times as long where the numeric mode is less accurate than the operands, or where it
// is more accurate than PyTorch, whose results may have to be met. No value: the strategy knows nothing.
[[nodiscard]] std::optional<double> rankOf(const Strategy& strategy, const Instance& instance);

// The strategy accepts the region. At most `count`, the fastest first, each at least two parameters apart from those
// before it, or, of recurrent layers, of another numeric mode, too. Empty: the strategy knows nothing, or nothing fits.
// Patterns with very many parameter sets are only looked through in part. Where PyTorch rounds operands and all of
// these do so as well, the fastest that does not is one more, at the end.
[[nodiscard]] std::vector<RankedParameters> bestParameters(const Strategy& strategy, const patterns::Pattern& pattern,
                                                           const Region& region, const domain::DeviceInfo& device,
                                                           std::size_t count);

// Whether there are parameters with which the strategy, which accepts the region, computes it on the device.
[[nodiscard]] bool fitsSomehow(const Strategy& strategy, const patterns::Pattern& pattern, const Region& region,
                               const domain::DeviceInfo& device);

// Counts through all values of all parameters. No value: there are no more.
[[nodiscard]] Parameters firstParameters(const patterns::Pattern& pattern);
[[nodiscard]] std::optional<Parameters> parametersAfter(const patterns::Pattern& pattern, Parameters parameters);

}  // namespace swage::synth
