// SPDX-License-Identifier: Apache-2.0
#include "core/base/elf_image.h"

#include <elf.h>

#include <cstring>

#include <gmock/gmock.h>

#include "core/base/files.h"
#include "core/base/random.h"
#include "core/toolchain/shared_object_check.h"
#include "tests/support/result_matchers.h"

namespace swage::toolchain {
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

// Whatever the header and the tables say, reading stays inside the file.
TEST(ElfImage, SurvivesDamage) {
  const std::string original = ownProgram();
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
