// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/synth/region.h"

// Windows without weights, as pooling has them: each result folds elements of one tensor, or what is computed from each
// of them.
namespace swage::synth {

// Results side by side along the innermost axis, which see the columns begin + result * step + tap * reach of a row.
struct Columns {
  std::size_t axis = 0;               // of the results
  std::optional<std::size_t> window;  // of the taps; none: a single one
  std::int64_t results = 1;
  std::int64_t taps = 1;
  std::int64_t step = 1;
  std::int64_t reach = 1;
  std::int64_t begin = 0;
  std::int64_t extent = 1;  // columns that there are

  // From the first column that the first of so many results sees to the last of the last.
  [[nodiscard]] std::int64_t seenBy(std::int64_t count) const { return (count - 1) * step + (taps - 1) * reach + 1; }
};

// Results below each other whose windows overlap: those `apart` from each other see the same rows, moved by `moved`
// taps.
struct RowAxes {
  std::size_t axis = 0;    // of the results
  std::size_t window = 0;  // of the taps
  std::int64_t results = 1;
  std::int64_t taps = 1;
  std::int64_t apart = 1;
  std::int64_t moved = 1;

  [[nodiscard]] bool overlap() const { return moved < taps; }
};

// What is read beside a column, addressed like it: a weight of each column, for example.
struct BesideColumn {
  int load = -1;
  Operand operand;
};

struct Pool {
  Operand operand;  // addresses a row by the axes of results and windows, and its columns by the axis of columns alone
  int load = -1;    // the prim that reads it
  int seen = -1;    // what is folded: the load itself, or what is computed from it, from what lies beside it, and from
                    // what a row has one of
  std::vector<BesideColumn> beside;
  Columns columns;
  std::optional<RowAxes> rows;
  std::vector<std::size_t> windows;  // all others that are folded
  std::vector<std::size_t> lines;    // axes of results but that of columns
};

// No value: the region is nothing of the kind.
[[nodiscard]] std::optional<Pool> poolOf(const Region& region);

}  // namespace swage::synth
