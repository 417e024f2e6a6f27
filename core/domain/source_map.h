// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/program_lines.h"

namespace swage::domain {

// Which line of the candidate's source each line of a listing came from.
struct SourceMap {
  std::vector<int> lineOf;  // by line of the listing, from its first; 0: of none
  [[nodiscard]] bool isEmpty() const;
  // The lines of the listing, 0-based and ascending, that a line of the source became.
  [[nodiscard]] std::vector<int> listingLines(int sourceLine) const;
};

// Reads what compilers and disassemblers say: .loc and .file of PTX, the file names of `objdump -l`, the comments of
// `nvdisasm -g`. Lines of other files, such as headers, belong to no line of the source.
[[nodiscard]] SourceMap mapListing(std::string_view listing);

// PTX of a separately compiled part, with .loc changed to lines of the program; places in other files, and in lines
// that the program does not have, become line 0. The .file directives are left out, because each part numbers files
// anew.
[[nodiscard]] std::string withProgramLines(std::string_view ptx, const std::vector<ProgramLines>& lines);
// The one .file directive that such texts need, at their end.
inline constexpr std::string_view kProgramFile = "\t.file\t1 \"source.cu\"\n";

// One instruction of what `objdump -d` prints.
struct ListedInstruction {
  std::string_view text;
  int line = 0;  // of the candidate's source; 0: of none
};
// By address in the object. The views are into the listing.
[[nodiscard]] std::map<std::int64_t, ListedInstruction> listedInstructions(std::string_view listing);

}  // namespace swage::domain
