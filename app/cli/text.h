// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/speedup.h"

// What the user types and reads: ids, times, tables. Pure.
namespace swage::cli {

// "17" or "c17" is a candidate, "r3" is a run.
struct RecordReference {
  enum class Kind : std::uint8_t { Candidate, Run } kind = Kind::Candidate;
  std::int64_t number = 0;
};
[[nodiscard]] Result<RecordReference> parseReference(std::string_view text);

[[nodiscard]] std::string formatTime(double ns);          // "1.31 ms"
[[nodiscard]] std::string formatSeconds(double seconds);  // "42 s", "1:05", "1:02:03"
[[nodiscard]] std::string formatSpeedup(double speedup);  // "2.21x", "-"
// "2.21x"; "~2.21x" if its interval is wide; "-" if not known
[[nodiscard]] std::string formatSpeedup(const domain::Speedup& speedup);
// "2.21x (2.10 to 2.30)"; "~2.21x (1.20 to 3.40)"
[[nodiscard]] std::string formatSpeedupInterval(const domain::Speedup& speedup);
[[nodiscard]] std::string formatDate(std::int64_t utcMs);  // "2026-01-31 12:05", UTC

[[nodiscard]] std::string formatInterval(double ns, double lowNs, double highNs);  // "1.31 ms (1.28 to 1.35)"
[[nodiscard]] std::string formatBytes(std::int64_t bytes);                         // "812 B", "1.31 MB"
[[nodiscard]] std::string formatPercent(double share);                             // of 0 to 1: "93 %", "-"
[[nodiscard]] std::string counted(std::int64_t count, std::string_view thing);     // "1 cell", "2 cells"

// Columns as wide as their widest cell; the first row is the heading. Columns of numbers are aligned to the right.
[[nodiscard]] std::string formatTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace swage::cli
