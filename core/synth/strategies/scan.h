// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/synth/emit/kernel_writer.h"
#include "core/synth/strategies/joining.h"

// What all ways to scan have in common.
namespace swage::synth {

// Of which positions are counted in 32 bits, with room for loops that go a tile too far.
inline constexpr std::int64_t kLongestSequence = (std::int64_t{1} << 31) - (1 << 20);

// A region that scans one value along one axis.
[[nodiscard]] bool isScan(const Region& region);
[[nodiscard]] inline const Fold& scanOf(const Region& region) {
  return region.folds.front();
}
[[nodiscard]] std::size_t scanAxis(const Region& region);
[[nodiscard]] std::int64_t scanLength(const Region& region);
[[nodiscard]] std::int64_t sequencesOf(const Region& region);

// From which end of what lies in memory a scan begins.
enum class Way : std::uint8_t { Forwards, Backwards };
struct Laid {
  Region region;
  Way way = Way::Forwards;
};
// The same elements, with positions that count the way the results lie in memory.
[[nodiscard]] Laid laidOut(Region region);

// The running result, from here on.
void bindRunning(KernelWriter& writer, const Region& region, const std::string& value);
// Loads of what all elements of a sequence share.
[[nodiscard]] std::vector<int> sharedLoads(const Region& region);
// The loads of elements that are scanned, or that results need beside that, as far as they come in vectors of this
// width. Others are read where they are used.
[[nodiscard]] std::vector<int> scannedLoads(const Region& region, std::int64_t width);
[[nodiscard]] std::vector<int> storedLoads(const Region& region, std::int64_t width);

// One array of registers for each thread: `items` vectors of `width` numbers.
struct Registers {
  std::int64_t items = 1;
  std::int64_t width = 1;

  [[nodiscard]] std::string declared(const std::string& name) const;
  // The number `lane` of vector `item`.
  [[nodiscard]] std::string at(const std::string& name, const std::string& item, const std::string& lane) const;
};

}  // namespace swage::synth
