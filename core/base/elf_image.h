// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace swage {

struct ElfSection {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;  // also of a section that has no bytes in the file
  std::string_view bytes;  // empty for SHT_NOBITS; refers to the file given to parseElf
};

struct ElfSymbol {
  std::string name;
  int type = 0;               // STT_*
  int binding = 0;            // STB_*
  std::uint16_t section = 0;  // index, SHN_UNDEF for what is missing
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

// The parts of a 64-bit little-endian ELF file (shared object or cubin) that Swage looks at. The file is made by a
// compiler from a hostile source: every offset is checked, and a file that does not hold together is an error.
struct ElfImage {
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;         // .symtab
  std::vector<ElfSymbol> dynamicSymbols;  // .dynsym
  std::vector<std::string> neededLibraries;
  std::size_t size = 0;  // of the file in bytes, as its tables tell: more may stand behind it

  [[nodiscard]] const ElfSection* find(std::string_view name) const;
  [[nodiscard]] std::string_view sectionName(const ElfSymbol& symbol) const;
};

// `file` must outlive the image.
[[nodiscard]] Result<ElfImage> parseElf(std::string_view file);

}  // namespace swage
