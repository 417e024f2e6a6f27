// SPDX-License-Identifier: Apache-2.0
#include "core/domain/cubins.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace swage::domain {
namespace {

template <class T>
std::optional<T> readAt(std::string_view file, std::uint64_t offset) {
  T value;
  if (offset > file.size() || file.size() - offset < sizeof value) {
    return std::nullopt;
  }
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::optional<Elf64_Ehdr> headerOf(std::string_view file) {
  const auto header = readAt<Elf64_Ehdr>(file, 0);
  return header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 ? header : std::nullopt;
}

std::vector<Elf64_Shdr> sectionsOf(std::string_view file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    if (const auto section = readAt<Elf64_Shdr>(file, header.e_shoff + i * header.e_shentsize)) {
      sections.push_back(*section);
    }
  }
  return sections;
}

// Of the file that begins here; of all that is there where it is none.
std::size_t sizeOf(std::string_view file) {
  const auto header = headerOf(file);
  if (!header) {
    return file.size();
  }
  std::uint64_t end = std::max(header->e_shoff + std::uint64_t{header->e_shnum} * header->e_shentsize,
                               header->e_phoff + std::uint64_t{header->e_phnum} * header->e_phentsize);
  for (const Elf64_Shdr& section : sectionsOf(file, *header)) {
    end = std::max(end, section.sh_type == SHT_NOBITS ? 0 : section.sh_offset + section.sh_size);
  }
  return end >= sizeof(Elf64_Ehdr) && end < file.size() ? static_cast<std::size_t>(end) : file.size();
}

bool hasCodeOf(std::string_view file, std::string_view entry) {
  const auto header = headerOf(file);
  if (!header) {
    return false;
  }
  const std::vector<Elf64_Shdr> sections = sectionsOf(file, *header);
  if (header->e_shstrndx >= sections.size()) {
    return false;
  }
  const std::string wanted = ".text." + std::string(entry) + '\0';
  const std::uint64_t names = sections[header->e_shstrndx].sh_offset;
  return std::any_of(sections.begin(), sections.end(), [&](const Elf64_Shdr& section) {
    const std::uint64_t at = names + section.sh_name;
    return at <= file.size() && file.substr(static_cast<std::size_t>(at)).starts_with(wanted);
  });
}

}  // namespace

std::vector<std::string_view> cubinsIn(std::string_view binary) {
  std::vector<std::string_view> found;
  while (!binary.empty()) {
    const std::size_t size = sizeOf(binary);
    found.push_back(binary.substr(0, size));
    binary.remove_prefix(size);
  }
  return found;
}

std::string_view cubinOf(std::string_view binary, std::string_view entry) {
  const std::vector<std::string_view> all = cubinsIn(binary);
  const auto found =
      std::find_if(all.begin(), all.end(), [entry](std::string_view cubin) { return hasCodeOf(cubin, entry); });
  return found != all.end() ? *found : all.empty() ? binary : all.front();
}

}  // namespace swage::domain
