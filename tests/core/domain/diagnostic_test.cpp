// SPDX-License-Identifier: Apache-2.0
#include "core/domain/diagnostic.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace swage::domain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> printed(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> lines;
  for (const Diagnostic& one : diagnostics) {
    lines.push_back(fmt::format("{}:{}+{} {}{}: {}{}", one.line, one.column, one.length,
                                one.place.empty() ? "" : "(" + one.place + ") ", name(one.severity), one.message,
                                one.option.empty() ? "" : " [" + one.option + "]"));
  }
  return lines;
}

TEST(ParseDiagnostics, ReadsGcc) {
  constexpr const char* kLog = R"(source.cpp: In instantiation of 'struct Tile<2>':
source.cpp:12:11:   required from here
source.cpp:6:19: error: static assertion failed: a tile has more than 4 elements
    6 |   static_assert(N > 4, "a tile has more than 4 elements");
      |                 ~~^~~
source.cpp:6:19: note: the comparison reduces to '(2 > 4)'
source.cpp: In function 'void k(void**)':
source.cpp:13:18: error: too few arguments to function 'float scale(float, int)'
   13 |   float y = scale(in[0]);
      |             ~~~~~^~~~~~~
source.cpp:11:7: warning: unused variable 'unused' [-Wunused-variable]
   11 |   int unused = 3;
      |       ^~~~~~
)";
  EXPECT_THAT(printed(parseDiagnostics(kLog)),
              ElementsAre("12:11+0 note: required from here",
                          "6:17+5 error: static assertion failed: a tile has more than 4 elements",
                          "6:19+0 note: the comparison reduces to '(2 > 4)'",
                          "13:13+12 error: too few arguments to function 'float scale(float, int)'",
                          "11:7+6 warning: unused variable 'unused' [-Wunused-variable]"));
}

TEST(ParseDiagnostics, ReadsHeadersAndTheLinker) {
  constexpr const char* kLog = R"(In file included from source.cpp:1:
/usr/include/c++/12/cmath:45:2: error: #error no
source.cpp:3:10: fatal error: nowhere.h: No such file or directory
    3 | #include "nowhere.h"
      |          ^~~~~~~~~~~
compilation terminated.
/usr/bin/ld: source.cpp:(.text+0x5): undefined reference to `missing'
collect2: error: ld returned 1 exit status
)";
  EXPECT_THAT(printed(parseDiagnostics(kLog)),
              ElementsAre("0:0+0 (/usr/include/c++/12/cmath:45) error: #error no",
                          "3:10+11 error: nowhere.h: No such file or directory",
                          "0:0+0 (/usr/bin/ld) error: source.cpp:(.text+0x5): undefined reference to `missing'",
                          "0:0+0 (collect2) error: ld returned 1 exit status"));
}

TEST(ParseDiagnostics, ReadsNvrtc) {
  constexpr const char* kLog = R"(source.cu(4): error: static assertion failed with "a tile has more than 4 elements"
    static_assert(N > 4, "a tile has more than 4 elements");
    ^
          detected during instantiation of class "Tile<N> [with N=2]" at line 9

source.cu(10): error: too few arguments in function call
    float y = scale(in[0]);
                         ^

source.cu(12): error: expected a ";"
  }
  ^

source.cu(8): warning #177-D: variable "unused" was declared but never referenced
    int unused = 3;
        ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

4 errors detected in the compilation of "source.cu".
)";
  EXPECT_THAT(printed(parseDiagnostics(kLog)),
              ElementsAre(R"(4:3+1 error: static assertion failed with "a tile has more than 4 elements")",
                          "10:24+1 error: too few arguments in function call", R"(12:1+1 error: expected a ";")",
                          R"(8:7+1 warning: variable "unused" was declared but never referenced [177-D])"));
}

TEST(ParseDiagnostics, ReadsPtxas) {
  EXPECT_THAT(printed(parseDiagnostics("ptxas application ptx input, line 30; error   : Unknown modifier '.globl'\n"
                                       "ptxas info    : 0 bytes gmem\n"
                                       "ptxas fatal   : Ptx assembly aborted due to errors\n")),
              ElementsAre("0:0+0 (line 30 of the PTX) error: Unknown modifier '.globl'",
                          "0:0+0 error: Ptx assembly aborted due to errors"));
}

TEST(ParseDiagnostics, ReadsTheChecksOfTheSource) {
  EXPECT_THAT(printed(parseDiagnostics("line 5: a kernel may not use 'asm'")),
              ElementsAre("5:0+0 error: a kernel may not use 'asm'"));
}

TEST(ParseDiagnostics, LosesNothingInAnUnknownForm) {
  EXPECT_THAT(printed(parseDiagnostics("\n  killed: it used more than 2048 MiB of memory\nmore\n")),
              ElementsAre("0:0+0 error: killed: it used more than 2048 MiB of memory"));
  EXPECT_THAT(parseDiagnostics(" \n"), IsEmpty());
}

TEST(ParseDiagnostics, TakesNoLineFromAPlaceThatIsNone) {
  for (const Diagnostic& one :
       parseDiagnostics("source.cpp:0:1: error: x\nsource.cpp:99999999999: error: y\n(): error: z\n(3): error: w\n")) {
    EXPECT_EQ(one.line, 0) << one.message;
  }
}

TEST(DiagnosticsOf, AreWhatKeptItFromCompilingElseWarnings) {
  const std::string warning = "source.cpp:1:2: warning: w [-Wx]\n";
  EXPECT_THAT(printed(diagnosticsOf(CompileFailed{CompileFailureReason::Error, "source.cpp:7:1: error: e"}, warning)),
              ElementsAre("7:1+0 error: e"));
  EXPECT_THAT(printed(diagnosticsOf(Rejected{"code check", "line 3: no"}, warning)), ElementsAre("3:0+0 error: no"));
  EXPECT_THAT(printed(diagnosticsOf(Wrong{}, warning)), ElementsAre("1:2+0 warning: w [-Wx]"));
  EXPECT_THAT(diagnosticsOf(std::nullopt, "it says hello"), IsEmpty());
}

}  // namespace
}  // namespace swage::domain
