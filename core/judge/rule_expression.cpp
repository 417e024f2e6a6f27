// SPDX-License-Identifier: Apache-2.0
#include "core/judge/rule_expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace swage::judge {
namespace {

constexpr int kDeepest = 64;  // parentheses in each other: a file must not overflow the stack

bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

}  // namespace

// Recursive descent, one function for each level of precedence. After the first mistake nothing more is read.
class RuleExpression::Reader {
 public:
  explicit Reader(std::string_view text) : m_text(text) {}

  Result<std::vector<Term>> read() {
    alternatives();
    skipBlanks();
    if (m_mistake.empty() && m_at < m_text.size()) {
      mistake("something is left over");
    }
    if (!m_mistake.empty()) {
      return Error(ErrorKind::InvalidInput, fmt::format("'{}': {} at column {}", m_text, m_mistake, m_mistakeAt + 1));
    }
    return std::move(m_terms);
  }

 private:
  void mistake(std::string_view what) {
    if (m_mistake.empty()) {
      m_mistake = what;
      m_mistakeAt = m_at;
    }
  }
  void skipBlanks() {
    while (m_at < m_text.size() && std::isspace(static_cast<unsigned char>(m_text[m_at])) != 0) {
      ++m_at;
    }
  }
  bool take(std::string_view token) {
    skipBlanks();
    if (!m_text.substr(m_at).starts_with(token)) {
      return false;
    }
    const std::size_t behind = m_at + token.size();
    if (isNameCharacter(token.back()) && behind < m_text.size() && isNameCharacter(m_text[behind])) {
      return false;  // the beginning of a longer word
    }
    m_at = behind;
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) {
      mistake(fmt::format("'{}' is missing", token));
    }
  }
  std::size_t add(Term term) {
    m_terms.push_back(std::move(term));
    return m_terms.size() - 1;
  }
  std::size_t pair(Kind kind, std::size_t left, std::size_t right) {
    return add({.kind = kind, .number = 0.0, .name = {}, .left = left, .right = right});
  }

  std::size_t alternatives() {
    std::size_t left = conditions();
    while (m_mistake.empty() && take("or")) {
      const std::size_t right = conditions();
      left = pair(Kind::Or, left, right);
    }
    return left;
  }
  std::size_t conditions() {
    std::size_t left = comparison();
    while (m_mistake.empty() && take("and")) {
      const std::size_t right = comparison();
      left = pair(Kind::And, left, right);
    }
    return left;
  }
  std::size_t comparison() {
    static constexpr std::pair<std::string_view, Kind> kSigns[] = {
        {"<=", Kind::LessOrEqual}, {">=", Kind::GreaterOrEqual}, {"==", Kind::Equal}, {"!=", Kind::NotEqual},
        {"<", Kind::Less},         {">", Kind::Greater}};
    const std::size_t left = sum();
    for (const auto& [sign, kind] : kSigns) {
      if (take(sign)) {
        const std::size_t right = sum();
        return pair(kind, left, right);
      }
    }
    return left;
  }
  std::size_t sum() {
    std::size_t left = product();
    while (m_mistake.empty()) {
      const bool adds = take("+");
      if (!adds && !take("-")) {
        break;
      }
      const std::size_t right = product();
      left = pair(adds ? Kind::Add : Kind::Subtract, left, right);
    }
    return left;
  }
  std::size_t product() {
    std::size_t left = single();
    while (m_mistake.empty()) {
      const bool multiplies = take("*");
      if (!multiplies && !take("/")) {
        break;
      }
      const std::size_t right = single();
      left = pair(multiplies ? Kind::Multiply : Kind::Divide, left, right);
    }
    return left;
  }
  std::size_t single() {
    if (++m_depth > kDeepest) {
      mistake("it is too deep");
    }
    const std::size_t index = m_mistake.empty() ? readSingle() : 0;
    --m_depth;
    return index;
  }
  std::size_t readSingle() {
    if (take("(")) {
      const std::size_t inside = alternatives();
      expect(")");
      return inside;
    }
    if (take("not")) {
      const std::size_t what = comparison();
      return pair(Kind::Not, what, what);
    }
    if (take("-")) {
      const std::size_t what = single();
      return pair(Kind::Negate, what, what);
    }
    skipBlanks();
    const char first = m_at < m_text.size() ? m_text[m_at] : '\0';
    return std::isdigit(static_cast<unsigned char>(first)) != 0 ? number() : named();
  }
  std::size_t number() {
    Term term;
    const char* begin = m_text.data() + m_at;
    const auto [end, error] = std::from_chars(begin, m_text.data() + m_text.size(), term.number);
    if (error != std::errc()) {
      mistake("this is no number");
    }
    m_at += static_cast<std::size_t>(end - begin);
    return add(std::move(term));
  }
  std::size_t named() {
    const std::size_t begin = m_at;
    const bool isName = m_at < m_text.size() && std::isalpha(static_cast<unsigned char>(m_text[m_at])) != 0;
    while (isName && m_at < m_text.size() && isNameCharacter(m_text[m_at])) {
      ++m_at;
    }
    std::string name(m_text.substr(begin, m_at - begin));
    if (name.empty()) {
      mistake("a number or a fact is missing");
      return 0;
    }
    if (!take("(")) {
      return add({.kind = Kind::Fact, .number = 0.0, .name = std::move(name)});
    }
    return call(name);
  }
  std::size_t call(const std::string& name) {
    if (name == "known") {
      skipBlanks();
      const std::size_t inside = named();
      expect(")");
      if (m_mistake.empty() && m_terms[inside].kind != Kind::Fact) {
        mistake("known() takes a fact");
      }
      return pair(Kind::Known, inside, inside);
    }
    if (name != "min" && name != "max") {
      mistake(fmt::format("there is no function '{}'", name));
      return 0;
    }
    const std::size_t left = alternatives();
    expect(",");
    const std::size_t right = alternatives();
    expect(")");
    return pair(name == "min" ? Kind::Minimum : Kind::Maximum, left, right);
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  int m_depth = 0;
  std::string m_mistake;
  std::size_t m_mistakeAt = 0;
  std::vector<Term> m_terms;
};

