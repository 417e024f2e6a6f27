// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/error.h"

// The language in which candidates and runs are looked for, in the window and on the command line:
//   status:correct speedup>1.5 cell:A2B2C1,A3 -operator:human tag:"good one" time:20us..30us pinned softmax
// Terms next to each other must all hold, `-` in front of one turns it round, commas separate alternatives, quotes keep
// spaces together, and a word without a key is looked for in the text. What stands for what is in a vocabulary.
namespace swage::domain {

enum class FilterKind : std::uint8_t {
  Flag,      // stands alone: pinned
  Choice,    // one of a fixed set of words
  Proposer,  // an operator of the search, or another name of who made a candidate (ProposerName)
  Name,      // the whole name, in any case
  Text,      // a part of a text, in any case
  Integer,   // 17, 10..20
  Number,    // 1.5, 1e-6
  Time,      // 30us; nanoseconds as a value
  Duration,  // 90s, 5min; seconds as a value
  Cell,      // A2B1C0, or the axes that matter: A2, B1C0; Cell::index() as a value
};

struct FilterKey {
  std::string_view name;
  FilterKind kind = FilterKind::Flag;
  std::string_view meaning;  // one line for a list of completions
  std::vector<std::string_view> choices = {};
  std::vector<std::string_view> olderChoices = {};  // understood, but not offered
};
using FilterVocabulary = std::span<const FilterKey>;

[[nodiscard]] FilterVocabulary candidateFilterKeys();
[[nodiscard]] FilterVocabulary runFilterKeys();

// Between two numbers. `speedup>1.5` has no upper end; a number without a comparison reaches as far as its last digit.
struct FilterRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool lowIsIn = true;
  bool highIsIn = true;

  [[nodiscard]] bool contains(double value) const;
  friend bool operator==(const FilterRange&, const FilterRange&) = default;
};
using FilterValue = std::variant<std::string, FilterRange>;

struct FilterTerm {
  std::string key;  // of the vocabulary; empty: in the text
  bool negated = false;
  std::vector<FilterValue> values;  // one of them holds; none for a Flag
  friend bool operator==(const FilterTerm&, const FilterTerm&) = default;
};

struct Filter {
  std::vector<FilterTerm> terms;

  [[nodiscard]] bool isEmpty() const { return terms.empty(); }
  [[nodiscard]] bool mentions(std::string_view key) const;
  friend bool operator==(const Filter&, const Filter&) = default;
};

// What is wrong with a text, and where: bytes from its beginning.
struct FilterError {
  std::size_t position = 0;
  std::size_t length = 0;
  std::string message;
};
[[nodiscard]] tl::expected<Filter, FilterError> parseFilter(std::string_view text, FilterVocabulary vocabulary);
// The same as an Error of the command line, with a mark under the place.
[[nodiscard]] Error usageError(const FilterError& error, std::string_view text);

// `text` in any case (of ASCII letters) contains `part`.
[[nodiscard]] bool containsText(std::string_view text, std::string_view part);

}  // namespace swage::domain
