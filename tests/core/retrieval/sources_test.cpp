// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/sources.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/store/record.h"
#include "tests/core/store/large_record.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::retrieval {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST(Sources, APythonFileIsItsFunctionsAndWhatIsAboveThem) {
  const auto pieces = piecesOfPython(
      "import torch\n\ndef first(x):\n    \"\"\"Adds.\n    Twice.\"\"\"\n    return x\n"
      "class Second:\n    pass\n",
      domain::PatternOrigin::Inductor, "torch/a.py", "/env/torch/a.py");
  ASSERT_THAT(pieces, SizeIs(3));
  EXPECT_EQ(pieces[0].title, "torch/a.py");
  EXPECT_EQ(pieces[1].title, "first in torch/a.py");
  EXPECT_EQ(pieces[1].summary, "Adds.     Twice.");
  EXPECT_EQ(pieces[1].place, "/env/torch/a.py:3");
  EXPECT_EQ(pieces[1].key, "inductor/torch/a.py:first:3");
  EXPECT_THAT(pieces[1].body, HasSubstr("return x"));
  EXPECT_EQ(pieces[2].title, "Second in torch/a.py");
  EXPECT_THAT(piecesOfPython("", domain::PatternOrigin::Inductor, "a", "b"), IsEmpty());
}

TEST(Sources, AnEnvironmentIsReadWhereItsPackagesLie) {
  const testing::TempDir folder;
  write(folder / "lib/python3.11/site-packages/torch/_inductor/kernel/mm.py", "def mm():\n    pass\n");
  write(folder / "lib/python3.11/site-packages/torch/nn/other.py", "def other():\n    pass\n");
  write(folder / "lib/python3.11/site-packages/triton/language/standard.py", "def softmax():\n    pass\n");
  const auto units = pythonUnits(folder / "bin/python");
  ASSERT_THAT(units, SizeIs(2));
  const auto entries = units[1].read();
  ASSERT_THAT(entries, testing::IsOk());
  EXPECT_EQ(entries->front().origin, domain::PatternOrigin::Triton);
  EXPECT_THAT(pythonUnits("/nowhere/bin/python"), IsEmpty());
  EXPECT_THAT(pythonUnits("python3"), IsEmpty());
}

TEST(Sources, ACheckoutOfCutlassIsItsHeadersAndExamples) {
  const testing::TempDir folder;
  write(folder / "include/cutlass/gemm/sm90_mma.hpp", "/* \\brief A warp-specialised mainloop */\nclass X {};\n");
  const auto units = cutlassUnits(folder.path());
  ASSERT_THAT(units, SizeIs(1));
  const auto entries = units[0].read();
  ASSERT_THAT(entries, testing::IsOk());
  EXPECT_THAT(entries->front().summary, HasSubstr("warp-specialised"));
  EXPECT_THAT(entries->front().architectures, ::testing::ElementsAre("sm_90"));
  EXPECT_THAT(cutlassUnits(folder / "nothing"), IsEmpty());
}

TEST(Sources, AChangedFileHasAnotherStamp) {
  const testing::TempDir folder;
  write(folder / "a.toml", "name = \"A\"\narchitecture = \"sm_1\"\n[facts]\nl2_mb = 4\n");
  const auto before = dataSheetUnits(folder.path());
  write(folder / "a.toml", "name = \"A\"\narchitecture = \"sm_1\"\n[facts]\nl2_mb = 400\n");
  const auto after = dataSheetUnits(folder.path());
  ASSERT_THAT(before, SizeIs(1));
  EXPECT_NE(before[0].stamp, after[0].stamp);
  const auto entries = after[0].read();
  ASSERT_THAT(entries, testing::IsOk());
  EXPECT_THAT(entries->front().body, HasSubstr("L2 cache: 400 MB"));
  write(folder / "a.toml", "name =");
  EXPECT_THAT(dataSheetUnits(folder.path())[0].read(), testing::IsError(ErrorKind::InvalidInput, HasSubstr("line 1")));
}

TEST(Sources, EveryPatternOfTheCatalogueSaysWhenToUseIt) {
  const auto entries = catalogueUnits(SWAGE_TEST_PATTERNS)[0].read();
  ASSERT_THAT(entries, testing::IsOk());
  EXPECT_GE(entries->size(), 25U);
  for (const domain::PatternEntry& entry : *entries) {
    EXPECT_GT(entry.summary.size(), 80U) << entry.key;
    EXPECT_THAT(entry.operators, ::testing::Not(IsEmpty())) << entry.key;
    EXPECT_THAT(entry.bottlenecks, ::testing::Not(IsEmpty())) << entry.key;
    EXPECT_THAT(entry.architectures, ::testing::Not(IsEmpty())) << entry.key;
  }
}

TEST(Sources, AProjectIsTheWinnersOfItsRuns) {
  const testing::TempDir folder;
  testing::makeLargeRecord(folder / "project", 50);
  const auto units = recordUnits({folder / "project", folder / "nothing"});
  ASSERT_THAT(units, SizeIs(1));
  const auto entries = units[0].read();
  ASSERT_THAT(entries, testing::IsOk());
  ASSERT_THAT(*entries, SizeIs(1));
  EXPECT_THAT(entries->front().summary, HasSubstr("times as fast as"));
  EXPECT_FALSE(entries->front().body.empty());
}

}  // namespace
}  // namespace swage::retrieval
