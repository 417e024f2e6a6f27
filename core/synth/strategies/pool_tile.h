// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "core/synth/sizes.h"
#include "core/synth/strategies/pool.h"
#include "core/synth/strategy.h"

namespace swage::synth::cuda {

// How results are shared out: a block makes some lines of results, or a part of one. Lines that a thread makes together
// are a bundle.
struct PoolTile {
  static constexpr std::int64_t kMostOfVector = 2;  // results that a thread stores one by one, beside its neighbours

  PoolTile(const Instance& instance, const Pool& pool)
      : threads(instance.value("threads", 1)),
        width(instance.value("vector_width", 1)),
        rows(instance.value("rows", 1)) {
    const Columns& columns = pool.columns;
    shift = (columns.begin % width + width) % width;
    const bool isApart = columns.taps > 1 && columns.step == columns.taps && columns.reach == 1 && columns.begin == 0;
    ofVector = isApart && rows == 1 && width % columns.taps == 0 ? width / columns.taps : 0;
    ofVector = ofVector <= kMostOfVector ? ofVector : 0;
    bundles = 1;
    for (const std::size_t axis : pool.lines) {
      bundles *= instance.region.axes[axis].extent;
    }
    if (pool.rows) {
      apart = rows > 1 ? pool.rows->apart : 1;
      bundlesOfAxis = divideUp(pool.rows->results, apart * rows) * apart;
      bundles = bundles / pool.rows->results * bundlesOfAxis;
    }
    const std::int64_t capacity = threads * instance.value("items", 1);
    vectors = divideUp(shift + columns.seenBy(columns.results), width);
    results = columns.results;
    if (vectors <= capacity) {
      atOnce = std::min(capacity / vectors, bundles);
      return;
    }
    vectors = capacity;
    const std::int64_t room = capacity * width - shift - (columns.taps - 1) * columns.reach - 1;
    const std::int64_t whole = width / std::gcd(columns.step, width);  // results whose columns begin like these
    results = room < 0 ? 0 : (room / columns.step + 1) / whole * whole;
    tiles = results > 0 ? divideUp(columns.results, results) : 1;
  }

  [[nodiscard]] std::int64_t pitch() const { return vectors * width; }
  // Whether neighbours in a vector are all that a result sees of a row, so that they need not change places.
  [[nodiscard]] bool hasWholeWindows() const { return ofVector > 0; }
  [[nodiscard]] std::int64_t sharedElements() const { return hasWholeWindows() ? 0 : atOnce * rows * pitch(); }
  [[nodiscard]] std::int64_t blocks() const { return tiles * divideUp(bundles, atOnce); }

  std::int64_t threads;
  std::int64_t width;
  std::int64_t rows;               // lines of a bundle
  std::int64_t ofVector = 0;       // windows that a vector holds as a whole; 0: they reach beyond it
  std::int64_t apart = 1;          // from one of them to the next
  std::int64_t shift = 0;          // of the first column that is seen, from the first that is read
  std::int64_t bundles = 1;        // of all
  std::int64_t bundlesOfAxis = 1;  // along the axis of rows
  std::int64_t atOnce = 1;         // bundles of a block
  std::int64_t vectors = 1;        // that a block reads of a row
  std::int64_t results = 1;        // of a line, for a block
  std::int64_t tiles = 1;          // of a line
};

}  // namespace swage::synth::cuda
