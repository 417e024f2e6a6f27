// SPDX-License-Identifier: Apache-2.0
#include "core/engine/configuration.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using services::SettingValue;
using swage::testing::IsError;
using swage::testing::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ConfigurationTest : public ::testing::Test {
 protected:
  ConfigurationTest() {
    std::filesystem::create_directories(folder / "project");
    places.system = {folder / "system.toml"};
    places.user = folder / "user.toml";
    places.project = folder / "project";
    places.variable = [this](std::string_view name) {
      const auto found = variables.find(std::string(name));
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }
  void write(const char* name, const char* text) const { std::ofstream(folder / name) << text; }
  // "project, user, default": where a setting has values, the one that counts first.
  [[nodiscard]] std::string originsOf(std::string_view key) const {
    const auto configuration = Configuration::load(places);
    std::string text;
    for (const EffectiveSetting& setting : configuration ? configuration->all() : std::vector<EffectiveSetting>()) {
      for (const SettingSource& source : setting.name == key ? setting.sources : std::vector<SettingSource>()) {
        text += (text.empty() ? "" : ", ") + std::string(name(source.origin));
      }
    }
    return text;
  }

  swage::testing::TempDir folder;
  std::map<std::string, std::string> variables;
  ConfigurationPlaces places;
};

TEST_F(ConfigurationTest, WithoutFilesEverythingIsADefaultAndNothingIsSet) {
  EXPECT_EQ(originsOf("search.target"), "default");
  EXPECT_TRUE(Configuration::load(places)->settings().empty());
}

TEST_F(ConfigurationTest, TheProjectCountsMoreThanTheUserAndTheUserMoreThanTheSystem) {
  write("system.toml", "[search]\ntarget = \"cpu\"\nseed = 3\n");
  EXPECT_EQ(originsOf("search.target"), "system, default");
  write("user.toml", "[search]\ntarget = \"auto\"\n");
  write("project/project.toml", "[search]\ntarget = \"cuda\"\n");
  EXPECT_EQ(originsOf("search.target"), "project, user, system, default");
  const auto settings = Configuration::load(places)->settings();
  EXPECT_EQ(settings.at("search.target"), SettingValue(std::string("cuda")));
  EXPECT_EQ(settings.at("search.seed"), SettingValue(std::int64_t{3}));
}

TEST_F(ConfigurationTest, WhatIsAboveAndBelowTheUserIsToldApart) {
  write("system.toml", "[search]\ntarget = \"cpu\"\nseed = 3\n");
  write("user.toml", "[search]\ntarget = \"auto\"\n");
  write("project/project.toml", "[search]\ntarget = \"cuda\"\n");
  const auto configuration = Configuration::load(places);
  const services::Settings above{{"search.target", std::string("cuda")}};
  const services::Settings below{{"search.target", std::string("cpu")}, {"search.seed", std::int64_t{3}}};
  EXPECT_EQ(configuration->aboveUser(), above);
  EXPECT_EQ(configuration->belowUser(), below);
}

TEST_F(ConfigurationTest, TheEnvironmentCountsMoreThanFiles) {
  write("project/project.toml", "[locations]\npython = \"/file/python\"\n");
  variables["SWAGE_PYTHON"] = "/variable/python";
  EXPECT_EQ(originsOf("locations.python"), "environment, project, default");
  EXPECT_EQ(Configuration::load(places)->settings().at("locations.python"),
            SettingValue(std::string("/variable/python")));
}

TEST_F(ConfigurationTest, TheSandboxMayBeNone) {
  variables["SWAGE_SANDBOX"] = "none";
  EXPECT_EQ(originsOf("search.sandbox"), "environment, default");
  variables["SWAGE_SANDBOX"] = "jail";
  EXPECT_THAT(Configuration::load(places), IsError(ErrorKind::Config, HasSubstr("'search.sandbox' cannot be 'jail'")));
}

TEST_F(ConfigurationTest, AMisspeltSettingIsNamedWithTheNearestOneAndItsFile) {
  write("user.toml", "[search]\ntime_budgt = \"5 min\"\n");
  const auto loaded = Configuration::load(places);
  EXPECT_THAT(loaded, IsError(ErrorKind::Config,
                              AllOf(HasSubstr("there is no setting 'search.time_budgt'"), HasSubstr("user.toml"))));
  EXPECT_EQ(loaded.error().hint(), "did you mean 'search.time_budget'?");
  write("user.toml", "[colours]\nsky = \"blue\"\n");
  EXPECT_THAT(Configuration::load(places).error().hint(), HasSubstr("`swage config list`"));
}

TEST_F(ConfigurationTest, AValueThatASettingCannotHaveIsAnError) {
  const auto messageOf = [this](const char* text) {
    write("user.toml", text);
    const auto loaded = Configuration::load(places);
    return loaded ? std::string("none") : loaded.error().message() + "; " + loaded.error().hint();
  };
  EXPECT_THAT(messageOf("[search]\ntarget = \"toaster\"\n"),
              AllOf(HasSubstr("'search.target' cannot be 'toaster'"), HasSubstr("auto, cpu, cuda")));
  EXPECT_THAT(messageOf("[search]\ntarget = \"cudda\"\n"), HasSubstr("did you mean 'cuda'?"));
  EXPECT_THAT(messageOf("[search]\nseed = \"x\"\n"), HasSubstr("a whole number"));
  EXPECT_THAT(messageOf("[search]\ntime_budget = \"soon\"\n"), HasSubstr("a duration"));
  EXPECT_THAT(messageOf("[editor]\ntab_width = 40\n"), HasSubstr("from 1 to 16"));
}

TEST_F(ConfigurationTest, ShortcutsAreSettingsWhateverTheirNames) {
  write("user.toml", "[shortcuts]\nrun = \"F5\"\n");
  EXPECT_EQ(originsOf("shortcuts.run"), "user");
}

}  // namespace
}  // namespace swage::engine
