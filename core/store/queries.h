// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/store/record.h"

namespace SQLite {  // NOLINT(readability-identifier-naming): its own name
class Statement;
}

namespace swage::store {

// SQL of a page of candidates and of their number. Every order has its index (migrations/001_record.sql), and rows
// without a value come last in both directions, so a page of a million rows is read without sorting them.
[[nodiscard]] std::string pageSql(const CandidateQuery& query);
[[nodiscard]] std::string countSql(const CandidateQuery& query);

// The values of the filter, in the order of both statements. Returns the number of the next parameter.
int bindFilter(SQLite::Statement& statement, const CandidateQuery& query);

}  // namespace swage::store
