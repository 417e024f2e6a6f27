// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/source_check.h"

#include <gmock/gmock.h>

namespace swage::toolchain {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

TEST(SourceCheck, AcceptsAnOrdinaryCpuKernel) {
  EXPECT_EQ(findRefusal(cppSourceRules(), R"(#include <cmath>
#include <immintrin.h>
#include <omp.h>  // asm, ##, #include <fstream>
/* section constructor */
extern "C" void kernel(void** arguments) {
  const char* text = "asm \" ## /*";
  const int million = 1'000'000;
#pragma omp parallel sections
  {
#pragma omp section
    { float asmx = expf(1.0f); (void)asmx; }
  }
  (void)text; (void)million; (void)arguments; (void)'"'; (void)'\'';
}
)"),
            std::nullopt);
}

TEST(SourceCheck, RefusesHeadersThatAreNotListed) {
  EXPECT_THAT(findRefusal(cppSourceRules(), "#include <cmath>\n\n#include <fstream>\n"),
              Optional(HasSubstr("line 3: #include of 'fstream' is not allowed")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "  #  include \"/etc/passwd\"\n"), Optional(HasSubstr("'/etc/passwd'")));
  EXPECT_THAT(findRefusal(cudaSourceRules(), "#include <cuda/../../../etc/passwd>\n"), Optional(HasSubstr("passwd")));
  EXPECT_THAT(findRefusal(cudaSourceRules(), "#include <curand.h>\n"), Optional(HasSubstr("'curand.h'")));
}

TEST(SourceCheck, RefusesHiddenWaysToWriteAnInclude) {
  EXPECT_THAT(findRefusal(cppSourceRules(), "#inc\\\nlude <fstream>\n"), Optional(HasSubstr("'fstream'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#inc\\  \nlude <fstream>\n"), Optional(HasSubstr("'fstream'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "%:include <fstream>\n"), Optional(HasSubstr("'fstream'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "/* x */ # /* y */ include /* z */ <fstream>\n"),
              Optional(HasSubstr("'fstream'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define H <fstream>\n#include H\n"), Optional(HasSubstr("line 2")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#include_next <fstream>\n"), Optional(HasSubstr("'fstream'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#import <fstream>\n"), Optional(HasSubstr("'fstream'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "auto s = R\"(/*)\";\n#include <fstream>\n"),
              Optional(HasSubstr("raw string")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "// comment \\\n#include <fstream>\n"), std::nullopt);
}

TEST(SourceCheck, RefusesAssemblyOnCpuButNotOnCuda) {
  const std::string source = "void f() { asm volatile(\"syscall\"); }\n";
  EXPECT_THAT(findRefusal(cppSourceRules(), source), Optional(HasSubstr("'asm' is not allowed")));
  EXPECT_EQ(findRefusal(cudaSourceRules(), source), std::nullopt);
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define A __asm__\n"), Optional(HasSubstr("'__asm__'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define A(x) as##x\n"), Optional(HasSubstr("token pasting")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define A(x) as %:%: x\n"), Optional(HasSubstr("token pasting")));
}

TEST(SourceCheck, AllowsPastingThatCannotSpellARefusedWord) {
  EXPECT_EQ(
      findRefusal(cppSourceRules(), "#define F(name, single) \\\n  float fn_##name(float x) { return single(x); }\n"),
      std::nullopt);
  EXPECT_EQ(findRefusal(cppSourceRules(), "#define F(name) name ## _vector\n"), std::nullopt);
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define F(fn_, name) fn_##name\n"), Optional(HasSubstr("token pasting")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define F(a, ...) a##__VA_ARGS__\n"),
              Optional(HasSubstr("token pasting")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define F(x) x##_\n"), Optional(HasSubstr("token pasting")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define F(x, y) fn_##x##y\n"), Optional(HasSubstr("token pasting")));
}

TEST(SourceCheck, RefusesAttributesThatRunCodeAtLoadOrBringFastMathBack) {
  EXPECT_THAT(findRefusal(cppSourceRules(), "__attribute__((constructor)) void f() {}\n"),
              Optional(HasSubstr("'constructor'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "__attribute__((section(\".text\"))) const char code[] = {1};\n"),
              Optional(HasSubstr("'section'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#pragma GCC optimize(\"fast-math\")\n"),
              Optional(HasSubstr("'optimize'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "_Pragma(\"GCC optimize(3)\") void f();\n"),
              Optional(HasSubstr("_Pragma")));
  EXPECT_EQ(findRefusal(cppSourceRules(), "_Pragma(\"omp simd\") void f();\n"), std::nullopt);
}

TEST(SourceCheck, RefusesWhatTellsOneCompilationFromAnother) {
  for (const std::string word : {"__has_include", "__FILE__", "__LINE__", "__DATE__", "__TIME__", "__TIMESTAMP__",
                                 "__INCLUDE_LEVEL__", "__builtin_FILE"}) {
    EXPECT_THAT(findRefusal(cppSourceRules(), "#if " + word + "(\"/etc/passwd\")\n#endif\n"),
                Optional(HasSubstr("'" + word + "' is not allowed")));
  }
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define A(x) __has_##x\n"), Optional(HasSubstr("token pasting")));
  EXPECT_EQ(findRefusal(cppSourceRules(), "// looks at __has_include\n"), std::nullopt);
}

TEST(SourceCheck, IsNotConfusedAboutWhereTokensEnd) {
  EXPECT_THAT(findRefusal(cppSourceRules(), "#inc\\\f\nlude <fstream>\n"), Optional(HasSubstr("'fstream'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "a\\\v\nsm(\"syscall\");\n"), Optional(HasSubstr("'asm'")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "#define F(a /* ) */, as) as##m\n"), Optional(HasSubstr("token pasting")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "int c = 1'\"';\nasm(\"syscall\"); // \"\n"), Optional(HasSubstr("'asm'")));
  EXPECT_EQ(findRefusal(cppSourceRules(), "long c = 1'000'000; double d = 1.e3; float e = .5f;\n"), std::nullopt);
}

TEST(SourceCheck, FindsItsOwnPartOfAPreprocessedText) {
  const std::string text =
      "# 0 \"/in/source.cpp\"\n# 1 \"/usr/include/math.h\" 1 3\nasm(\"\");\n# 3 \"/in/source.cpp\" 2\nint a;\n\n"
      "# 6 \"/in/source.cpp\"\nas\nint b;";
  EXPECT_EQ(ownPart(text, "/in/source.cpp"), "\n\nint a;\n\n\nas\nint b;\n");
  EXPECT_EQ(ownPart("", "/in/source.cpp"), "");
  EXPECT_THAT(findRefusal(cppSourceRules(), "#line 3 \"math.h\"\n"), Optional(HasSubstr("other numbers or names")));
  EXPECT_THAT(findRefusal(cppSourceRules(), "# 3 \"math.h\"\n"), Optional(HasSubstr("other numbers or names")));
}

TEST(SourceCheck, EndsOnTextThatEndsTooEarly) {
  for (const std::string source :
       {"", "#", "#include", "#include <", "\"abc", "'", "/*", "//", "\\", "\"\\", "%:", "1."}) {
    EXPECT_NO_FATAL_FAILURE((void)findRefusal(cppSourceRules(), source)) << source;
  }
  EXPECT_THAT(findRefusal(cppSourceRules(), "#include <"), Optional(HasSubstr("not allowed")));
  EXPECT_THAT(findRefusal(cppSourceRules(), std::string("a\0b", 3)), Optional(HasSubstr("zero byte")));
}

}  // namespace
}  // namespace swage::toolchain
