// SPDX-License-Identifier: Apache-2.0
#include "app/cli/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace swage::cli {
namespace {

// Code points, as far as a terminal's columns are concerned: continuation bytes do not count.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

Result<std::pair<std::string, std::string>> parseOverride(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Error(ErrorKind::Usage, fmt::format("'--set {}' is not NAME=VALUE", text),
                 "for example --set batch_size=16");
  }
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

Result<Reference> parseReference(std::string_view text) {
  Reference reference;
  std::string_view digits = text;
  if (digits.starts_with('r') || digits.starts_with('R')) {
    reference.kind = Reference::Kind::Run;
    digits.remove_prefix(1);
  } else if (digits.starts_with('c') || digits.starts_with('C')) {
    digits.remove_prefix(1);
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), reference.number);
  if (error != std::errc() || end != digits.data() + digits.size() || reference.number < 0) {
    return Error(ErrorKind::Usage, fmt::format("'{}' names neither a candidate nor a run", text),
                 "17 or c17 is a candidate, r3 is a run; `swage list` shows them");
  }
  return reference;
}

std::string formatTime(double ns) {
  if (ns <= 0.0) {
    return "-";
  }
  if (ns < 1e3) {
    return fmt::format("{:.0f} ns", ns);
  }
  if (ns < 1e6) {
    return fmt::format("{:.3g} µs", ns * 1e-3);
  }
  return ns < 1e9 ? fmt::format("{:.3g} ms", ns * 1e-6) : fmt::format("{:.3g} s", ns * 1e-9);
}

std::string formatSeconds(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  if (whole < 3600) {
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  }
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string formatSpeedup(double speedup) {
  return speedup > 0.0 ? fmt::format("{:.2f}x", speedup) : "-";
}

std::string formatDate(std::int64_t utcMs) {
  const std::time_t seconds = utcMs / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

std::string formatTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) {
        line.append(widths[i] - columns(row[i]) + 2, ' ');
      }
    }
    while (line.ends_with(' ')) {
      line.pop_back();
    }
    text += line + '\n';
  }
  return text;
}

}  // namespace swage::cli
