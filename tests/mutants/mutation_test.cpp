// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>

#include "tests/mutants/mutation.h"

namespace swage::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr const char* kSource =
    "float shared(float a) { return a + 1; }\n"
    "extern \"C\" void kernel() {\n"
    "  const float v1 = (x + b);\n"
    "  for (int i = 0; i < n; ++i) {\n"
    "#pragma omp barrier\n"
    "    if (i < kInner) {\n"
    "  y[i] = v1;\n";

std::vector<std::string> diffs(MutationKind kind) {
  std::vector<std::string> found;
  for (const Mutation& mutation : mutationsOf(kSource, domain::Language::Cpp)) {
    if (mutation.kind == kind) {
      found.push_back(mutation.diff);
    }
  }
  return found;
}

TEST(Mutations, AreOfEveryKindThatTheSourceAllows) {
  EXPECT_THAT(diffs(MutationKind::ArithmeticSlip), UnorderedElementsAre(HasSubstr("+   const float v1 = (x - b);")));
  EXPECT_THAT(diffs(MutationKind::MissingBound), UnorderedElementsAre(HasSubstr("+     if (true) {")));
  EXPECT_THAT(diffs(MutationKind::OffByOne),
              UnorderedElementsAre(HasSubstr("(int i = 1;"), HasSubstr("i < n - 1;"), HasSubstr("i <= n;")));
  EXPECT_THAT(diffs(MutationKind::DroppedTail), UnorderedElementsAre(HasSubstr("i < n / 16 * 16;")));
  EXPECT_THAT(diffs(MutationKind::Race), UnorderedElementsAre(HasSubstr("- #pragma omp barrier")));
  EXPECT_THAT(diffs(MutationKind::Equivalent),
              UnorderedElementsAre(HasSubstr("(b + x);"), HasSubstr("#pragma GCC unroll"),
                                   AllOf(HasSubstr("renamed_v1 = (x + b)"), HasSubstr("y[i] = renamed_v1;"))));
}

TEST(Mutations, LeaveWhatAllKernelsShareAsItIs) {
  EXPECT_THAT(mutationsOf(kSource, domain::Language::Cpp),
              Each(Field(&Mutation::source, HasSubstr("float shared(float a) { return a + 1; }\n"))));
}

TEST(Mutations, AreDrawnEvenly) {
  Random random(3);
  std::map<MutationKind, int> kinds;
  for (const Mutation& mutation : drawEvenly(mutationsOf(kSource, domain::Language::Cpp), 6, random)) {
    ++kinds[mutation.kind];
  }
  EXPECT_EQ(kinds.size(), 6U);
}

}  // namespace
}  // namespace swage::testing
