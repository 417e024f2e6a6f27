// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

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

}  // namespace swage::domain
