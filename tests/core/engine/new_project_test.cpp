// SPDX-License-Identifier: Apache-2.0
#include "core/engine/new_project.h"

#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "core/base/files.h"
#include "core/engine/configuration.h"
#include "core/engine/settings_file.h"
#include "core/services/setting_keys.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using services::Settings;
using swage::testing::IsError;
using swage::testing::IsOk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class NewProjectTest : public ::testing::Test {
 protected:
  swage::testing::TempDir m_folder;
  std::filesystem::path m_project = m_folder / "project";
};

TEST_F(NewProjectTest, HasSettingsAndRulesForGit) {
  EXPECT_FALSE(isProject(m_project));
  const auto made = makeProject(m_project / "./");
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->folder, m_project);
  EXPECT_THAT(made->written, ElementsAre(m_project / "project.toml", m_project / ".gitignore"));
  EXPECT_TRUE(made->kept.empty());
  EXPECT_EQ(readTextFile(m_project / "project.toml").value(), projectSettingsText());
  EXPECT_THAT(readTextFile(m_project / ".gitignore").value(), HasSubstr("/runs.sqlite*"));
  EXPECT_TRUE(isProject(m_project));
}

TEST_F(NewProjectTest, SetsNothing) {
  ASSERT_THAT(makeProject(m_project), IsOk());
  const auto settings = SettingsFile(m_project / "project.toml").load();
  ASSERT_THAT(settings, IsOk());
  EXPECT_TRUE(settings->empty());
}

TEST_F(NewProjectTest, EachLineThatIsTakenInSetsAnExistingSettingToItsDefault) {
  std::istringstream lines(projectSettingsText());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += (std::regex_search(line, std::regex("^# [a-z_]+ = ")) ? line.substr(2) : line) + '\n';
  }
  const auto file = m_folder / "all.toml";
  std::ofstream(file) << text;
  const auto settings = SettingsFile(file).load();
  ASSERT_THAT(settings, IsOk());
  Settings wanted;
  for (const services::SettingKey& key : services::settingKeys()) {
    if (key.name.starts_with("search.") || key.name.starts_with("swarm.")) {
      wanted.emplace(key.name, key.standard);
    }
  }
  EXPECT_EQ(*settings, wanted);
  EXPECT_GT(wanted.size(), 8U);
  for (const auto& [name, value] : *settings) {
    EXPECT_THAT(services::checkSetting(name, value), IsOk());
  }
}

TEST_F(NewProjectTest, CommentsFitIntoALineAndStayWhenASettingIsSet) {
  ASSERT_THAT(makeProject(m_project), IsOk());
  const SettingsFile file(m_project / "project.toml");
  ASSERT_THAT(file.save({{"search.target", std::string("cpu")}}), IsOk());
  const std::string text = readTextFile(file.file()).value();
  EXPECT_THAT(text, AllOf(HasSubstr("\ntarget = \"cpu\"\n"), HasSubstr("# time_budget = \"60 s\"\n"),
                          HasSubstr("# where kernels run (one of auto, cpu, cuda)\n")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST_F(NewProjectTest, OverwritesNothing) {
  std::filesystem::create_directories(m_project);
  std::ofstream(m_project / ".gitignore") << "mine";
  const auto made = makeProject(m_project);
  ASSERT_THAT(made, IsOk());
  EXPECT_THAT(made->kept, ElementsAre(m_project / ".gitignore"));
  EXPECT_THAT(made->written, Not(Contains(m_project / ".gitignore")));
  EXPECT_EQ(readTextFile(m_project / ".gitignore").value(), "mine");
  std::ofstream(m_project / "project.toml") << "# mine\n";
  EXPECT_THAT(makeProject(m_project),
              IsError(ErrorKind::Usage, HasSubstr("it already has the settings file 'project.toml'")));
  EXPECT_EQ(readTextFile(m_project / "project.toml").value(), "# mine\n");
}

TEST_F(NewProjectTest, IsNotMadeOfAFile) {
  std::ofstream(m_project) << "in the way";
  EXPECT_THAT(makeProject(m_project), IsError(ErrorKind::Storage, HasSubstr(m_project.string())));
}

}  // namespace
}  // namespace swage::engine
