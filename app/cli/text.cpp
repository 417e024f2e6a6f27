// SPDX-License-Identifier: Apache-2.0
#include "app/cli/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "app/cli/terminal.h"

namespace swage::cli {
namespace {

// "1.31 ms", "-3 %", "~2.21x", "±4 %", and "-" or nothing for what is not known.
enum class Looks : std::uint8_t { Empty, Number, Word };
Looks looksOf(std::string_view cell) {
  if (cell.empty() || cell == "-") {
    return Looks::Empty;
  }
  for (const std::string_view sign : {"-", "+", "~", "±", "<", ">"}) {
    if (cell.starts_with(sign)) {
      cell.remove_prefix(sign.size());
      break;
    }
  }
  return !cell.empty() && cell.front() >= '0' && cell.front() <= '9' ? Looks::Number : Looks::Word;
}

bool isOfNumbers(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  bool hasNumber = false;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Looks looks = column < rows[i].size() ? looksOf(rows[i][column]) : Looks::Empty;
    if (looks == Looks::Word) {
      return false;
    }
    hasNumber = hasNumber || looks == Looks::Number;
  }
  return hasNumber;
}

}  // namespace

Result<RecordReference> parseReference(std::string_view text) {
  RecordReference reference;
  std::string_view digits = text;
  if (digits.starts_with('r') || digits.starts_with('R')) {
    reference.kind = RecordReference::Kind::Run;
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

std::string formatSpeedup(const domain::Speedup& speedup) {
  return (speedup.isUncertain() ? "~" : "") + formatSpeedup(speedup.value);
}

std::string formatSpeedupInterval(const domain::Speedup& speedup) {
  return speedup.hasInterval() ? fmt::format("{} ({:.2f} to {:.2f})", formatSpeedup(speedup), speedup.low, speedup.high)
                               : formatSpeedup(speedup);
}

std::string formatDate(std::int64_t utcMs) {
  const std::time_t seconds = utcMs / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

std::string formatInterval(double ns, double lowNs, double highNs) {
  const std::string time = formatTime(ns);
  return ns > 0.0 && highNs > lowNs ? fmt::format("{} ({} to {})", time, formatTime(lowNs), formatTime(highNs)) : time;
}

std::string formatBytes(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e3) {
    return fmt::format("{} B", bytes);
  }
  if (value < 1e6) {
    return fmt::format("{:.2f} kB", value * 1e-3);
  }
  return value < 1e9 ? fmt::format("{:.2f} MB", value * 1e-6) : fmt::format("{:.2f} GB", value * 1e-9);
}

std::string formatPercent(double share) {
  return share > 0.0 ? fmt::format("{:.0f} %", 100.0 * share) : "-";
}

std::string counted(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string formatTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columnsOf(row[i]));
    }
  }
  std::vector<bool> isRight(widths.size());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    isRight[i] = isOfNumbers(rows, i);
  }
  std::string text;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const auto& row = rows[number];
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - columnsOf(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (isRight[i] ? space + row[i] : row[i] + space);
    }
    while (line.ends_with(' ')) {
      line.pop_back();
    }
    text += (number == 0 ? painted(Tone::Heading, line) : line) + '\n';
  }
  return text;
}

}  // namespace swage::cli
