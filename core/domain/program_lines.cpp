// SPDX-License-Identifier: Apache-2.0
#include "core/domain/program_lines.h"

#include <algorithm>

namespace swage::domain {

int programLine(const std::vector<ProgramLines>& ranges, int line) {
  if (ranges.empty()) {
    return line;
  }
  const auto found = std::find_if(ranges.begin(), ranges.end(), [line](const ProgramLines& range) {
    return line >= range.first && line < range.first + range.count;
  });
  return found == ranges.end() ? 0 : line - found->first + found->inProgram;
}

}  // namespace swage::domain
