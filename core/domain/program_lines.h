// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace swage::domain {

// Where lines of a text that is compiled by itself stand in the source of its program: `count` lines from line `first`
// of the text, and from line `inProgram` of the source. Lines count from 1.
struct ProgramLines {
  int first = 1;
  int count = 0;
  int inProgram = 1;
  friend bool operator==(const ProgramLines&, const ProgramLines&) = default;
};

// The program's line for a line of the text; 0: it has none. Without ranges the text is the program's source.
[[nodiscard]] int programLine(const std::vector<ProgramLines>& ranges, int line);

}  // namespace swage::domain
