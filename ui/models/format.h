// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/domain/speedup.h"

// How numbers read everywhere in the window. Pure functions; digits and separators do not follow the user's locale, so
// that a number can be pasted into the command line or a report.
namespace swage::ui {

[[nodiscard]] QString toQString(std::string_view text);
// What the engine says, which begins in lower case as on a command line, for the window: "Candidate 17 is …". A name
// such as torch.compile or compute-sanitizer at the beginning stays.
[[nodiscard]] std::string asSentence(std::string text);
[[nodiscard]] QString formatTime(double nanoseconds);  // "12.3 µs"; "–" for none
// "12.3 µs ± 0.8 %": half the interval's larger side, relative to the median.
[[nodiscard]] QString formatInterval(double medianNs, double lowNs, double highNs);
[[nodiscard]] QString formatSpeedup(double speedup);  // "2.31×"; "–" for none
// "2.31×"; "≈2.31×" if its interval is wide.
[[nodiscard]] QString formatSpeedup(const domain::Speedup& speedup);
// "2.31× (2.25 to 2.40)"; "≈2.31× (1.20 to 3.40)".
[[nodiscard]] QString formatSpeedupInterval(const domain::Speedup& speedup);
// "2.31× ± 3.2 %", for a column: half the interval's larger side, relative to the value.
[[nodiscard]] QString formatSpeedupMargin(const domain::Speedup& speedup);
[[nodiscard]] QString formatCount(std::int64_t count);    // "7,412"
[[nodiscard]] QString formatDuration(double seconds);     // "1:05", "1:00:05"
[[nodiscard]] QString formatError(double relativeError);  // "1.2e-07"
[[nodiscard]] QString formatRate(double perSecond);       // "9.8/s"
[[nodiscard]] QString formatShare(double share);          // "93 %"

// swage::parseDuration (core/base/duration.h) for what a person types: in any case, nothing instead of an error.
[[nodiscard]] std::optional<double> parseDuration(const QString& text);
// The inverse, for a field the user edits: "90 s", "5 min", "2 h".
[[nodiscard]] QString editableDuration(double seconds);

}  // namespace swage::ui
