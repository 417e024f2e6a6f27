// SPDX-License-Identifier: Apache-2.0
#include "core/domain/filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/base/closest_word.h"
#include "core/base/duration.h"
#include "core/domain/cell.h"
#include "core/domain/proposer_name.h"

namespace swage::domain {
namespace {

template <class T>
using Parsed = tl::expected<T, FilterError>;

struct Token {
  std::size_t position = 0;
  std::size_t length = 0;
  std::string text;
  bool quoted = false;
};

enum class Comparison : std::uint8_t { Is, IsNot, Below, AtMost, Above, AtLeast };
struct ComparisonSign {
  std::string_view text;
  Comparison comparison;
};
// The longer ones first.
constexpr std::array<ComparisonSign, 7> kSigns{{{"<=", Comparison::AtMost},
                                                {">=", Comparison::AtLeast},
                                                {"!=", Comparison::IsNot},
                                                {"<", Comparison::Below},
                                                {">", Comparison::Above},
                                                {":", Comparison::Is},
                                                {"=", Comparison::Is}}};

bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool isKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

// Words of several parts may be typed without quotes: compile-error, pattern_swap.
std::string choiceText(std::string_view text) {
  std::string result = lowered(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '-' || c == '_'; }, ' ');
  return result;
}

tl::unexpected<FilterError> fail(const Token& where, std::string message) {
  return tl::unexpected(FilterError{where.position, where.length, std::move(message)});
}

std::optional<double> numberFrom(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? std::optional(value)
                                                                                          : std::nullopt;
}

// Half of the last digit that was typed: "1.5" means anything that reads as 1.5.
double halfOfLastDigit(std::string_view digits) {
  const std::size_t exponentAt = std::min(digits.find_first_of("eE"), digits.size());
  const std::size_t pointAt = digits.substr(0, exponentAt).find('.');
  const double decimals = pointAt == std::string_view::npos ? 0.0 : static_cast<double>(exponentAt - pointAt - 1);
  const double exponent = exponentAt == digits.size() ? 0.0 : numberFrom(digits.substr(exponentAt + 1)).value_or(0.0);
  return 0.5 * std::pow(10.0, exponent - decimals);
}

struct Quantity {
  double value = 0.0;
  double tolerance = 0.0;  // to each side
};

std::optional<Quantity> timeFrom(std::string_view text) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr std::array<Unit, 5> kUnits{{{"ns", 1.0}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  for (const Unit& unit : kUnits) {
    if (text.ends_with(unit.name)) {
      const std::string_view digits = text.substr(0, text.size() - unit.name.size());
      if (const auto number = numberFrom(digits)) {
        return Quantity{*number * unit.nanoseconds, halfOfLastDigit(digits) * unit.nanoseconds};
      }
    }
  }
  return std::nullopt;
}

std::optional<Quantity> quantityFrom(std::string_view text, FilterKind kind) {
  switch (kind) {
    case FilterKind::Time: return timeFrom(text);
    case FilterKind::Duration: {
      const Result<double> seconds = parseDuration(text);
      return seconds ? std::optional(Quantity{*seconds, 0.5}) : std::nullopt;
    }
    case FilterKind::Integer: {
      const std::optional<double> number = numberFrom(text.starts_with('r') ? text.substr(1) : text);
      return number && std::floor(*number) == *number ? std::optional(Quantity{*number, 0.0}) : std::nullopt;
    }
    default: {
      const std::optional<double> number = numberFrom(text);
      return number ? std::optional(Quantity{*number, halfOfLastDigit(text)}) : std::nullopt;
    }
  }
}

std::string_view exampleOf(FilterKind kind) {
  switch (kind) {
    case FilterKind::Time: return "a time with its unit, such as 30us or 1.2ms";
    case FilterKind::Duration: return "a duration, such as 90s or 5min";
    case FilterKind::Integer: return "a whole number, or two of them as 10..20";
    default: return "a number, such as 1.5 or 1e-6";
  }
}

FilterRange rangeOf(const Quantity& quantity, Comparison comparison) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (comparison) {
    case Comparison::Below: return {-kInfinity, quantity.value, true, false};
    case Comparison::AtMost: return {-kInfinity, quantity.value, true, true};
    case Comparison::Above: return {quantity.value, kInfinity, false, true};
    case Comparison::AtLeast: return {quantity.value, kInfinity, true, true};
    case Comparison::Is:
    case Comparison::IsNot: break;
  }
  return {quantity.value - quantity.tolerance, quantity.value + quantity.tolerance, true, quantity.tolerance == 0.0};
}

Parsed<FilterValue> quantityValue(const Token& token, const FilterKey& key, Comparison comparison) {
  const std::size_t dots = token.text.find("..");
  const bool isRange = dots != std::string::npos && (comparison == Comparison::Is || comparison == Comparison::IsNot);
  if (isRange) {
    const auto low = quantityFrom(std::string_view(token.text).substr(0, dots), key.kind);
    const auto high = quantityFrom(std::string_view(token.text).substr(dots + 2), key.kind);
    if (low && high && low->value <= high->value) {
      return FilterValue(FilterRange{low->value, high->value, true, true});
    }
  } else if (const auto quantity = quantityFrom(token.text, key.kind)) {
    return FilterValue(rangeOf(*quantity, comparison));
  }
  return fail(token, fmt::format("'{}' is not {}", token.text, exampleOf(key.kind)));
}

// The cells of "A2B1C0", "A3", "b1c0": every axis that is not named may be anything.
std::vector<int> cellsOf(std::string_view text) {
  std::array<int, 3> wanted{-1, -1, -1};
  constexpr std::array<int, 3> kSizes{4, 3, 3};
  if (text.empty() || text.size() % 2 != 0) {
    return {};
  }
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int axis = lower(text[i]) - 'a';
    const int step = text[i + 1] - '0';
    if (axis < 0 || axis > 2 || step < 0 || step >= kSizes[static_cast<std::size_t>(axis)] ||
        wanted[static_cast<std::size_t>(axis)] >= 0) {
      return {};
    }
    wanted[static_cast<std::size_t>(axis)] = step;
  }
  std::vector<int> cells;
  for (int index = 0; index < kCellCount; ++index) {
    const Cell cell = Cell::fromIndex(index);
    const std::array<int, 3> steps{static_cast<int>(cell.movement), static_cast<int>(cell.arithmetic),
                                   static_cast<int>(cell.decomposition)};
    if (std::equal(steps.begin(), steps.end(), wanted.begin(),
                   [](int step, int want) { return want < 0 || step == want; })) {
      cells.push_back(index);
    }
  }
  return cells;
}

