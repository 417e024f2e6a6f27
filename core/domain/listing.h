// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// What compilers and disassemblers print (PTX, `objdump -d -l`, `nvdisasm -c`), made readable. Pure.
namespace swage::domain {

struct ListingOptions {
  bool places = false;       // lines that only say which source line follows: .loc, "source.cpp:12"
  bool directives = false;   // lines for the assembler: .file, .section, debug information
  bool addresses = true;     // of instructions and of what they jump to; without them two listings can be compared
  bool demangle = true;      // _ZN5swage3sumEv reads swage::sum()
  bool comments = true;      // lines that hold nothing else
  bool unusedLabels = true;  // that nothing in the listing mentions
  bool library = true;       // functions without any line of the source, where others have lines
  friend bool operator==(const ListingOptions&, const ListingOptions&) = default;
};

struct Listing {
  std::string text;         // every line ends with a line end
  std::vector<int> lineOf;  // by line of `text`: its line in the original, both from 0
};

[[nodiscard]] Listing readableListing(std::string_view listing, const ListingOptions& options = {});

// The names of the functions in a listing, in order, as they stand there.
[[nodiscard]] std::vector<std::string> functionsOf(std::string_view listing);
// The part of a listing that holds this function; empty: it has none of that name. The name may be demangled.
[[nodiscard]] std::string functionListing(std::string_view listing, std::string_view name);

// C++ names in a text, as a person writes them. What is no mangled name stays.
[[nodiscard]] std::string demangled(std::string_view text);

}  // namespace swage::domain
