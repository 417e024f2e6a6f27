// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/store/filter_sql.h"
#include "core/store/record.h"

namespace SQLite {  // NOLINT(readability-identifier-naming): its own name
class Statement;
}

namespace swage::store {

// The SQL of one query for candidates: a page of them, all their ids, or their number. Every order has its index
// (migrations/*.sql), and rows without a value come last in both directions, so a million rows are read without
// sorting them.
class CandidateStatement {
 public:
  explicit CandidateStatement(const CandidateQuery& query);

  [[nodiscard]] std::string pageSql() const;  // has two more parameters: limit and offset
  [[nodiscard]] std::string idsSql() const;   // with what is in the trash: asking for each of a million costs more
  [[nodiscard]] std::string countSql() const;
  // The values of the conditions, which all three begin with. Returns the number of the next parameter.
  int bind(SQLite::Statement& statement) const;

 private:
  [[nodiscard]] std::string whereWithoutTrash() const;

  SqlCondition m_where;
  bool m_leavesOutTrash;
  std::string m_order;
};

}  // namespace swage::store
