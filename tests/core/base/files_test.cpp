// SPDX-License-Identifier: Apache-2.0
#include "core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/fd.h"
#include "core/base/scope_exit.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::TempDir;

TEST(Files, ReadsBackWhatWasWrittenIncludingZeroBytes) {
  const TempDir directory;
  const std::string content("a\0b\nc", 5);
  ASSERT_THAT(writeFileAtomically(directory / "file", content), IsOk());
  EXPECT_EQ(readTextFile(directory / "file").value(), content);
  EXPECT_EQ(readBinaryFile(directory / "file").value().size(), content.size());
}

TEST(Files, ReadsAnEmptyFile) {
  const TempDir directory;
  ASSERT_THAT(writeFileAtomically(directory / "file", ""), IsOk());
  EXPECT_EQ(readTextFile(directory / "file").value(), "");
}

TEST(Files, ReadsAFileWhoseSizeTheSystemDoesNotTell) {
  EXPECT_THAT(readTextFile("/proc/self/status").value(), HasSubstr("Name:"));
}

TEST(Files, ReplacesAFileAndLeavesNoTemporaryOne) {
  const TempDir directory;
  ASSERT_THAT(writeFileAtomically(directory / "file", "old"), IsOk());
  ASSERT_THAT(writeFileAtomically(directory / "file", "new"), IsOk());
  EXPECT_EQ(readTextFile(directory / "file").value(), "new");
  const auto entries = std::filesystem::directory_iterator(directory.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST(Files, SaysThatAMissingFileIsNotFoundAndNamesIt) {
  EXPECT_THAT(readTextFile("/nonexistent/file"), IsError(ErrorKind::NotFound, HasSubstr("'/nonexistent/file'")));
}

TEST(Files, RefusesToReadADirectory) {
  const TempDir directory;
  EXPECT_THAT(readTextFile(directory.path()), IsError(ErrorKind::Io, HasSubstr("directory")));
}

TEST(Files, RefusesAFileLargerThanTheLimit) {
  const TempDir directory;
  ASSERT_THAT(writeFileAtomically(directory / "file", "12345"), IsOk());
  EXPECT_THAT(readTextFile(directory / "file", 5), IsOk());
  EXPECT_THAT(readTextFile(directory / "file", 4),
              IsError(ErrorKind::InvalidInput, AllOf(HasSubstr("larger than 4"), HasSubstr("file"))));
}

TEST(Files, SaysThatAFileBelowAFileCannotBeWritten) {
  const TempDir directory;
  ASSERT_THAT(writeFileAtomically(directory / "file", "x"), IsOk());
  EXPECT_THAT(writeFileAtomically(directory / "file/below", "y"), IsError(ErrorKind::Io, HasSubstr("file/below")));
}

TEST(Fd, ClosesWhenItIsReplacedOrDestroyed) {
  int raw = -1;
  {
    Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    raw = fd.get();
    ASSERT_TRUE(fd.isOpen());
    Fd other = std::move(fd);
    EXPECT_EQ(other.get(), raw);
  }
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
}

TEST(ScopeExit, RunsUnlessReleased) {
  int runs = 0;
  {
    ScopeExit first([&runs] { ++runs; });
    ScopeExit second([&runs] { ++runs; });
    second.release();
  }
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace swage