Result<RuleExpression> RuleExpression::parse(std::string_view text) {
  RuleExpression expression;
  expression.m_text = text;
  SWAGE_TRY_ASSIGN(expression.m_terms, Reader(expression.m_text).read());
  return expression;
}

std::optional<double> RuleExpression::value(const Facts& facts) const {
  const auto found = valueOf(m_terms.size() - 1, facts);
  return found && std::isfinite(*found) ? found : std::nullopt;
}

bool RuleExpression::holds(const Facts& facts) const {
  return value(facts).value_or(0.0) != 0.0;
}

std::vector<std::string> RuleExpression::names() const {
  std::vector<std::string> found;
  for (const Term& term : m_terms) {
    if (term.kind == Kind::Fact) {
      found.push_back(term.name);
    }
  }
  return found;
}

std::optional<double> RuleExpression::valueOf(std::size_t index, const Facts& facts) const {
  const Term& term = m_terms[index];
  if (term.kind == Kind::Number) {
    return term.number;
  }
  if (term.kind == Kind::Fact) {
    return facts.number(term.name);
  }
  const auto left = valueOf(term.left, facts);
  if (term.kind == Kind::Known) {
    return left ? 1.0 : 0.0;
  }
  const auto right = valueOf(term.right, facts);
  if (term.kind == Kind::And || term.kind == Kind::Or) {
    const bool decides = term.kind == Kind::Or;  // the truth that makes the other side irrelevant
    const auto says = [decides](const auto& side) { return side && (*side != 0.0) == decides; };
    if (says(left) || says(right)) {
      return decides ? 1.0 : 0.0;
    }
    return left && right ? std::optional(decides ? 0.0 : 1.0) : std::nullopt;
  }
  if (!left || !right) {
    return std::nullopt;
  }
  switch (term.kind) {
    case Kind::Negate: return -*left;
    case Kind::Not: return *left == 0.0 ? 1.0 : 0.0;
    case Kind::Add: return *left + *right;
    case Kind::Subtract: return *left - *right;
    case Kind::Multiply: return *left * *right;
    case Kind::Divide: return *right != 0.0 ? std::optional(*left / *right) : std::nullopt;
    case Kind::Minimum: return std::min(*left, *right);
    case Kind::Maximum: return std::max(*left, *right);
    case Kind::Less: return *left < *right ? 1.0 : 0.0;
    case Kind::LessOrEqual: return *left <= *right ? 1.0 : 0.0;
    case Kind::Greater: return *left > *right ? 1.0 : 0.0;
    case Kind::GreaterOrEqual: return *left >= *right ? 1.0 : 0.0;
    case Kind::Equal: return *left == *right ? 1.0 : 0.0;
    case Kind::NotEqual: return *left != *right ? 1.0 : 0.0;
    default: return std::nullopt;
  }
}

}  // namespace swage::judge
