// SPDX-License-Identifier: Apache-2.0
#include "core/judge/facts.h"

#include <array>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace swage::judge {
namespace {

std::string scaled(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (std::abs(value) >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, units[unit]);
}

std::string formatted(double value, std::string_view form) {
  static constexpr std::array<std::string_view, 5> kBytes{"bytes", "KiB", "MiB", "GiB", "TiB"};
  static constexpr std::array<std::string_view, 4> kTimes{"ns", "us", "ms", "s"};
  if (form == "%") {
    return fmt::format("{:.0f} %", value * 100.0);
  }
  if (form == "bytes") {
    return scaled(value, 1024.0, kBytes);
  }
  if (form == "time") {
    return scaled(value, 1000.0, kTimes);
  }
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.3g}", value);
}

}  // namespace

std::optional<double> Facts::number(std::string_view name) const {
  const auto found = m_numbers.find(name);
  return found == m_numbers.end() ? std::nullopt : std::optional(found->second);
}

const std::string* Facts::word(std::string_view name) const {
  const auto found = m_words.find(name);
  return found == m_words.end() ? nullptr : &found->second;
}

std::optional<std::string> Facts::fill(std::string_view text) const {
  std::string filled;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) {
      break;
    }
    filled += text.substr(0, open);
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::size_t colon = inside.find(':');
    const std::string_view name = inside.substr(0, colon);
    if (const std::string* known = word(name)) {
      filled += *known;
    } else if (const auto value = number(name)) {
      filled += formatted(*value, colon == std::string_view::npos ? std::string_view() : inside.substr(colon + 1));
    } else {
      return std::nullopt;
    }
    text.remove_prefix(close + 1);
  }
  return filled.append(text);
}

std::vector<std::string> Facts::namesIn(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
    names.emplace_back(text.substr(open + 1, text.find_first_of(":}", open) - open - 1));
  }
  return names;
}

}  // namespace swage::judge
