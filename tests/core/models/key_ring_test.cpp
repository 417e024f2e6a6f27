// SPDX-License-Identifier: Apache-2.0
#include "core/models/key_ring.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::models {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using ::testing::Not;
using testing::waitFor;

namespace fs = std::filesystem;

fs::path fileWith(const testing::TempDir& folder, const std::string& text, fs::perms permissions) {
  const fs::path file = folder / "key";
  std::ofstream(file) << text;
  fs::permissions(file, permissions);
  return file;
}

Result<Secret> fetched(const KeySource& source) {
  QObject context;
  std::optional<Result<Secret>> key;
  KeyRing().fetch(source, &context, [&key](Result<Secret> result) { key = std::move(result); });
  EXPECT_TRUE(waitFor([&key] { return key.has_value(); }));
  return key ? std::move(*key) : Result<Secret>(Error(ErrorKind::Internal, "no answer"));
}

TEST(KeyRing, ReadsAFileThatIsForItsOwnerOnly) {
  const testing::TempDir folder;
  const auto mine = fs::perms::owner_read | fs::perms::owner_write;
  const auto key = readKeyFile(fileWith(folder, "  abc123 \nrest\n", mine));
  ASSERT_THAT(key, IsOk());
  EXPECT_EQ(key->reveal(), "abc123");
  EXPECT_THAT(readKeyFile(fileWith(folder, "abc123", mine | fs::perms::group_read)),
              IsError(ErrorKind::Config, HasSubstr("can be read by others")));
  EXPECT_THAT(readKeyFile(fileWith(folder, "\n", mine)), IsError(ErrorKind::Config, HasSubstr("has no key")));
  const auto strange = readKeyFile(fileWith(folder, "two words\n", mine));
  EXPECT_THAT(strange, IsError(ErrorKind::Config, HasSubstr("is no key")));
  EXPECT_THAT(strange.error().message(), Not(HasSubstr("two words"))) << "it may be a key all the same";
  EXPECT_THAT(readKeyFile(folder / "none"), IsError(ErrorKind::Config, HasSubstr("cannot be read")));
  EXPECT_THAT(readKeyFile(folder.path()), IsError(ErrorKind::Config, HasSubstr("is no file")));
}

TEST(KeyRing, TakesVariablesOutOfTheEnvironment) {
  ::setenv("SWAGE_TEST_KEY", "abc", 1);
  Endpoint endpoint;
  endpoint.key = {KeySource::From::Environment, "SWAGE_TEST_KEY"};
  const KeyRing ring({endpoint, endpoint});
  EXPECT_EQ(::getenv("SWAGE_TEST_KEY"), nullptr);
  std::string key;
  QObject context;
  ring.fetch(endpoint.key, &context, [&key](const Result<Secret>& secret) { key = secret->reveal(); });
  EXPECT_EQ(key, "abc");
}

TEST(KeyRing, AsksACommand) {
  const auto key = fetched({KeySource::From::Command, "echo abc"});
  ASSERT_THAT(key, IsOk());
  EXPECT_EQ(key->reveal(), "abc");
  EXPECT_THAT(fetched({KeySource::From::Command, "false"}), IsError(ErrorKind::Config, HasSubstr("failed")));
  EXPECT_THAT(fetched({KeySource::From::Command, "/no/such/program"}),
              IsError(ErrorKind::Config, HasSubstr("cannot be started")));
  EXPECT_THAT(fetched({KeySource::From::Command, ""}), IsError(ErrorKind::Config, HasSubstr("empty")));
}

TEST(KeyRing, WithoutAToolForTheKeychainSaysWhatToInstall) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const auto key = fetched({KeySource::From::Keychain, "one"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(key, IsError(ErrorKind::NotFound, HasSubstr("secret-tool")));
  EXPECT_THAT(key.error().hint(), HasSubstr("key_file"));
}

TEST(KeyRing, AsksTheKeychainForTheAccount) {
  const testing::TempDir folder;
  std::ofstream(folder / "secret-tool") << "#!/bin/sh\necho \"$1.$3.$5\"\n";
  fs::permissions(folder / "secret-tool", fs::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  const auto key = fetched({KeySource::From::Keychain, "one"});
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_THAT(key, IsOk());
  EXPECT_EQ(key->reveal(), "lookup.swage.one");
}

}  // namespace
}  // namespace swage::models
