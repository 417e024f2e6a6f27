// SPDX-License-Identifier: Apache-2.0
#include "core/domain/cubins.h"

#include <elf.h>

#include <string>

#include <gmock/gmock.h>

#include "tests/support/elf_file.h"

namespace swage::domain {
namespace {

using ::testing::ElementsAre;
using testing::elfFile;
using ::testing::IsEmpty;

TEST(Cubins, StandOneBehindTheOther) {
  const std::string first = elfFile({"sum"});
  const std::string second = elfFile({"scale", "sum_of_rows"});
  EXPECT_THAT(cubinsIn(first), ElementsAre(first));
  EXPECT_THAT(cubinsIn(first + second + first), ElementsAre(first, second, first));
  EXPECT_THAT(cubinsIn(""), IsEmpty());
}

TEST(Cubins, AreFoundByTheirKernels) {
  const std::string first = elfFile({"sum"});
  const std::string second = elfFile({"scale", "sum_of_rows"});
  EXPECT_EQ(cubinOf(first + second, "sum"), first);
  EXPECT_EQ(cubinOf(first + second, "sum_of_rows"), second);
  EXPECT_EQ(cubinOf(first + second, "scale"), second);
  EXPECT_EQ(cubinOf(first + second, "rows"), first) << "nothing else is known of it";
}

TEST(Cubins, AreOneFileWhereTheyCannotBeRead) {
  const std::string first = elfFile({"sum"});
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
