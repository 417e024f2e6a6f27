// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/filter.h"
#include "core/domain/record/status.h"

namespace swage::domain {

// What candidates can be sorted by.
enum class CandidateColumn : std::uint8_t {
  Id,
  Cell,
  Island,
  Operator,
  Status,
  Time,
  Speedup,
  Error,
  Registers,
  Found,  // search time when it was evaluated
};

// Which candidates, and in which order. What is in the trash is left out unless the filter asks for it.
struct CandidateQuery {
  RunId run = {};  // invalid: of all runs
  std::optional<domain::Cell> cell = {};
  std::optional<CandidateStatus> status = {};
  Filter filter = {};  // of candidateFilterKeys()
  CandidateColumn sort = CandidateColumn::Id;
  bool descending = false;
  std::int64_t limit = 1000;
  std::int64_t offset = 0;
};

}  // namespace swage::domain
