// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/synth/emit/cuda_rows.h"

namespace swage::synth::cuda {

// Blocks that work on one group together. All gangs are on the device at once (a cooperative launch), and each takes
// every so-many-th group.
struct Gangs {
  std::int64_t gangs = 1;
  std::int64_t blocks = 1;  // of each
};

// Bytes of the memory in which gangs meet: a counter for each, set to zero, then two halves with a state for each
// stage, gang and block. Groups in turn use different halves, so that a fast block cannot overwrite what a slow one
// still reads.
inline constexpr std::int64_t kCounterBytes = 128;
inline constexpr std::int64_t kGangStateBytes = 64;
[[nodiscard]] constexpr std::int64_t gangBytes(const Gangs& gangs, std::int64_t stages) {
  return kCounterBytes * gangs.gangs + kGangStateBytes * 2 * stages * gangs.gangs * gangs.blocks;
}

// How often the blocks of a gang meet for one group, for estimates.
[[nodiscard]] double meetingsOfGroup(const Instance& instance);

// What kernels for rows have in common that a gang of blocks reduces.
class GangText : public RowText {
 protected:
  GangText(const Instance& instance, Gangs gangs);
  ~GangText() = default;

  [[nodiscard]] const Gangs& gangs() const { return m_gangs; }
  [[nodiscard]] std::int64_t threads() const { return m_threads; }
  // Whether a gang has more than one group.
  [[nodiscard]] bool hasRounds() const { return m_groups > m_gangs.gangs; }
  // The number of the gang: a variable, or 0 where there is one.
  [[nodiscard]] std::string gang() const { return m_gangs.gangs == 1 ? "0" : "gang"; }

  // "gang" and "member", and what a thread knows of its gang.
  void openGang();
  // Types, functions and shared memory of all stages, for lanes that see so many elements.
  void defineStages(std::int64_t steps);
  // The loop over the groups of a gang.
  void openRows();
  void closeRows();
  // Joins what the threads of the gang have found (`own`) and binds the result.
  void joinGang(std::size_t index, const std::string& own);
  // Stores elements from the end of the slice to its beginning.
  void mapBackwards(const Walk& slice);

 private:
  [[nodiscard]] std::string statesOf(std::size_t stage) const;

  Gangs m_gangs;
  std::int64_t m_threads;
  std::vector<std::string> m_places;  // shared memory, by stage
};

}  // namespace swage::synth::cuda
