// SPDX-License-Identifier: Apache-2.0
#include "core/models/key_store.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "core/base/files.h"
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
using From = KeySource::From;

namespace fs = std::filesystem;

constexpr const char* kKey = "topsecret-0123456789";

// A secret-tool that keeps its keys in a folder, first on the PATH.
class KeyStoreTest : public ::testing::Test {
 protected:
  KeyStoreTest() {
    std::ofstream(m_folder / "secret-tool") << "#!/bin/sh\nfor last; do :; done\ncase $1 in\n"
                                               "  store) cat > \"$0.$last\" ;;\n"
                                               "  lookup) cat \"$0.$last\" ;;\n"
                                               "  clear) rm -f \"$0.$last\" ;;\nesac\n";
    fs::permissions(m_folder / "secret-tool", fs::perms::owner_all);
    ::setenv("PATH", (m_folder.path().string() + ":" + m_path).c_str(), 1);
  }
  ~KeyStoreTest() override { ::setenv("PATH", m_path.c_str(), 1); }

  static Result<> kept(const KeySource& place) {
    return answered(
        [&place](QObject* context, KeyDone done) { keepKey(place, Secret(kKey), context, std::move(done)); });
  }
  static Result<> removed(const KeySource& place) {
    return answered([&place](QObject* context, KeyDone done) { removeKey(place, context, std::move(done)); });
  }
  static Result<> answered(const std::function<void(QObject*, KeyDone)>& ask) {
    QObject context;
    std::optional<Result<>> answer;
    ask(&context, [&answer](Result<> result) { answer = std::move(result); });
    EXPECT_TRUE(waitFor([&answer] { return answer.has_value(); }));
    return answer ? std::move(*answer) : Result<>(Error(ErrorKind::Internal, "no answer"));
  }

  testing::TempDir m_folder;
  std::string m_path = std::getenv("PATH");
};

TEST_F(KeyStoreTest, PutsAKeyIntoAFileThatOnlyItsOwnerCanRead) {
  const fs::path file = m_folder / "not/yet/key";
  ASSERT_THAT(kept({From::File, file.string()}), IsOk());
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const auto key = readKeyFile(file);
  ASSERT_THAT(key, IsOk());
  EXPECT_EQ(key->reveal(), kKey);
  std::ofstream(file) << "old\n";
  ASSERT_THAT(kept({From::File, file.string()}), IsOk()) << "in place of what was there";
  EXPECT_EQ(readTextFile(file).value(), std::string(kKey) + "\n");
  ASSERT_THAT(removed({From::File, file.string()}), IsOk());
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(fs::is_empty(file.parent_path())) << "no temporary file is left";
  EXPECT_THAT(removed({From::File, file.string()}), IsError(ErrorKind::NotFound, HasSubstr("no such file")));
}

TEST_F(KeyStoreTest, DoesNotTouchWhatIsNoFile) {
  fs::create_directories(m_folder / "folder");
  std::ofstream(m_folder / "file") << "x";
  EXPECT_THAT(kept({From::File, (m_folder / "folder").string()}), IsError(ErrorKind::Io, HasSubstr("folder")));
  EXPECT_THAT(kept({From::File, (m_folder / "file/key").string()}), IsError(ErrorKind::Io, HasSubstr("file/key")));
  EXPECT_THAT(removed({From::File, (m_folder / "folder").string()}), IsError(ErrorKind::Io, HasSubstr("no file")));
  EXPECT_TRUE(fs::is_directory(m_folder / "folder"));
}

TEST_F(KeyStoreTest, PutsAKeyIntoTheKeychainWithoutNamingItOnACommandLine) {
  ASSERT_THAT(kept({From::Keychain, "one"}), IsOk());
  EXPECT_EQ(readTextFile(m_folder / "secret-tool.one").value(), kKey);
  const auto command = keychainCommand("store", "one");
  ASSERT_THAT(command, IsOk());
  for (const std::string& word : *command) {
    EXPECT_THAT(word, Not(HasSubstr(kKey)));
  }
  ASSERT_THAT(removed({From::Keychain, "one"}), IsOk());
  EXPECT_FALSE(fs::exists(m_folder / "secret-tool.one"));
}

TEST_F(KeyStoreTest, AKeychainThatRefusesIsAnErrorThatSaysWhatToDo) {
  std::ofstream(m_folder / "secret-tool") << "#!/bin/sh\ncat >&2\nexit 1\n";
  const auto refused = kept({From::Keychain, "one"});
  ASSERT_THAT(refused, IsError(ErrorKind::Config, HasSubstr("putting 'one' into the keychain failed")));
  EXPECT_THAT(refused.error().message() + refused.error().hint(), Not(HasSubstr(kKey)));
  EXPECT_THAT(refused.error().hint(), HasSubstr("unlocked"));
}

TEST_F(KeyStoreTest, WithoutTheToolOfTheKeychainNothingIsAskedFor) {
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_THAT(checkCanKeep({From::Keychain, "one"}), IsError(ErrorKind::NotFound, HasSubstr("secret-tool")));
  EXPECT_THAT(kept({From::Keychain, "one"}), IsError(ErrorKind::NotFound, HasSubstr("secret-tool")));
}

TEST_F(KeyStoreTest, VariablesAndCommandsAreNotItsToChange) {
  EXPECT_THAT(kept({From::Environment, "SOME_KEY"}), IsError(ErrorKind::InvalidInput, HasSubstr("SOME_KEY")));
  const auto command = removed({From::Command, "pass show " + std::string(kKey)});
  ASSERT_THAT(command, IsError(ErrorKind::InvalidInput, HasSubstr("from a command")));
  EXPECT_THAT(command.error().message() + command.error().hint(), Not(HasSubstr(kKey)));
  EXPECT_THAT(kept({From::Nowhere, ""}), IsError(ErrorKind::InvalidInput, HasSubstr("no place")));
}

}  // namespace
}  // namespace swage::models
