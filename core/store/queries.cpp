// SPDX-License-Identifier: Apache-2.0
#include "core/store/queries.h"

#include <string_view>

#include <fmt/format.h>

#include "core/store/rows.h"
#include "core/store/statements.h"

namespace swage::store {
namespace {

std::string whereClause(const CandidateQuery& query) {
  std::string clause;
  const auto add = [&clause](std::string_view condition) {
    clause += clause.empty() ? " WHERE " : " AND ";
    clause += condition;
  };
  if (query.run.isValid()) {
    add("run_id = ?");
  }
  if (query.cell) {
    add("cell = ?");
  }
  if (query.status) {
    add("status = ?");
  }
  return clause;
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
  }
  return {};
}

}  // namespace

std::string pageSql(const CandidateQuery& query) {
  const Order order = orderOf(query.sort);
  const bool isFalling = query.descending != order.isReversed;
  const std::string_view direction = isFalling ? "DESC" : "ASC";
  std::string orderBy = fmt::format("id {}", direction);
  if (!order.column.empty()) {
    orderBy = fmt::format("{} {} NULLS LAST, id {}", order.column, direction, direction);
  }
  return fmt::format("SELECT {} FROM candidates{} ORDER BY {} LIMIT ? OFFSET ?", lineColumns(), whereClause(query),
                     orderBy);
}

std::string countSql(const CandidateQuery& query) {
  return fmt::format("SELECT count(*) FROM candidates{}", whereClause(query));
}

int bindFilter(SQLite::Statement& statement, const CandidateQuery& query) {
  int index = 1;
  if (query.run.isValid()) {
    bindOne(statement, index++, query.run.value());
  }
  if (query.cell) {
    bindOne(statement, index++, query.cell->index());
  }
  if (query.status) {
    bindOne(statement, index++, *query.status);
  }
  return index;
}

}  // namespace swage::store
