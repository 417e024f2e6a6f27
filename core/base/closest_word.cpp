// SPDX-License-Identifier: Apache-2.0
#include "core/base/closest_word.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace swage {
namespace {

std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> closestWord(std::string_view typed, std::span<const std::string_view> allowed) {
  const auto closest = std::min_element(allowed.begin(), allowed.end(), [typed](auto a, auto b) {
    return editDistance(typed, a) < editDistance(typed, b);
  });
  const std::size_t most = std::max<std::size_t>(2, typed.size() / 5);
  return closest != allowed.end() && editDistance(typed, *closest) <= most ? std::optional(*closest) : std::nullopt;
}

std::string didYouMean(std::string_view typed, std::span<const std::string_view> allowed) {
  if (const auto closest = closestWord(typed, allowed)) {
    return fmt::format("did you mean '{}'?", *closest);
  }
  return fmt::format("write {}", fmt::join(allowed, ", "));
}

}  // namespace swage
