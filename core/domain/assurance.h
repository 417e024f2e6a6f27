// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What is checked of a correct candidate beyond its evaluation, because it is too slow for every candidate: before it
// becomes an elite, and before it leaves as an export.
namespace swage::domain {

enum class AssuranceKind : std::uint8_t {
  HeldBackSeeds,  // inputs that no earlier check used
  Memcheck,       // compute-sanitizer's tools
  Racecheck,
  Initcheck,
  HeldOutShapes,  // the task at other sizes
  FreshProcess,   // measured again by a new worker
};
[[nodiscard]] std::string_view name(AssuranceKind kind);   // in records and JSON: does not change
[[nodiscard]] std::string_view title(AssuranceKind kind);  // for people: "unseen seeds"
[[nodiscard]] std::optional<AssuranceKind> parseAssuranceKind(std::string_view text);

// Why Racecheck had nothing to do: what swage-replay prints, and the detail of the assurance, which is then Passed.
inline constexpr std::string_view kNoSharedMemory = "no kernel uses shared memory";

enum class AssuranceVerdict : std::uint8_t { Passed, Failed, Unavailable };
[[nodiscard]] std::string_view name(AssuranceVerdict verdict);
[[nodiscard]] std::optional<AssuranceVerdict> parseAssuranceVerdict(std::string_view text);

struct Assurance {
  AssuranceKind kind = AssuranceKind::HeldBackSeeds;
  AssuranceVerdict verdict = AssuranceVerdict::Unavailable;
  std::string detail;  // what failed and where, or why it could not be checked and what to do
  double seconds = 0.0;
  friend bool operator==(const Assurance&, const Assurance&) = default;
};

}  // namespace swage::domain
