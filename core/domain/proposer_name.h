// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swage::domain {

// The operators of Swage's own that make candidates.
enum class OperatorKind : std::uint8_t {
  Baseline,     // the graph as it is, every node an ATen step
  Synthesis,    // a fresh genome
  Parameter,    // local search inside a structure
  Split,        // one region becomes two
  Merge,        // two regions become one
  PatternSwap,  // another pattern for a region
  Crossover,    // regions of two parents
  Rewrite,      // one more rewrite of the graph, or one less
  Aimed,        // a change meant to land in an empty neighbour cell
  Migration,    // an elite of another island, not evaluated again
  Human,
  Coder,  // an LLM
};
[[nodiscard]] std::string_view name(OperatorKind kind);
[[nodiscard]] std::optional<OperatorKind> parseOperatorKind(std::string_view text);

// Who made a candidate, by name: an operator of the search, or anybody else who proposes programs. The record keeps the
// name, so that candidates of a proposer that this version does not have can still be read. A name begins with a letter
// and ends with a letter or a digit, and has only lower-case letters, digits, single spaces and `.`, `/`, `+`: so it
// can be typed in a filter, where `-` and `_` stand for a space.
class ProposerName {
 public:
  static constexpr std::size_t kMaxLength = 48;

  ProposerName(OperatorKind kind);  // NOLINT(google-explicit-constructor): an operator is its name
  // No value: not a name.
  [[nodiscard]] static std::optional<ProposerName> parse(std::string_view text);

  [[nodiscard]] const std::string& text() const { return m_text; }
  // Which operator of Swage's own it is; no value: somebody else.
  [[nodiscard]] std::optional<OperatorKind> kind() const { return m_kind; }

  friend bool operator==(const ProposerName&, const ProposerName&) = default;
  // Operators in the order of their enumeration, then the others by their text.
  friend std::strong_ordering operator<=>(const ProposerName& a, const ProposerName& b);

 private:
  explicit ProposerName(std::string_view text) : m_text(text), m_kind(parseOperatorKind(text)) {}

  std::string m_text;
  std::optional<OperatorKind> m_kind;
};
// As long as `proposer` lives.
[[nodiscard]] inline std::string_view name(const ProposerName& proposer) {
  return proposer.text();
}

}  // namespace swage::domain
