// SPDX-License-Identifier: Apache-2.0
#include "core/engine/model_endpoints.h"

#include <fstream>

#include "core/base/files.h"
#include "core/engine/settings_file.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using ::testing::Not;
using ::testing::SizeIs;

class ModelEndpoints : public ::testing::Test {
 protected:
  void write(const std::string& text) const { std::ofstream(m_file) << text; }
  [[nodiscard]] std::string content() const { return *readTextFile(m_file); }

  testing::TempDir m_folder;
  std::filesystem::path m_file = m_folder / "config.toml";
};

constexpr const char* kTwo = R"(# mine
[search]
seed = 7

[models.fast]  # the good one
kind = "openai"
base_url = "https://api.example.com/v1"
model = "big"
key_env = "EXAMPLE_KEY"
price_input = 2
price_output = 10.5
max_output = 4000
calls_per_minute = 60
timeout_total = "5 min"
no_temperature = true
[models.fast.headers]
x-title = "swage"

[models.local]
kind = "ollama"
base_url = "http://localhost:11434"
model = "small"
)";

TEST_F(ModelEndpoints, AreTablesOfTheUsersFile) {
  EXPECT_THAT(*readEndpoints(m_file), IsEmpty()) << "no file";
  write(kTwo);
  const auto read = readEndpoints(m_file);
  ASSERT_THAT(read, IsOk());
  ASSERT_THAT(*read, SizeIs(2));
  const models::Endpoint& fast = read->front();
  EXPECT_EQ(fast.name, "fast");
  EXPECT_EQ(fast.key, (models::KeySource{models::KeySource::From::Environment, "EXAMPLE_KEY"}));
  EXPECT_EQ(fast.price->output, 10.5);
  EXPECT_EQ(fast.callsAMinute, 60);
  EXPECT_EQ(fast.timeouts.total, std::chrono::minutes(5));
  EXPECT_TRUE(fast.quirks.noTemperature);
  EXPECT_EQ(fast.headers.at("x-title"), "swage");
  EXPECT_EQ(read->back().kind, models::EndpointKind::Ollama);
}

TEST_F(ModelEndpoints, WhatIsWrongIsSaidWithItsPlace) {
  const auto expectError = [this](const std::string& member, const std::string& words) {
    write("[models.one]\nkind = \"openai\"\nbase_url = \"https://x.example\"\nmodel = \"m\"\n" + member + "\n");
    EXPECT_THAT(readEndpoints(m_file), IsError(ErrorKind::Config, AllOf(HasSubstr(words), HasSubstr("one")))) << member;
  };
  expectError("prices = 3", "there is no 'prices'");
  expectError("api_key = \"sk-123456789012345\"", "there is no 'api_key'");
  expectError("price_input = -1", "'price_input'");
  expectError("concurrency = 0", "'concurrency'");
  expectError("timeout_idle = \"soon\"", "'timeout_idle'");
  expectError("key_env = \"A\"\nkey_file = \"b\"", "'key_");
  expectError("headers = {Authorization = \"x\"}", "may carry a key");
  write("[models]\none = 3\n");
  EXPECT_THAT(readEndpoints(m_file), IsError(ErrorKind::Config, HasSubstr("has to be a table")));
  write("[models.one\n");
  EXPECT_THAT(readEndpoints(m_file), IsError(ErrorKind::Config, HasSubstr("line 1")));
}

TEST_F(ModelEndpoints, AreAddedAndRemovedWithoutTouchingTheRest) {
  write(kTwo);
  models::Endpoint third{.name = "new.one",
                         .kind = models::EndpointKind::Anthropic,
                         .baseUrl = "https://b.example",
                         .model = "say \"hi\"",
                         .key = {models::KeySource::From::Command, "pass show 'b'"},
                         .price = models::TokenPrice{.input = 1.0, .cachedInput = 0.5, .output = 2.0}};
  ASSERT_THAT(addEndpoint(m_file, third), IsOk());
  EXPECT_THAT(content(), ::testing::StartsWith(std::string("version = 1\n\n") + kTwo));
  ASSERT_THAT(*readEndpoints(m_file), SizeIs(3));
  EXPECT_EQ(readEndpoints(m_file)->back(), third);
  EXPECT_THAT(addEndpoint(m_file, third), IsError(ErrorKind::Config, HasSubstr("already")));
  ASSERT_THAT(removeEndpoint(m_file, "fast"), IsOk());
  EXPECT_THAT(content(), AllOf(HasSubstr("# mine"), HasSubstr("seed = 7"), Not(HasSubstr("x-title"))));
  EXPECT_THAT(*readEndpoints(m_file), SizeIs(2));
  ASSERT_THAT(removeEndpoint(m_file, "new.one"), IsOk());
  EXPECT_THAT(removeEndpoint(m_file, "fast"), IsError(ErrorKind::NotFound, HasSubstr("no model 'fast'")));
}

TEST_F(ModelEndpoints, AreReplacedWithAllThatIsSetOfThem) {
  write(kTwo);
  models::Endpoint fast = readEndpoints(m_file)->front();
  fast.name = "faster";
  fast.temperature = 0.25;
  fast.timeouts.idle = std::chrono::milliseconds(1500);
  fast.quirks.noSystem = true;
  fast.maxContext = 100000;
  ASSERT_THAT(replaceEndpoint(m_file, "fast", fast), IsOk());
  ASSERT_THAT(*readEndpoints(m_file), SizeIs(2));
  EXPECT_EQ(readEndpoints(m_file)->back(), fast);
  EXPECT_THAT(replaceEndpoint(m_file, "fast", fast), IsError(ErrorKind::NotFound, HasSubstr("no model 'fast'")));
  EXPECT_THAT(replaceEndpoint(m_file, "local", fast), IsError(ErrorKind::Config, HasSubstr("already")));
  ASSERT_THAT(*readEndpoints(m_file), SizeIs(2)) << "nothing is lost where it fails";
}

TEST_F(ModelEndpoints, StayWhenSettingsChange) {
  write(kTwo);
  SettingsFile settings(m_file);
  auto loaded = settings.load();
  ASSERT_THAT(loaded, IsOk());
  EXPECT_THAT(*loaded, SizeIs(1)) << "models are no settings";
  (*loaded)["search.seed"] = std::int64_t{8};
  (*loaded)["theme.choice"] = std::string("dark");
  ASSERT_THAT(settings.save(*loaded), IsOk());
  EXPECT_THAT(*readEndpoints(m_file), SizeIs(2));
  EXPECT_THAT(content(), HasSubstr("seed = 8"));
}

TEST_F(ModelEndpoints, AreChosenByName) {
  write(kTwo);
  const auto all = readEndpoints(m_file);
  const auto chosen = chooseEndpoints(*all, {"local", "replay:said.jsonl"});
  ASSERT_THAT(chosen, IsOk());
  EXPECT_EQ(chosen->front(), all->back());
  EXPECT_EQ(chosen->back().kind, models::EndpointKind::Replay);
  EXPECT_EQ(chosen->back().baseUrl, "said.jsonl");
  const auto none = chooseEndpoints(*all, {"locol"});
  EXPECT_THAT(none, IsError(ErrorKind::NotFound, HasSubstr("no model 'locol'")));
  EXPECT_THAT(none.error().hint(), HasSubstr("did you mean 'local'?"));
  EXPECT_THAT(chooseEndpoints(*all, {"exchange:"}), IsError(ErrorKind::Config, HasSubstr("no folder")));
}

}  // namespace
}  // namespace swage::engine
