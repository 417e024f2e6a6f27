// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/domain/evaluation.h"

// Whether a timing can be believed.
namespace swage::stats {

// Stop reasons of a measurement that ended without a time to rely on.
inline constexpr std::string_view kThrottled = "throttled";  // the device was hot, short of power or shared to the end
inline constexpr std::string_view kNoisy = "noisy";          // its interval stayed wide, however long it was measured
[[nodiscard]] bool isDoubtful(const domain::Timing& timing);

// (high - low) / median above which a measurement is noisy.
inline constexpr double kNoisyWidth = 0.15;
[[nodiscard]] double relativeWidth(const domain::Timing& timing);

// The three clocks of a timing, compared: the device was busy for longer, by the host's clock or by activity records of
// all streams, than its events say. That is what work on a stream that nobody times looks like. The other way round is
// no finding: a call with several launches has gaps, in which no record says that the device is busy.
// Allowed are 15 % and, beside that, 100 us of the host (it is interrupted now and then) or 10 us of the records.
// Numbers that are 0 were not taken. The text names all three.
[[nodiscard]] std::optional<std::string> findDisagreement(const domain::Timing& timing);

}  // namespace swage::stats
