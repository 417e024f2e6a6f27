// SPDX-License-Identifier: Apache-2.0
#include "core/domain/cubins.h"

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace swage::domain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void put(std::string& file, const void* bytes, std::size_t size) {
  file.append(static_cast<const char*>(bytes), size);
}

// An ELF file with the code of these kernels, its sections' headers before their names.
std::string cubin(const std::vector<std::string>& entries) {
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
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shstrndx = 1;
  sections[1].sh_offset = header.e_shoff + sections.size() * sizeof(Elf64_Shdr);
  sections[1].sh_size = names.size();
  std::string file;
  put(file, &header, sizeof header);
  put(file, sections.data(), sections.size() * sizeof(Elf64_Shdr));
  return file + names;
}

TEST(Cubins, StandOneBehindTheOther) {
  const std::string first = cubin({"sum"});
  const std::string second = cubin({"scale", "sum_of_rows"});
  EXPECT_THAT(cubinsIn(first), ElementsAre(first));
  EXPECT_THAT(cubinsIn(first + second + first), ElementsAre(first, second, first));
  EXPECT_THAT(cubinsIn(""), IsEmpty());
}

TEST(Cubins, AreFoundByTheirKernels) {
  const std::string first = cubin({"sum"});
  const std::string second = cubin({"scale", "sum_of_rows"});
  EXPECT_EQ(cubinOf(first + second, "sum"), first);
  EXPECT_EQ(cubinOf(first + second, "sum_of_rows"), second);
  EXPECT_EQ(cubinOf(first + second, "scale"), second);
  EXPECT_EQ(cubinOf(first + second, "rows"), first) << "nothing else is known of it";
}

TEST(Cubins, ThatDoNotHoldTogetherAreTheLastOne) {
  const std::string first = cubin({"sum"});
  EXPECT_THAT(cubinsIn("no ELF file"), ElementsAre("no ELF file"));
  EXPECT_THAT(cubinsIn(first + "rest"), ElementsAre(first, "rest"));
  const std::string cut = first.substr(0, first.size() - 3);
  EXPECT_THAT(cubinsIn(cut), ElementsAre(cut));
  EXPECT_EQ(cubinOf(cut.substr(0, 70), "sum"), cut.substr(0, 70));
  for (std::size_t at = 0; at < sizeof(Elf64_Ehdr); ++at) {  // whatever a header says
    std::string hostile = first;
    hostile[at] = '\xff';
    std::size_t total = 0;
    for (const std::string_view one : cubinsIn(hostile)) {
      ASSERT_FALSE(one.empty());
      total += one.size();
    }
    EXPECT_EQ(total, hostile.size());
    EXPECT_FALSE(cubinOf(hostile, "sum").empty());
  }
}

}  // namespace
}  // namespace swage::domain
