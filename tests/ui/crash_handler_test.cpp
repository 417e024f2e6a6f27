// SPDX-License-Identifier: Apache-2.0
#include "app/workbench/crash_handler.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

#include "core/base/log.h"
#include "tests/support/temp_dir.h"

namespace swage::workbench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Overflows the stack: a handler that ran on it would find no room.
int descend(int depth) {  // NOLINT(misc-no-recursion)
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return depth < 0 ? room[0] : descend(depth + 1) + room[0];
}

class CrashHandlerTest : public ::testing::Test {
 protected:
  // Runs a function in a child process with a handler of its own; the signal that ended it, 0 for none.
  int crash(const std::function<void()>& body) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto handler = CrashHandler::install(folder.path());
      if (!handler) {
        ::_exit(99);
      }
      CrashHandler::remember("opened run 7");
      body();
      // As the end of main() would, without that of the test program.
      const_cast<std::unique_ptr<CrashHandler>&>(*handler).reset();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 99);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  swage::testing::TempDir folder;
};

TEST_F(CrashHandlerTest, ACleanEndLeavesNothing) {
  EXPECT_EQ(crash([] {}), 0);
  EXPECT_THAT(takeCrashNotes(folder.path()), IsEmpty());
}

TEST_F(CrashHandlerTest, ACrashLeavesANoteOnceAndKeepsItsSignal) {
  EXPECT_EQ(crash([] { std::raise(SIGSEGV); }), SIGSEGV);
  const std::vector<CrashNote> notes = takeCrashNotes(folder.path());
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_THAT(notes[0].text, HasSubstr("ended by SIGSEGV"));
  EXPECT_THAT(notes[0].text, HasSubstr("version "));
  EXPECT_THAT(notes[0].text, HasSubstr("Where:\n"));
  EXPECT_THAT(notes[0].text, HasSubstr("[0x"));
  EXPECT_THAT(notes[0].text, HasSubstr("Last lines of the log:\nopened run 7\n"));
  EXPECT_THAT(takeCrashNotes(folder.path()), IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(notes[0].file));
}

TEST_F(CrashHandlerTest, AnOverflowOfTheStackLeavesANote) {
  EXPECT_EQ(crash([] { ::_exit(descend(1) == 0 ? 1 : 0); }), SIGSEGV);
  const std::vector<CrashNote> notes = takeCrashNotes(folder.path());
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_THAT(notes[0].text, HasSubstr("ended by SIGSEGV"));
}

TEST_F(CrashHandlerTest, AFailedCheckLeavesANote) {
  EXPECT_EQ(crash([] { std::abort(); }), SIGABRT);
  ASSERT_THAT(takeCrashNotes(folder.path()), SizeIs(1));
}

TEST_F(CrashHandlerTest, AKilledProcessIsKnownByItsEmptyNote) {
  EXPECT_EQ(crash([] { std::raise(SIGKILL); }), SIGKILL);
  const std::vector<CrashNote> notes = takeCrashNotes(folder.path());
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_EQ(notes[0].text, "");
}

TEST_F(CrashHandlerTest, OnlyTheLastLinesOfALongLogAreKept) {
  crash([] {
    for (int i = 0; i < 5000; ++i) {
      CrashHandler::remember("line " + std::to_string(i));
    }
    std::raise(SIGFPE);
  });
  const std::vector<CrashNote> notes = takeCrashNotes(folder.path());
  ASSERT_THAT(notes, SizeIs(1));
  EXPECT_THAT(notes[0].text, HasSubstr("line 4999\n"));
  EXPECT_THAT(notes[0].text, Not(HasSubstr("opened run 7")));
}

TEST_F(CrashHandlerTest, AProcessThatStillRunsIsLeftAlone) {
  const auto running = CrashHandler::install(folder.path());
  ASSERT_TRUE(running.has_value());
  EXPECT_THAT(takeCrashNotes(folder.path()), IsEmpty());
}

TEST_F(CrashHandlerTest, OldReportsAreCleared) {
  for (int i = 0; i < 8; ++i) {
    std::ofstream(folder / (std::to_string(i) + ".txt")) << "old";
  }
  EXPECT_THAT(takeCrashNotes(folder.path()), IsEmpty());
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 5);
}

}  // namespace
}  // namespace swage::workbench
