// SPDX-License-Identifier: Apache-2.0
#include "core/store/queries.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/store/rows.h"
#include "core/store/statements.h"

namespace swage::store {
namespace {

SqlCondition whereOf(const CandidateQuery& query) {
  SqlCondition where;
  const auto add = [&where](std::string_view condition, SqlCondition::Value value) {
    where.sql += fmt::format("{}{}", where.sql.empty() ? "" : " AND ", condition);
    where.values.push_back(std::move(value));
  };
  if (query.run.isValid()) {
    add("run_id = ?", query.run.value());
  }
  if (query.cell) {
    add("cell = ?", std::int64_t{query.cell->index()});
  }
  if (query.status) {
    add("status = ?", *query.status);
  }
  SqlCondition filter = conditionOf(query.filter, query.run);
  if (!filter.sql.empty()) {
    where.sql += fmt::format("{}{}", where.sql.empty() ? "" : " AND ", filter.sql);
    where.values.insert(where.values.end(), filter.values.begin(), filter.values.end());
  }
  return where;
}

struct Order {
  std::string_view column;  // empty: the id alone
  bool isReversed = false;  // the column falls where the order rises
};

Order orderOf(CandidateSort sort) {
  switch (sort) {
    case CandidateSort::Id: return {};
    case CandidateSort::Time: return {"time_ns"};
    case CandidateSort::Speedup: return {"time_ns", true};
    case CandidateSort::Cell: return {"cell"};
    case CandidateSort::Status: return {"status"};
    case CandidateSort::Operator: return {"operator"};
    case CandidateSort::Island: return {"island"};
    case CandidateSort::Error: return {"relative_error"};
    case CandidateSort::Registers: return {"registers"};
    case CandidateSort::Elapsed: return {"elapsed_s"};
  }
  return {};
}

// Whether the index of an order has all that a query asks of its rows.
bool isInIndex(const CandidateQuery& query) {
  const bool isByTime = query.sort == CandidateSort::Time || query.sort == CandidateSort::Speedup;
  const auto isKnown = [&](const domain::FilterTerm& term) {
    return term.key == "run" || (isByTime && (term.key == "time" || term.key == "speedup")) ||
           (query.sort == CandidateSort::Id && term.key == "id");
  };
  return !query.cell && !query.status && std::all_of(query.filter.terms.begin(), query.filter.terms.end(), isKnown);
}

std::string orderBy(const CandidateQuery& query) {
  const Order order = orderOf(query.sort);
  const bool isFalling = query.descending != order.isReversed;
  const std::string_view direction = isFalling ? "DESC" : "ASC";
  if (order.column.empty()) {
    return fmt::format("id {}", direction);
  }
  // To look at every row in the order of an index is to jump about in the table: three seconds for a million. The plus
  // keeps SQLite from it, so that it reads them as they lie and sorts what is left.
  return fmt::format("{}{} {} NULLS LAST, id {}", isInIndex(query) ? "" : "+", order.column, direction, direction);
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
  return fmt::format("SELECT {} FROM candidates{} ORDER BY {} LIMIT ? OFFSET ?", lineColumns(), whereWithoutTrash(),
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
