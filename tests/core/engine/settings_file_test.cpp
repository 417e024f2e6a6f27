// SPDX-License-Identifier: Apache-2.0
#include "core/engine/settings_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/base/files.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using services::Settings;
using swage::testing::IsError;
using swage::testing::IsOk;
using ::testing::HasSubstr;

class SettingsFileTest : public ::testing::Test {
 protected:
  void write(const char* text) const { std::ofstream(file.file()) << text; }

  swage::testing::TempDir folder;
  SettingsFile file{folder / "config.toml"};
};

TEST_F(SettingsFileTest, IsEmptyWhereThereIsNone) {
  const auto settings = file.load();
  ASSERT_THAT(settings, IsOk());
  EXPECT_TRUE(settings->empty());
}

TEST_F(SettingsFileTest, GivesBackWhatWasSaved) {
  const Settings settings = {{"theme.choice", std::string("dark \"blue\"")},
                             {"search.seed", std::int64_t{7}},
                             {"search.compile_baselines", false}};
  const SettingsFile nested(folder / "not" / "yet" / "config.toml");
  ASSERT_THAT(nested.save(settings), IsOk());
  const auto loaded = nested.load();
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(*loaded, settings);
}

TEST_F(SettingsFileTest, SaysWhereAFileIsWrong) {
  write("[theme]\nchoice = \n");
  EXPECT_THAT(file.load(), IsError(ErrorKind::Config, HasSubstr("line 2")));
  write("choice = 3\n");
  EXPECT_THAT(file.load(), IsError(ErrorKind::Config, HasSubstr("no [section]")));
  write("[theme]\nchoice = [1, 2]\n");
  EXPECT_THAT(file.load(), IsError(ErrorKind::Config, HasSubstr("theme.choice")));
}

TEST_F(SettingsFileTest, SavingKeepsTheCommentsOfTheUser) {
  write(
      "# mine\n[search]\nseed = 1  # the first\ntarget = \"cpu\"\n\n# below\n[theme]  # colours\nchoice = \"dark\"\n");
  ASSERT_THAT(file.save({{"search.seed", std::int64_t{2}},
                         {"search.time_budget", std::string("5 min")},
                         {"theme.choice", std::string("dark")},
                         {"editor.tab_width", std::int64_t{4}}}),
              IsOk());
  EXPECT_EQ(*readTextFile(file.file()),
            "version = 1\n\n# mine\n[search]\nseed = 2  # the first\ntime_budget = \"5 min\"\n\n# below\n[theme]  # "
            "colours\nchoice = "
            "\"dark\"\n\n"
            "[editor]\ntab_width = 4\n");
}

TEST_F(SettingsFileTest, ReadsFilesOfItsVersionAndOfNone) {
  write("version = 1\n[search]\nseed = 1\n");
  EXPECT_EQ(*file.load(), (Settings{{"search.seed", std::int64_t{1}}}));
  write("version = \"new\"\n");
  EXPECT_THAT(file.load(), IsError(ErrorKind::Config, HasSubstr("'version' has to be a whole number")));
  write("[search]\nversion = 2\n");
  EXPECT_THAT(file.load(), IsOk()) << "a setting, though there is none of this name";
}

TEST_F(SettingsFileTest, NeitherReadsNorWritesOverAFileOfALaterVersion) {
  const char* later = "version = 2\n[search]\nfuture = \"yes\"\n";
  write(later);
  const auto loaded = file.load();
  EXPECT_THAT(loaded, IsError(ErrorKind::Config, HasSubstr("have version 2, which a later Swage reads: Swage ")));
  EXPECT_THAT(loaded, IsError(ErrorKind::Config, HasSubstr("reads version 1")));
  EXPECT_THAT(loaded.error().hint(), HasSubstr("update Swage"));
  EXPECT_THAT(file.save({{"search.seed", std::int64_t{1}}}), IsError(ErrorKind::Config, HasSubstr("version 2")));
  EXPECT_EQ(*readTextFile(file.file()), later);
}

TEST_F(SettingsFileTest, WritesItsVersionOnce) {
  ASSERT_THAT(file.save({{"search.seed", std::int64_t{1}}}), IsOk());
  EXPECT_EQ(*readTextFile(file.file()), "version = 1\n\n[search]\nseed = 1\n");
  ASSERT_THAT(file.save({{"search.seed", std::int64_t{2}}}), IsOk());
  EXPECT_EQ(*readTextFile(file.file()), "version = 1\n\n[search]\nseed = 2\n");
}

TEST_F(SettingsFileTest, SavesWhatIsWrittenInAnotherWayAllTheSame) {
  write("search = { seed = 1, target = \"cpu\" }\n");
  const Settings settings = {{"search.seed", std::int64_t{2}}};
  ASSERT_THAT(file.save(settings), IsOk());
  EXPECT_EQ(*file.load(), settings);
}

}  // namespace
}  // namespace swage::engine
