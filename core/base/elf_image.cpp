// SPDX-License-Identifier: Apache-2.0
#include "core/base/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

namespace swage {
namespace {

Error broken(std::string_view what) {
  return Error(ErrorKind::InvalidInput, "the compiled file is not usable: " + std::string(what));
}

// A copy, because nothing says that the file's structures are aligned.
template <class T>
std::optional<T> structureAt(std::string_view bytes, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::optional<std::string_view> range(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) {
    return std::nullopt;
  }
  return bytes.substr(offset, size);
}

std::string textAt(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) {
    return {};
  }
  const std::string_view rest = table.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

Result<Elf64_Ehdr> readHeader(std::string_view file) {
  const auto header = structureAt<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return broken("it is not an ELF file");
  }
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_shentsize != sizeof(Elf64_Shdr)) {
    return broken("it is not a 64-bit little-endian ELF file");
  }
  return *header;
}

Result<std::vector<Elf64_Shdr>> readSectionHeaders(std::string_view file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> headers;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = structureAt<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) {
      return broken("its section table is cut off");
    }
    headers.push_back(*section);
  }
  return headers;
}

Result<std::vector<ElfSection>> readSections(std::string_view file, const Elf64_Ehdr& header,
                                             const std::vector<Elf64_Shdr>& headers) {
  if (header.e_shstrndx >= headers.size()) {
    return broken("it has no section names");
  }
  std::vector<ElfSection> sections;
  for (const Elf64_Shdr& raw : headers) {
    ElfSection section;
    section.type = raw.sh_type;
    section.flags = raw.sh_flags;
    section.size = raw.sh_size;
    if (raw.sh_type != SHT_NOBITS && raw.sh_type != SHT_NULL) {
      const auto bytes = range(file, raw.sh_offset, raw.sh_size);
      if (!bytes) {
        return broken("a section lies outside of the file");
      }
      section.bytes = *bytes;
    }
    sections.push_back(std::move(section));
  }
  const std::string_view names = sections[header.e_shstrndx].bytes;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    sections[i].name = textAt(names, headers[i].sh_name);
  }
  return sections;
}

std::vector<ElfSymbol> readSymbols(const ElfSection& table, std::string_view names) {
  std::vector<ElfSymbol> symbols;
  // Entry 0 is the null symbol.
  for (std::uint64_t offset = sizeof(Elf64_Sym);; offset += sizeof(Elf64_Sym)) {
    const auto raw = structureAt<Elf64_Sym>(table.bytes, offset);
    if (!raw) {
      return symbols;
    }
    symbols.push_back({textAt(names, raw->st_name), ELF64_ST_TYPE(raw->st_info), ELF64_ST_BIND(raw->st_info),
                       raw->st_shndx, raw->st_value, raw->st_size});
  }
}

std::vector<std::string> readNeeded(const ElfSection& dynamic, std::string_view names) {
  std::vector<std::string> needed;
  for (std::uint64_t offset = 0;; offset += sizeof(Elf64_Dyn)) {
    const auto entry = structureAt<Elf64_Dyn>(dynamic.bytes, offset);
    if (!entry || entry->d_tag == DT_NULL) {
      return needed;
    }
    if (entry->d_tag == DT_NEEDED) {
      needed.push_back(textAt(names, entry->d_un.d_val));
    }
  }
}

std::size_t sizeOf(std::string_view file, const Elf64_Ehdr& header, const ElfImage& image) {
  std::uint64_t size = std::max(header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize,
                                header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize);
  for (const ElfSection& section : image.sections) {
    if (!section.bytes.empty()) {
      size = std::max<std::uint64_t>(size, section.bytes.data() + section.bytes.size() - file.data());
    }
  }
  return static_cast<std::size_t>(std::min<std::uint64_t>(size, file.size()));
}

}  // namespace

const ElfSection* ElfImage::find(std::string_view name) const {
  for (const ElfSection& section : sections) {
    if (section.name == name) {
      return &section;
    }
  }
  return nullptr;
}

std::string_view ElfImage::sectionName(const ElfSymbol& symbol) const {
  return symbol.section < sections.size() ? std::string_view(sections[symbol.section].name) : std::string_view();
}

Result<ElfImage> parseElf(std::string_view file) {
  SWAGE_TRY_ASSIGN(const Elf64_Ehdr header, readHeader(file));
  SWAGE_TRY_ASSIGN(const std::vector<Elf64_Shdr> headers, readSectionHeaders(file, header));
  ElfImage image;
  SWAGE_TRY_ASSIGN(image.sections, readSections(file, header, headers));
  image.size = sizeOf(file, header, image);
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const std::uint32_t type = headers[i].sh_type;
    if (type != SHT_SYMTAB && type != SHT_DYNSYM && type != SHT_DYNAMIC) {
      continue;
    }
    if (headers[i].sh_link >= headers.size()) {
      return broken("a table has no names");
    }
    const std::string_view names = image.sections[headers[i].sh_link].bytes;
    if (type == SHT_DYNAMIC) {
      image.neededLibraries = readNeeded(image.sections[i], names);
    } else {
      (type == SHT_SYMTAB ? image.symbols : image.dynamicSymbols) = readSymbols(image.sections[i], names);
    }
  }
  return image;
}

}  // namespace swage
