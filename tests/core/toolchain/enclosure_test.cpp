// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/enclosure.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "core/base/files.h"

namespace swage::toolchain {
namespace {

using ::testing::ElementsAre;

TEST(Enclosure, IsReadFromArguments) {
  const Enclosure found = parseEnclosure({"--read", "/a", "--write", "/b", "--read", "/c", "--", "g++", "--", "-c"});
  EXPECT_THAT(found.readable, ElementsAre("/a", "/c"));
  EXPECT_THAT(found.writable, ElementsAre("/b"));
  EXPECT_THAT(found.command, ElementsAre("g++", "--", "-c"));
  EXPECT_TRUE(parseEnclosure({"--read", "/a"}).command.empty());
}

// Each runs a shell in an enclosure that may write to one folder.
class EnclosedShell : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/swage-enclosure-XXXXXX";
    m_folder = ::mkdtemp(name);
    std::filesystem::create_directories(m_folder / "out");
    ASSERT_TRUE(writeFileAtomically(m_folder / "secret", "secret\n"));
    if (run("true") != 0) {
      GTEST_SKIP() << "this system has no Landlock";
    }
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }
  // Its exit code; 126: it could not be enclosed.
  int run(const std::string& script) const {
    const pid_t child = ::fork();
    if (child == 0) {
      static_cast<void>(::freopen("/dev/null", "w", stderr));
      static_cast<void>(becomeEnclosed({{}, {(m_folder / "out").string()}, {"/bin/sh", "-c", script}}));
      ::_exit(126);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::filesystem::path m_folder;
};

TEST_F(EnclosedShell, ReadsAndWritesWhatItWasGiven) {
  const std::string out = (m_folder / "out").string();
  EXPECT_EQ(run("echo 1 > " + out + "/a && mkdir " + out + "/b && mv " + out + "/a " + out + "/b/c && cat " + out +
                "/b/c > /dev/null && ls /usr/bin > /dev/null"),
            0);
  EXPECT_TRUE(std::filesystem::exists(m_folder / "out/b/c"));
}

TEST_F(EnclosedShell, FindsNoOtherFile) {
  EXPECT_NE(run("cat " + (m_folder / "secret").string()), 0);
  EXPECT_NE(run("cat /etc/passwd"), 0);
  EXPECT_NE(run("ls /proc"), 0);
  EXPECT_NE(run("echo 1 > " + (m_folder / "new").string()), 0);
  EXPECT_NE(run("rm " + (m_folder / "secret").string()), 0);
  EXPECT_TRUE(std::filesystem::exists(m_folder / "secret"));
}

TEST_F(EnclosedShell, ReachesNoOtherProcess) {
  EXPECT_NE(run("kill -0 " + std::to_string(::getpid())), 0);
  EXPECT_EQ(run("sh -c 'exit 0'"), 0) << "programs of its own it may start";
}

}  // namespace
}  // namespace swage::toolchain
