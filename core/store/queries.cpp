// SPDX-License-Identifier: Apache-2.0
#include "core/store/queries.h"

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

std::string orderBy(const CandidateQuery& query) {
  const Order order = orderOf(query.sort);
  const bool isFalling = query.descending != order.isReversed;
  const std::string_view direction = isFalling ? "DESC" : "ASC";
  return order.column.empty() ? fmt::format("id {}", direction)
                              : fmt::format("{} {} NULLS LAST, id {}", order.column, direction, direction);
}

std::string whereClause(const SqlCondition& where) {
  return where.sql.empty() ? std::string() : " WHERE " + where.sql;
}

}  // namespace

CandidateStatement::CandidateStatement(const CandidateQuery& query)
    : m_where(whereOf(query)), m_order(orderBy(query)) {}

std::string CandidateStatement::pageSql() const {
  return fmt::format("SELECT {} FROM candidates{} ORDER BY {} LIMIT ? OFFSET ?", lineColumns(), whereClause(m_where),
                     m_order);
}

std::string CandidateStatement::idsSql() const {
  return fmt::format("SELECT id FROM candidates{} ORDER BY {}", whereClause(m_where), m_order);
}

std::string CandidateStatement::countSql() const {
  return fmt::format("SELECT count(*) FROM candidates{}", whereClause(m_where));
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