Parsed<std::vector<FilterValue>> cellValues(const Token& token) {
  std::vector<FilterValue> values;
  for (const int index : cellsOf(token.text)) {
    values.emplace_back(FilterRange{static_cast<double>(index), static_cast<double>(index), true, true});
  }
  if (values.empty()) {
    return fail(token, fmt::format("'{}' is no cell; write A0 to A3, B0 to B2, C0 to C2, such as A2B1C0", token.text));
  }
  return values;
}

Parsed<FilterValue> choiceValue(const Token& token, const FilterKey& key) {
  const std::string typed = choiceText(token.text);
  const auto isIn = [&typed](const auto& words) { return std::find(words.begin(), words.end(), typed) != words.end(); };
  if (!isIn(key.choices) && !isIn(key.olderChoices)) {
    return fail(token, fmt::format("'{}' is no {}; {}", token.text, key.name, didYouMean(typed, key.choices)));
  }
  return FilterValue(typed);
}

// A name that nobody knows here is fine, unless it looks like a mistyped one; quotes say that it is none.
Parsed<FilterValue> proposerValue(const Token& token, const FilterKey& key) {
  const std::string typed = choiceText(token.text);
  const bool isOther = ProposerName::parse(typed) && (token.quoted || !closestWord(typed, key.choices));
  return isOther ? Parsed<FilterValue>(FilterValue(typed)) : choiceValue(token, key);
}

