// SPDX-License-Identifier: Apache-2.0
#include "core/domain/proposer_name.h"

#include <algorithm>
#include <array>
#include <utility>

namespace swage::domain {
namespace {

constexpr std::array<std::pair<OperatorKind, std::string_view>, 12> kOperatorNames{{
    {OperatorKind::Baseline, "baseline"},
    {OperatorKind::Synthesis, "synthesis"},
    {OperatorKind::Parameter, "parameter"},
    {OperatorKind::Split, "split"},
    {OperatorKind::Merge, "merge"},
    {OperatorKind::PatternSwap, "pattern swap"},
    {OperatorKind::Crossover, "crossover"},
    {OperatorKind::Rewrite, "rewrite"},
    {OperatorKind::Aimed, "aimed"},
    {OperatorKind::Migration, "migration"},
    {OperatorKind::Human, "human"},
    {OperatorKind::Coder, "coder"},
}};

bool isLetter(char c) {
  return c >= 'a' && c <= 'z';
}
bool isLetterOrDigit(char c) {
  return isLetter(c) || (c >= '0' && c <= '9');
}
bool isAllowed(char c) {
  return isLetterOrDigit(c) || std::string_view(" ./+").find(c) != std::string_view::npos;
}

// Behind all operators.
int placeOf(const ProposerName& proposer) {
  const auto kind = proposer.kind();
  return kind ? static_cast<int>(*kind) : static_cast<int>(kOperatorNames.size());
}

}  // namespace

std::string_view name(OperatorKind kind) {
  for (const auto& [known, text] : kOperatorNames) {
    if (known == kind) {
      return text;
    }
  }
  return "unknown";
}

std::optional<OperatorKind> parseOperatorKind(std::string_view text) {
  for (const auto& [kind, known] : kOperatorNames) {
    if (known == text) {
      return kind;
    }
  }
  return std::nullopt;
}

ProposerName::ProposerName(OperatorKind kind) : m_text(name(kind)), m_kind(kind) {}

std::optional<ProposerName> ProposerName::parse(std::string_view text) {
  const bool isName = !text.empty() && text.size() <= kMaxLength && isLetter(text.front()) &&
                      isLetterOrDigit(text.back()) && std::all_of(text.begin(), text.end(), isAllowed) &&
                      text.find("  ") == std::string_view::npos;
  return isName ? std::optional(ProposerName(text)) : std::nullopt;
}

std::strong_ordering operator<=>(const ProposerName& a, const ProposerName& b) {
  const auto places = placeOf(a) <=> placeOf(b);  // NOLINT(modernize-use-nullptr): clang-tidy 14
  return places != 0 ? places : a.m_text.compare(b.m_text) <=> 0;
}

}  // namespace swage::domain
