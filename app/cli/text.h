// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"

// What the user types and reads: ids, times, tables. Pure.
namespace swage::cli {

// "NAME=VALUE"
[[nodiscard]] Result<std::pair<std::string, std::string>> parseOverride(std::string_view text);

// "17" or "c17" is a candidate, "r3" is a run.
struct Reference {
  enum class Kind : std::uint8_t { Candidate, Run } kind = Kind::Candidate;
  std::int64_t number = 0;
};
[[nodiscard]] Result<Reference> parseReference(std::string_view text);

[[nodiscard]] std::string formatTime(double ns);           // "1.31 ms"
[[nodiscard]] std::string formatSeconds(double seconds);   // "42 s", "1:05", "1:02:03"
[[nodiscard]] std::string formatSpeedup(double speedup);   // "2.21x", "-"
[[nodiscard]] std::string formatDate(std::int64_t utcMs);  // "2026-01-31 12:05", UTC

// Columns as wide as their widest cell; the first row is the heading.
[[nodiscard]] std::string formatTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace swage::cli
