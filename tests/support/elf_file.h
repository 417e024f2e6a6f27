// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace swage::testing {

// A small ELF file as cubins are: with an empty section of code for each kernel.
[[nodiscard]] inline std::string elfFile(const std::vector<std::string>& entries) {
  std::string names("\0.shstrtab\0", 11);
  std::vector<Elf64_Shdr> sections(2);
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  for (const std::string& entry : entries) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(names.size());
    section.sh_type = SHT_PROGBITS;
    names += ".text." + entry + '\0';
    sections.push_back(section);
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shstrndx = 1;
  sections[1].sh_offset = header.e_shoff + sections.size() * sizeof(Elf64_Shdr);
  sections[1].sh_size = names.size();
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
  return file + names;
}

}  // namespace swage::testing
