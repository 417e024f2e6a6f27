// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/shared_object_check.h"

#include <elf.h>

#include <cstring>

#include <gmock/gmock.h>

#include "core/base/elf_image.h"
#include "core/base/files.h"
#include "core/base/random.h"
#include "tests/support/result_matchers.h"

namespace swage::toolchain {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

// An object with one variable of 8 bytes.
ElfImage objectWith(const std::string& symbol, const std::string& section, std::uint64_t flags) {
  ElfImage image;
  image.sections = {{}, {section, SHT_PROGBITS, flags, 8, {}}};
  image.symbols = {{symbol, STT_OBJECT, STB_LOCAL, 1, 0, 8}};
  return image;
}

TEST(Imports, MayBeTheCompilersOwnArithmetic) {
  EXPECT_TRUE(isAllowedImport("__eqhf2"));
  EXPECT_TRUE(isAllowedImport("__truncdfhf2"));
  EXPECT_FALSE(isAllowedImport("__eqhf3"));
}

TEST(WritableData, IsToldByTheFlagsOfItsSection) {
  for (const char* section : {".data", ".bss", ".noinit", "anything"}) {
    EXPECT_THAT(findWritableData(objectWith("kept", section, SHF_ALLOC | SHF_WRITE)), Optional(HasSubstr("'kept'")))
        << section;
  }
  EXPECT_EQ(findWritableData(objectWith("table", ".rodata", SHF_ALLOC)), std::nullopt);
}

TEST(WritableData, NeedsNoName) {
  ElfImage image = objectWith("kept", ".bss", SHF_ALLOC | SHF_WRITE);
  image.sections[1].size = 4096;
  image.symbols.clear();
  EXPECT_THAT(findWritableData(image), Optional(HasSubstr("'.bss'")));
  image.sections[1].size = 8;
  EXPECT_EQ(findWritableData(image), std::nullopt) << "the runtime's own";
}

TEST(WritableData, NeedsNoSize) {
  for (const int type : {STT_OBJECT, STT_TLS}) {
    ElfImage image = objectWith("kept", ".bss", SHF_ALLOC | SHF_WRITE);
    image.symbols[0].type = type;
    image.symbols[0].size = 0;
    EXPECT_THAT(findWritableData(image), Optional(HasSubstr("without a size ('kept')"))) << type;
  }
}

TEST(WritableData, MarksOfTheRuntimeAreAllowed) {
  ElfImage image = objectWith("__TMC_END__", ".data", SHF_ALLOC | SHF_WRITE);
  image.symbols[0].size = 0;
  EXPECT_EQ(findWritableData(image), std::nullopt);
  image.symbols.push_back({"__dso_handle", STT_OBJECT, STB_LOCAL, 1, 0, 0});
  EXPECT_EQ(findWritableData(image), std::nullopt);
  image.symbols[0].size = 8;
  EXPECT_NE(findWritableData(image), std::nullopt) << "a name alone is no excuse";
}

TEST(Code, IsInTheSectionThatIsLookedAt) {
  constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
  ElfImage image;
  image.sections = {{}, {".text", SHT_PROGBITS, kCode, 512, {}}, {".init", SHT_PROGBITS, kCode, 23, {}}};
  EXPECT_EQ(findObjectRefusal(image, {}), std::nullopt);
  image.sections.push_back({".plain", SHT_PROGBITS, kCode, 512, {}});
  EXPECT_THAT(findObjectRefusal(image, {}), Optional(HasSubstr("code in section '.plain'")));
  image.sections.back().name = ".init";
  EXPECT_THAT(findObjectRefusal(image, {}), Optional(HasSubstr("code in section '.init'")));
}

TEST(WritableData, IsNotWhatTheLoaderAloneWrites) {
  EXPECT_EQ(findWritableData(objectWith("table", ".data.rel.ro", SHF_ALLOC | SHF_WRITE)), std::nullopt);
  EXPECT_EQ(findWritableData(objectWith(".gomp_critical_user_sums", ".bss", SHF_ALLOC | SHF_WRITE)), std::nullopt);
}

// Whatever the header and the tables say, reading stays inside the file.
TEST(SharedObjectCheck, SurvivesDamage) {
  const Result<std::string> program = readTextFile("/proc/self/exe");
  ASSERT_THAT(program, testing::IsOk());
  const std::string& original = *program;
  Elf64_Ehdr header;
  std::memcpy(&header, original.data(), sizeof header);
  std::string file;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    file = original;
    for (int i = 0; i < 8; ++i) {
      file[16 + random.below(sizeof header - 16)] = static_cast<char>(random.next());
      const std::size_t table = static_cast<std::size_t>(header.e_shnum) * sizeof(Elf64_Shdr);
      file[header.e_shoff + random.below(table)] = static_cast<char>(random.next());
    }
    const auto image = parseElf(file);
    if (image) {
      (void)findObjectRefusal(*image, {"kernel"});
    }
  }
}

TEST(SharedObjectCheck, KnowsWhichFunctionsAKernelMayCall) {
  for (const std::string symbol :
       {"expf", "exp", "erff", "powl", "sincosf", "memcpy", "GOMP_parallel", "GOMP_barrier", "GOMP_loop_dynamic_start",
        "omp_get_thread_num", "_ZGVdN8v_expf", "_ZGVbN2v_sin", "__cxa_finalize"}) {
    EXPECT_TRUE(isAllowedImport(symbol)) << symbol;
  }
  for (const std::string symbol : {"open",
                                   "fopen",
                                   "socket",
                                   "fork",
                                   "system",
                                   "dlopen",
                                   "execve",
                                   "syscall",
                                   "mmap",
                                   "getenv",
                                   "malloc",
                                   "pthread_create",
                                   "omp_set_num_threads",
                                   "omp_get_wtime",
                                   "GOMP_target",
                                   "GOMP_target_ext",
                                   "GOMP_parallel_start",
                                   "GOMP_parallel_loop_static_start",
                                   "GOMP_parallel_end",
                                   "clock_gettime",
                                   "_ZGVdN8v_open",
                                   "_ZGV",
                                   "",
                                   "f"}) {
    EXPECT_FALSE(isAllowedImport(symbol)) << symbol;
  }
}

}  // namespace
}  // namespace swage::toolchain
