// SPDX-License-Identifier: Apache-2.0
#include "core/base/duration.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/base/trimmed.h"

namespace swage {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit kUnits[] = {{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"min", 60.0}, {"h", 3600.0}};
constexpr double kMaxSeconds = 365.0 * 24.0 * 3600.0;

Error badDuration(std::string_view text) {
  return {ErrorKind::Usage, fmt::format("'{}' is not a duration", text), "write 60s, 2m or 1h30m"};
}

}  // namespace

Result<double> parseDuration(std::string_view text) {
  double total = 0.0;
  std::string_view rest = trimmed(text);
  while (!rest.empty()) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (error != std::errc() || number < 0.0) {
      return badDuration(text);
    }
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const std::size_t length = std::min(rest.find_first_of("0123456789."), rest.size());
    const std::string_view unit = trimmed(rest.substr(0, length));
    if (unit.empty() && length == rest.size() && total == 0.0) {
      total = number;
      break;
    }
    const auto* found =
        std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& u) { return u.name == unit; });
    if (found == std::end(kUnits)) {
      return badDuration(text);
    }
    total += number * found->seconds;
    rest.remove_prefix(length);
  }
  if (!std::isfinite(total) || total <= 0.0 || total > kMaxSeconds) {
    return badDuration(text);
  }
  return total;
}

}  // namespace swage
