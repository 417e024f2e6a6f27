// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace swage::domain {

// Where lines of a separately compiled part stand in the source of its program: `count` lines, from line `first` of the
// part and from line `inProgram` of the source. Lines count from 1.
struct ProgramLines {
  int first = 1;
  int count = 0;
  int inProgram = 1;
  friend bool operator==(const ProgramLines&, const ProgramLines&) = default;
};

// The program's line for a line of the part; 0: it has none. Without ranges the part is the whole source.
[[nodiscard]] int programLine(const std::vector<ProgramLines>& ranges, int line);

}  // namespace swage::domain
