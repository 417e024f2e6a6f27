// SPDX-License-Identifier: Apache-2.0
#include "core/engine/kernelbench_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/base/files.h"
#include "core/engine/kernelbench_problems.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using exporting::KernelBenchRow;
using exporting::KernelBenchSettings;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using Kind = ProblemChoice::Kind;

class KernelBenchProblemsTest : public ::testing::Test {
 protected:
  KernelBenchProblemsTest() {
    for (const char* file : {"level1/1_First.py", "level1/2_Second.py", "level1/11_Eleventh.py", "level1/notes.md",
                             "level1/helper.py", "level2/3_Third.py"}) {
      const auto path = m_folder / "KernelBench" / file;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << "pass\n";
    }
  }
  [[nodiscard]] std::vector<std::string> found(const std::vector<int>& levels, const ProblemChoice& choice) const {
    const auto problems = findKernelBenchProblems(m_folder.path(), levels, choice);
    EXPECT_THAT(problems, IsOk());
    std::vector<std::string> names;
    for (const KernelBenchProblem& problem : problems.value_or(std::vector<KernelBenchProblem>())) {
      names.push_back(std::to_string(problem.level) + "/" + problem.name);
    }
    return names;
  }
  testing::TempDir m_folder;
};

TEST_F(KernelBenchProblemsTest, AreThoseOfTheChosenNumbersInTheirOrder) {
  EXPECT_THAT(found({1}, {}), ElementsAre("1/1_First", "1/2_Second", "1/11_Eleventh"));
  EXPECT_THAT(found({2, 1}, {Kind::Odd, {}}), ElementsAre("2/3_Third", "1/1_First", "1/11_Eleventh"));
  EXPECT_THAT(found({1}, {Kind::Even, {}}), ElementsAre("1/2_Second"));
  EXPECT_THAT(found({1, 2}, {Kind::Listed, {3, 11}}), ElementsAre("1/11_Eleventh", "2/3_Third"));
}

TEST_F(KernelBenchProblemsTest, ThatAreMissingAreNamed) {
  EXPECT_THAT(findKernelBenchProblems(m_folder.path(), {1}, {Kind::Listed, {1, 99}}),
              IsError(ErrorKind::NotFound, HasSubstr("no level has a problem 99")));
  EXPECT_THAT(findKernelBenchProblems(m_folder.path(), {4}, {}), IsError(ErrorKind::NotFound, HasSubstr("level4")));
  EXPECT_THAT(findKernelBenchProblems(m_folder.path(), {2}, {Kind::Even, {}}),
              IsError(ErrorKind::NotFound, HasSubstr("none of these problems")));
}

TEST(ProblemChoice, IsAWordOrNumbers) {
  EXPECT_EQ(parseProblemChoice("odd").value(), (ProblemChoice{Kind::Odd, {}}));
  EXPECT_EQ(parseProblemChoice("even").value(), (ProblemChoice{Kind::Even, {}}));
  EXPECT_EQ(parseProblemChoice("all").value(), (ProblemChoice{Kind::All, {}}));
  EXPECT_EQ(parseProblemChoice("1,5,7").value(), (ProblemChoice{Kind::Listed, {1, 5, 7}}));
  EXPECT_EQ(parseLevels("2,1,2").value(), (std::vector<int>{2, 1}));
  for (const char* wrong : {"", "odds", "1,", "1,,2", "0", "-1", "1 2", "99999999999"}) {
    EXPECT_THAT(parseProblemChoice(wrong), IsError(ErrorKind::Usage, HasSubstr("number of a problem"))) << wrong;
  }
  EXPECT_THAT(parseLevels("one"), IsError(ErrorKind::Usage, HasSubstr("'one' is no level")));
}

class KernelBenchFileTest : public ::testing::Test {
 protected:
  static KernelBenchRow row(int problem) {
    KernelBenchRow one;
    one.level = 1;
    one.problem = problem;
    one.name = "task";
    one.device = "A CPU";
    one.check.verdict = "accepted";
    return one;
  }
  testing::TempDir m_folder;
  std::filesystem::path m_path = m_folder / "out.json";
  KernelBenchSettings m_settings{"cpu", 10.0, 0, 1, 0, {}};
};