bool isOrdered(FilterKind kind) {
  return kind == FilterKind::Integer || kind == FilterKind::Number || kind == FilterKind::Time ||
         kind == FilterKind::Duration;
}

class Parser {
 public:
  Parser(std::string_view text, FilterVocabulary vocabulary) : m_text(text), m_vocabulary(vocabulary) {}

  Parsed<Filter> parse() {
    Filter filter;
    for (skipSpace(); m_at < m_text.size(); skipSpace()) {
      Parsed<FilterTerm> term = parseTerm();
      if (!term) {
        return tl::unexpected(term.error());
      }
      filter.terms.push_back(std::move(*term));
    }
    return filter;
  }

 private:
  void skipSpace() {
    while (m_at < m_text.size() && isSpace(m_text[m_at])) {
      ++m_at;
    }
  }

  Parsed<FilterTerm> parseTerm() {
    const bool negated = m_text[m_at] == '-';
    m_at += negated ? 1 : 0;
    const Token word = keyAhead();
    const std::size_t after = word.position + word.length;
    const auto sign = std::find_if(kSigns.begin(), kSigns.end(), [this, after](const ComparisonSign& one) {
      return m_text.substr(after).starts_with(one.text);
    });
    Parsed<FilterTerm> term;
    if (word.length > 0 && sign != kSigns.end()) {
      m_at = after + sign->text.size();
      term = parseKeyed(word, *sign);
    } else if (const FilterKey* key = find(word.text);
               key != nullptr && key->kind == FilterKind::Flag && endsAt(after)) {
      m_at = after;
      term = FilterTerm{std::string(key->name), false, {}};
    } else {
      term = parseWords();
    }
    if (term && negated) {
      term->negated = !term->negated;
    }
    return term;
  }

  Parsed<FilterTerm> parseKeyed(const Token& word, const ComparisonSign& sign) {
    const FilterKey* key = find(word.text);
    if (key == nullptr) {
      return fail(word, fmt::format("there is no key '{}'; {}", word.text, didYouMean(lowered(word.text), keyNames())));
    }
    const bool isPlain = sign.comparison == Comparison::Is || sign.comparison == Comparison::IsNot;
    if (key->kind == FilterKind::Flag || (!isPlain && !isOrdered(key->kind))) {
      const Token at{word.position, word.length + sign.text.size(), {}, false};
      return fail(at, key->kind == FilterKind::Flag
                          ? fmt::format("'{}' stands alone, without '{}'", key->name, sign.text)
                          : fmt::format("'{}' has no order; write {}:", key->name, key->name));
    }
    FilterTerm term{std::string(key->name), sign.comparison == Comparison::IsNot, {}};
    do {
      const Parsed<Token> token = parseValue();
      if (!token) {
        return tl::unexpected(token.error());
      }
      if (auto wrong = addValue(term, *token, *key, sign.comparison)) {
        return tl::unexpected(std::move(*wrong));
      }
    } while (takeComma());
    return term;
  }

  static std::optional<FilterError> addValue(FilterTerm& term, const Token& token, const FilterKey& key,
                                             Comparison comparison) {
    if (key.kind == FilterKind::Cell) {
      const Parsed<std::vector<FilterValue>> cells = cellValues(token);
      if (!cells) {
        return cells.error();
      }
      term.values.insert(term.values.end(), cells->begin(), cells->end());
      return std::nullopt;
    }
    Parsed<FilterValue> value = key.kind == FilterKind::Choice     ? choiceValue(token, key)
                                : key.kind == FilterKind::Proposer ? proposerValue(token, key)
                                : isOrdered(key.kind)              ? quantityValue(token, key, comparison)
                                                                   : Parsed<FilterValue>(FilterValue(token.text));
    if (!value) {
      return value.error();
    }
    term.values.push_back(std::move(*value));
    return std::nullopt;
  }

