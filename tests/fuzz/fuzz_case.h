// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/json.h"

namespace swage::fuzz {

// A graph to try, with what fills its inputs. Made from a seed, or read from a file of the corpus.
struct FuzzCase {
  std::uint64_t seed = 0;
  domain::Graph graph;
  domain::Graph generator;
  std::vector<domain::Genome> genomes;  // candidates that failed once; tried beside those drawn from the seed
  std::string why;                      // what it was kept for
};

// The same seed gives the same case everywhere.
[[nodiscard]] FuzzCase makeCase(std::uint64_t seed);

[[nodiscard]] domain::Json toJson(const FuzzCase& value);
[[nodiscard]] Result<FuzzCase> caseFromJson(const domain::Json& json);
[[nodiscard]] Result<FuzzCase> readCase(const std::filesystem::path& file);
// A number is a seed, anything else a file.
[[nodiscard]] Result<FuzzCase> findCase(const std::string& item);

// Something that must not happen.
struct Finding {
  std::string kind;  // "crash in synthesis", "wrong", …
  std::string detail;
  domain::Genome genome;
};
// Beyond the contract by a few roundings: a random graph may have a cancellation where PyTorch is exact by luck.
// Counted beside the others and no failure.
inline constexpr std::string_view kInexact = "inexact";

[[nodiscard]] domain::Json toJson(const Finding& finding);
[[nodiscard]] Finding findingFromJson(const domain::Json& json);

}  // namespace swage::fuzz
