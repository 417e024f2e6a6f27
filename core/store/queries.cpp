// SPDX-License-Identifier: Apache-2.0
#include "core/store/queries.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/store/rows.h"
#include "core/store/statements.h"

namespace swage::store {
namespace {

// Terms that other tables or the id answer with few rows; or, as words do, by what no index has.
constexpr std::array<std::string_view, 9> kNamingRows{
    {"", "id", "parent", "pinned", "tagged", "noted", "trashed", "tag", "note"}};

bool namesRows(const domain::Filter& filter) {
  return std::any_of(filter.terms.begin(), filter.terms.end(), [](const domain::FilterTerm& term) {
    return !term.negated && std::find(kNamingRows.begin(), kNamingRows.end(), term.key) != kNamingRows.end();
  });
}

SqlCondition whereOf(const CandidateQuery& query) {
  SqlCondition where;
  const auto add = [&where](std::string_view condition, SqlCondition::Value value) {
    where.sql += fmt::format("{}{}", where.sql.empty() ? "" : " AND ", condition);
    where.values.push_back(std::move(value));
  };
  if (query.run.isValid()) {
    // The plus keeps SQLite from looking at each row of a run for what another table or the id finds at once.
    add(namesRows(query.filter) ? "+run_id = ?" : "run_id = ?", query.run.value());
  }
  if (query.cell) {
    add("cell = ?", std::int64_t{query.cell->index()});
  }
  if (query.status) {
    add("status = ?", std::string(domain::name(*query.status)));
  }
  SqlCondition filter = conditionOf(query.filter, query.run);
  if (!filter.sql.empty()) {
    where.sql += fmt::format("{}{}", where.sql.empty() ? "" : " AND ", filter.sql);
    where.values.insert(where.values.end(), filter.values.begin(), filter.values.end());
  }
  return where;
}

// The column of an order; empty: the id alone.
std::string_view orderOf(CandidateColumn sort) {
  switch (sort) {
    case CandidateColumn::Id: return {};
    case CandidateColumn::Time: return "time_ns";
    case CandidateColumn::Speedup: return "over_eager_low";
    case CandidateColumn::Cell: return "cell";
    case CandidateColumn::Status: return "status";
    case CandidateColumn::Operator: return "operator";
    case CandidateColumn::Island: return "island";
    case CandidateColumn::Error: return "relative_error";
    case CandidateColumn::Registers: return "registers";
    case CandidateColumn::Found: return "elapsed_s";
  }
  return {};
}

constexpr std::array<std::string_view, 11> kInWideIndexes{
    {"run", "id", "time", "speedup", "status", "operator", "cell", "island", "registers", "error", "found"}};

// Whether the index of an order has all that a query asks of its rows.
bool isInIndex(const CandidateQuery& query) {
  const bool isWide = query.sort == CandidateColumn::Time || query.sort == CandidateColumn::Speedup;
  const auto isKnown = [&](const domain::FilterTerm& term) {
    const bool isInWide = std::find(kInWideIndexes.begin(), kInWideIndexes.end(), term.key) != kInWideIndexes.end();
    return (isWide && (isInWide || term.key == "failed")) || term.key == "run" ||
           (query.sort == CandidateColumn::Id && term.key == "id");
  };
  return (isWide || (!query.cell && !query.status)) &&
         std::all_of(query.filter.terms.begin(), query.filter.terms.end(), isKnown);
}

// Few of all cells: sorting what they hold is less than passing over all the others.
bool namesCells(const domain::Filter& filter) {
  return !filter.terms.empty() && std::all_of(filter.terms.begin(), filter.terms.end(),
                                              [](const auto& term) { return !term.negated && term.key == "cell"; });
}

std::string orderBy(const CandidateQuery& query) {
  const std::string_view column = orderOf(query.sort);
  const std::string_view direction = query.descending ? "DESC" : "ASC";
  if (column.empty()) {
    return fmt::format("id {}", direction);
  }
  // To look at every row in the order of an index is to jump about in the table: three seconds for a million. The plus
  // keeps SQLite from it, so that it reads them as they lie and sorts what is left.
  const bool followsIndex = isInIndex(query) && !namesRows(query.filter) && !namesCells(query.filter);
  return fmt::format("{}{} {} NULLS LAST, id {}", followsIndex ? "" : "+", column, direction, direction);
}

}  // namespace

CandidateStatement::CandidateStatement(const CandidateQuery& query)
    : m_where(whereOf(query)), m_leavesOutTrash(leavesOutTrash(query.filter)), m_order(orderBy(query)) {}

std::string CandidateStatement::whereWithoutTrash() const {
  // The first part is asked once for a query: with an empty trash nothing is asked for each row.
  constexpr std::string_view kNotInTrash =
      "(NOT EXISTS (SELECT 1 FROM trash) OR id NOT IN (SELECT candidate_id FROM trash))";
  if (!m_leavesOutTrash) {
    return m_where.sql.empty() ? std::string() : " WHERE " + m_where.sql;
  }
  return fmt::format(" WHERE {}{}{}", m_where.sql, m_where.sql.empty() ? "" : " AND ", kNotInTrash);
}

std::string CandidateStatement::pageSql() const {
  return fmt::format("SELECT {} FROM candidates{} ORDER BY {} LIMIT ? OFFSET ?", rowColumns(), whereWithoutTrash(),
                     m_order);
}

std::string CandidateStatement::idsSql() const {
  return fmt::format("SELECT id FROM candidates{}{} ORDER BY {}", m_where.sql.empty() ? "" : " WHERE ", m_where.sql,
                     m_order);
}

std::string CandidateStatement::countSql() const {
  return fmt::format("SELECT count(*) FROM candidates{}", whereWithoutTrash());
}

int CandidateStatement::bind(SQLite::Statement& statement) const {
  int index = 1;
  for (const SqlCondition::Value& value : m_where.values) {
    std::visit([&](const auto& one) { bindOne(statement, index, one); }, value);
    ++index;
  }
  return index;
}

}  // namespace swage::store