TEST_F(KernelBenchFileTest, HasEveryRowThatWasPutAndGoesOn) {
  {
    auto file = KernelBenchFile::open(m_path, m_settings);
    ASSERT_THAT(file, IsOk());
    EXPECT_FALSE(file->isDone(1, 3));
    EXPECT_THAT(file->put(row(3)), IsOk());
    EXPECT_TRUE(file->isDone(1, 3));
  }
  const auto again = KernelBenchFile::open(m_path, m_settings);
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->isDone(1, 3));
  EXPECT_EQ(again->document().device, "A CPU");
  EXPECT_EQ(readKernelBenchFile(m_path)->rows.size(), 1U);
}

TEST_F(KernelBenchFileTest, DoesAProblemAgainThatFailedBecauseOfItsSurroundings) {
  auto file = KernelBenchFile::open(m_path, m_settings);
  ASSERT_THAT(file, IsOk());
  KernelBenchRow failed = row(3);
  failed.failedStage = "import";
  failed.failureKind = name(ErrorKind::Environment);
  EXPECT_THAT(file->put(failed), IsOk());
  EXPECT_FALSE(file->isDone(1, 3));
  failed.failureKind = name(ErrorKind::InvalidInput);
  EXPECT_THAT(file->put(failed), IsOk());
  EXPECT_TRUE(file->isDone(1, 3));
  EXPECT_EQ(file->document().rows.size(), 1U);
}

TEST_F(KernelBenchFileTest, IsLeftAloneWhereItIsSomethingElse) {
  ASSERT_THAT(writeFileAtomically(m_path, "{\"precious\": 1}"), IsOk());
  EXPECT_THAT(KernelBenchFile::open(m_path, m_settings),
              IsError(ErrorKind::InvalidInput, HasSubstr("no file of `swage bench kernelbench`")));
  EXPECT_EQ(readTextFile(m_path).value(), "{\"precious\": 1}");
  EXPECT_THAT(readKernelBenchFile(m_folder / "nothing.json"), ::testing::Not(IsOk()));
}

TEST_F(KernelBenchFileTest, JoinsFilesOfOtherProblemsAndTheSameSettings) {
  const std::filesystem::path other = m_folder / "other.json";
  const auto write = [&](const std::filesystem::path& path, int problem) {
    auto file = KernelBenchFile::open(path, m_settings);
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT(file->put(row(problem)), IsOk());
  };
  write(m_path, 5);
  write(other, 3);
  const auto both = readKernelBenchFiles({m_path, other});
  ASSERT_THAT(both, IsOk());
  ASSERT_EQ(both->rows.size(), 2U);
  EXPECT_EQ(both->rows.front().problem, 3);
  EXPECT_THAT(readKernelBenchFiles({m_path, m_path}),
              IsError(ErrorKind::InvalidInput, HasSubstr("both have problem 1/5")));
  std::filesystem::remove(other);
  m_settings.seed = 7;
  write(other, 3);
  EXPECT_THAT(readKernelBenchFiles({m_path, other}), IsError(ErrorKind::InvalidInput, HasSubstr("other settings")));
}

TEST_F(KernelBenchFileTest, DoesNotMixSettingsOrDevices) {
  {
    auto file = KernelBenchFile::open(m_path, m_settings);
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT(file->put(row(3)), IsOk());
    KernelBenchRow elsewhere = row(5);
    elsewhere.device = "A GPU";
    EXPECT_THAT(file->put(elsewhere), IsError(ErrorKind::InvalidInput, HasSubstr("measured on A CPU, this is A GPU")));
  }
  m_settings.timeBudgetSeconds = 20.0;
  EXPECT_THAT(KernelBenchFile::open(m_path, m_settings), IsError(ErrorKind::InvalidInput, HasSubstr("other settings")));
}

}  // namespace
}  // namespace swage::engine
