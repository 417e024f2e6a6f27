// SPDX-License-Identifier: Apache-2.0
#include "core/store/filter_sql.h"

#include <array>
#include <cmath>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace swage::store {
namespace {

using domain::FilterRange;
using domain::FilterTerm;
using domain::FilterValue;

struct Column {
  std::string_view key;
  std::string_view expression;
};

// Keys that compare one expression with numbers. No registers is stored as 0.
constexpr std::array<Column, 8> kNumbers{{{"id", "id"},
                                          {"run", "run_id"},
                                          {"cell", "cell"},
                                          {"island", "island"},
                                          {"time", "time_ns"},
                                          {"error", "relative_error"},
                                          {"registers", "nullif(registers, 0)"},
                                          {"found", "elapsed_s"}}};
constexpr std::array<Column, 2> kWords{{{"status", "status"}, {"operator", "operator"}}};
constexpr std::array<Column, 8> kFlags{
    {{"pinned", "id IN (SELECT candidate_id FROM pins)"},
     {"tagged", "id IN (SELECT candidate_id FROM tags)"},
     {"noted", "id IN (SELECT candidate_id FROM notes)"},
     {"trashed", "id IN (SELECT candidate_id FROM trash)"},
     {"first", "parents = ''"},
     {"algebraic", "algebraic"},
     {"best", "id IN (SELECT best_candidate FROM cells WHERE best_candidate IS NOT NULL)"},
     {"failed", "status NOT IN ('pending', 'not evaluated', 'correct', 'duplicate')"}}};

template <std::size_t N>
const Column* find(const std::array<Column, N>& columns, std::string_view key) {
  for (const Column& column : columns) {
    if (column.key == key) {
      return &column;
    }
  }
  return nullptr;
}

std::string likePattern(std::string_view text) {
  std::string pattern = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') {
      pattern += '\\';
    }
    pattern += c;
  }
  return pattern + '%';
}

class Compiler {
 public:
  explicit Compiler(domain::RunId run) : m_run(run) {}

  void add(const FilterTerm& term) {
    const std::string condition = conditionOf(term);
    m_result.sql += m_result.sql.empty() ? "" : " AND ";
    m_result.sql += term.negated ? fmt::format("({}) IS NOT TRUE", condition) : fmt::format("({})", condition);
  }
  [[nodiscard]] SqlCondition take() { return std::move(m_result); }

 private:
  std::string conditionOf(const FilterTerm& term) {
    if (const Column* flag = find(kFlags, term.key)) {
      return std::string(flag->expression);
    }
    if (const Column* column = find(kNumbers, term.key)) {
      return anyOf(term, [&](const FilterValue& value) { return within(column->expression, rangeIn(value)); });
    }
    if (const Column* column = find(kWords, term.key)) {
      return anyOf(term, [&](const FilterValue& value) { return is(column->expression, textIn(value)); });
    }
    if (term.key == "speedup") {
      return anyOf(term, [&](const FilterValue& value) { return speedupWithin(rangeIn(value)); });
    }
    if (term.key == "parent") {
      return fmt::format("id IN (SELECT child FROM lineage WHERE {})",
                         anyOf(term, [&](const FilterValue& value) { return within("parent", rangeIn(value)); }));
    }
    if (term.key == "tag") {
      return fmt::format("id IN (SELECT candidate_id FROM tags WHERE {})",
                         anyOf(term, [&](const FilterValue& value) { return is("tag", textIn(value)); }));
    }
    if (term.key == "note") {
      return anyOf(term, [&](const FilterValue& value) { return noteContains(textIn(value)); });
    }
    SWAGE_ASSERT(term.key.empty());  // the vocabulary has no other key
    return anyOf(term, [&](const FilterValue& value) { return saysSomewhere(textIn(value)); });
  }

  std::string anyOf(const FilterTerm& term, const std::function<std::string(const FilterValue&)>& condition) {
    std::string result;
    for (const FilterValue& value : term.values) {
      result += fmt::format("{}{}", result.empty() ? "" : " OR ", condition(value));
    }
    return result;
  }

  std::string within(std::string_view expression, const FilterRange& range) {
    if (range.low == range.high) {
      return fmt::format("{} = {}", expression, bound(range.low));
    }
    std::string result = fmt::format("{} IS NOT NULL", expression);
    if (std::isfinite(range.low)) {
      result = fmt::format("{} {} {}", expression, range.lowIsIn ? ">=" : ">", bound(range.low));
    }
    if (std::isfinite(range.high)) {
      result += fmt::format(" AND {} {} {}", expression, range.highIsIn ? "<=" : "<", bound(range.high));
    }
    return fmt::format("({})", result);
  }

  // Against the fastest baseline, as the table shows it: the speedup over eager times that of eager.
  std::string speedupWithin(const FilterRange& range) {
    std::string result = "over_eager > 0";
    if (range.low > 0.0) {
      result += fmt::format(" AND over_eager {} {}", range.lowIsIn ? ">=" : ">", overEager(range.low));
    }
    if (std::isfinite(range.high)) {
      result += range.high > 0.0
                    ? fmt::format(" AND over_eager {} {}", range.highIsIn ? "<=" : "<", overEager(range.high))
                    : std::string(" AND 0");
    }
    return fmt::format("({})", result);
  }

  // Values are bound in the order in which they stand in the SQL.
  std::string overEager(double speedup) {
    std::string result(bound(speedup));
    result += " / (SELECT eager_speedup FROM runs WHERE runs.id = ";
    result += m_run.isValid() ? bound(m_run.value()) : std::string_view("candidates.run_id");
    result += ")";
    return result;
  }

  std::string is(std::string_view expression, const std::string& text) {
    return fmt::format("{} = {}", expression, bound(text));
  }
  std::string noteContains(const std::string& text) {
    return fmt::format("id IN (SELECT candidate_id FROM notes WHERE note LIKE {} ESCAPE '\\')",
                       bound(likePattern(text)));
  }
  std::string saysSomewhere(const std::string& text) {
    std::string result = fmt::format("(summary LIKE {} ESCAPE '\\'", bound(likePattern(text)));
    result += " OR " + noteContains(text);
    result += fmt::format(" OR id IN (SELECT candidate_id FROM tags WHERE tag LIKE {} ESCAPE '\\'))",
                          bound(likePattern(text)));
    return result;
  }

  static const FilterRange& rangeIn(const FilterValue& value) { return std::get<FilterRange>(value); }
  static const std::string& textIn(const FilterValue& value) { return std::get<std::string>(value); }

  std::string_view bound(SqlCondition::Value value) {
    m_result.values.push_back(std::move(value));
    return "?";
  }

  domain::RunId m_run;
  SqlCondition m_result;
};

}  // namespace

SqlCondition conditionOf(const domain::Filter& filter, domain::RunId run) {
  Compiler compiler(run);
  for (const FilterTerm& term : filter.terms) {
    compiler.add(term);
  }
  return compiler.take();
}

bool leavesOutTrash(const domain::Filter& filter) {
  return !filter.mentions("trashed");
}

}  // namespace swage::store
