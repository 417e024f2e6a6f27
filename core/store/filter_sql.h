// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/filter.h"

namespace swage::store {

// A condition on rows of `candidates`. Whatever a person typed is among the values, never in the SQL.
struct SqlCondition {
  using Value = std::variant<std::int64_t, double, std::string>;
  std::string sql;  // empty: every row
  std::vector<Value> values;
};

// Every term of the filter. `run` is the run that the query is limited to, invalid for none: with it, the baseline of a
// speedup is looked up once.
[[nodiscard]] SqlCondition conditionOf(const domain::Filter& filter, domain::RunId run);
// What is in the trash is left out unless a filter speaks of the trash itself.
[[nodiscard]] bool leavesOutTrash(const domain::Filter& filter);

}  // namespace swage::store