  Parsed<FilterTerm> parseWords() {
    FilterTerm term;
    do {
      Parsed<Token> token = parseValue();
      if (!token) {
        return tl::unexpected(token.error());
      }
      term.values.emplace_back(std::move(token->text));
    } while (takeComma());
    return term;
  }

  Parsed<Token> parseValue() {
    Token token{m_at, 0, {}, m_at < m_text.size() && m_text[m_at] == '"'};
    if (token.quoted) {
      return parseQuoted(std::move(token));
    }
    while (m_at < m_text.size() && !isSpace(m_text[m_at]) && m_text[m_at] != ',') {
      token.text += m_text[m_at++];
    }
    token.length = std::max<std::size_t>(m_at - token.position, 1);
    if (token.text.empty()) {
      return fail(token, "a value is missing here");
    }
    return token;
  }

  Parsed<Token> parseQuoted(Token token) {
    for (++m_at; m_at < m_text.size() && m_text[m_at] != '"'; ++m_at) {
      const bool isEscape = m_text[m_at] == '\\' && m_at + 1 < m_text.size();
      m_at += isEscape ? 1 : 0;
      token.text += m_text[m_at];
    }
    token.length = m_at - token.position;
    if (m_at >= m_text.size()) {
      return fail(token, "the quote that begins here does not end");
    }
    ++m_at;
    if (token.text.empty()) {
      token.length = 2;
      return fail(token, "there is nothing between the quotes");
    }
    return token;
  }

  bool takeComma() {
    const bool found = m_at < m_text.size() && m_text[m_at] == ',';
    m_at += found ? 1 : 0;
    return found;
  }

  [[nodiscard]] Token keyAhead() const {
    Token token{m_at, 0, {}, false};
    while (m_at + token.length < m_text.size() && isKeyCharacter(m_text[m_at + token.length])) {
      ++token.length;
    }
    token.text = std::string(m_text.substr(token.position, token.length));
    return token;
  }
  [[nodiscard]] bool endsAt(std::size_t position) const {
    return position >= m_text.size() || isSpace(m_text[position]);
  }
  [[nodiscard]] const FilterKey* find(std::string_view name) const {
    const std::string wanted = lowered(name);
    const auto found = std::find_if(m_vocabulary.begin(), m_vocabulary.end(),
                                    [&](const FilterKey& key) { return key.name == wanted; });
    return found != m_vocabulary.end() ? &*found : nullptr;
  }
  [[nodiscard]] std::vector<std::string_view> keyNames() const {
    std::vector<std::string_view> names;
    for (const FilterKey& key : m_vocabulary) {
      names.push_back(key.name);
    }
    return names;
  }

  std::string_view m_text;
  FilterVocabulary m_vocabulary;
  std::size_t m_at = 0;
};

}  // namespace

bool FilterRange::contains(double value) const {
  return (value > low || (lowIsIn && value == low)) && (value < high || (highIsIn && value == high));
}

bool Filter::mentions(std::string_view key) const {
  return std::any_of(terms.begin(), terms.end(), [key](const FilterTerm& term) { return term.key == key; });
}

tl::expected<Filter, FilterError> parseFilter(std::string_view text, FilterVocabulary vocabulary) {
  return Parser(text, vocabulary).parse();
}

Error usageError(const FilterError& error, std::string_view text) {
  return Error(
      ErrorKind::Usage, fmt::format("the filter cannot be used: {}", error.message),
      fmt::format("it is here:\n  {}\n  {}{}", text, std::string(error.position, ' '), std::string(error.length, '^')));
}

bool containsText(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

}  // namespace swage::domain
