// SPDX-License-Identifier: Apache-2.0
#include "core/base/elf_image.h"

#include <elf.h>

#include <algorithm>

#include <gmock/gmock.h>

#include "core/base/files.h"
#include "tests/support/result_matchers.h"

namespace swage {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

std::string ownProgram() {
  auto text = readTextFile("/proc/self/exe");
  EXPECT_THAT(text, IsOk());
  return text ? std::move(*text) : std::string();
}

TEST(ElfImage, ReadsSectionsSymbolsAndLibrariesOfThisProgram) {
  const std::string file = ownProgram();
  const auto image = parseElf(file);
  ASSERT_THAT(image, IsOk());
  ASSERT_NE(image->find(".text"), nullptr);
  EXPECT_GT(image->find(".text")->bytes.size(), 1000U);
  EXPECT_THAT(image->neededLibraries, Contains("libc.so.6"));
  const auto isMain = [](const ElfSymbol& symbol) { return symbol.name == "main" && symbol.type == STT_FUNC; };
  EXPECT_TRUE(std::any_of(image->symbols.begin(), image->symbols.end(), isMain));
}

TEST(ElfImage, RefusesWhatIsNoElfFile) {
  EXPECT_THAT(parseElf(""), IsError(ErrorKind::InvalidInput, HasSubstr("not an ELF file")));
  EXPECT_THAT(parseElf(std::string(100, 'x')), IsError(ErrorKind::InvalidInput, HasSubstr("not an ELF file")));
}

TEST(ElfImage, RefusesAFileThatIsCutOff) {
  const std::string file = ownProgram();
  EXPECT_THAT(parseElf(std::string_view(file).substr(0, file.size() / 2)),
              IsError(ErrorKind::InvalidInput, HasSubstr("not usable")));
}

TEST(ElfImage, EndsWhereItsTablesSay) {
  const std::string file = ownProgram();
  const std::string twice = file + file;
  const auto image = parseElf(twice);
  ASSERT_THAT(image, IsOk());
  EXPECT_EQ(image->size, file.size());
}

}  // namespace
}  // namespace swage
