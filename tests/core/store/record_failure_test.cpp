// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/files.h"
#include "core/base/scope_exit.h"
#include "core/store/failures.h"
#include "core/store/record.h"
#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::RunId;
using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::TempDir;

class RecordFailureTest : public ::testing::Test {
 protected:
  // A project with one run and some candidates, closed in order.
  void fill(int candidates = 20) {
    Record record = testing::openForWriting(m_project);
    const RunId run = record.createRun(testing::sampleRun()).value();
    for (int i = 0; i < candidates; ++i) {
      testing::addCorrect(record, run, i, 0, "A0B0C1", 1000.0 - i, i);
    }
    testing::require(record.setRunStatus(run, RunStatus::Finished, candidates));
  }

  void overwrite(std::streamoff offset, const std::string& bytes) const {
    std::fstream file(m_database, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file << bytes;
  }

  TempDir m_directory;
  std::filesystem::path m_project = m_directory / "project";
  std::filesystem::path m_database = m_project / "runs.sqlite";
};

// The window reads on the thread that draws.
TEST_F(RecordFailureTest, AReaderDoesNotWaitForAProgramThatKeepsEverybodyOut) {
  fill();
  SQLite::Database other(m_database, SQLite::OPEN_READWRITE);
  other.exec("PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE");
  const auto before = std::chrono::steady_clock::now();
  const auto refused = Record::open(m_project, Record::Mode::ReadOnly);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2));
  EXPECT_THAT(refused, IsError(ErrorKind::Locked, HasSubstr("runs.sqlite")));
  EXPECT_TRUE(isHeld(refused.error()));
  EXPECT_FALSE(isDiskFull(refused.error()));
}

TEST_F(RecordFailureTest, AFileThatIsNoDatabaseIsRefusedAndLeftAlone) {
  std::filesystem::create_directories(m_project);
  const std::string content(5000, 'x');
  ASSERT_THAT(writeFileAtomically(m_database, content), IsOk());
  for (const auto mode : {Record::Mode::ReadWrite, Record::Mode::ReadOnly}) {
    const auto refused = Record::open(m_project, mode);
    EXPECT_THAT(refused, IsError(ErrorKind::Storage, AllOf(HasSubstr("runs.sqlite"), HasSubstr("not a database"))));
    EXPECT_THAT(refused.error().hint(), HasSubstr("Move the file away"));
  }
  EXPECT_EQ(readTextFile(m_database).value(), content);
}

TEST_F(RecordFailureTest, ATruncatedDatabaseIsRefusedAfterACrash) {
  fill(100);
  std::filesystem::resize_file(m_database, std::filesystem::file_size(m_database) / 2);
  // A pid in a lock that nobody holds: the last writer was killed.
  ASSERT_THAT(writeFileAtomically(m_project / "runs.lock", "12345\n"), IsOk());
  const auto size = std::filesystem::file_size(m_database);
  EXPECT_THAT(Record::open(m_project, Record::Mode::ReadWrite), IsError(ErrorKind::Storage, HasSubstr("runs.sqlite")));
  EXPECT_EQ(std::filesystem::file_size(m_database), size);
}

TEST_F(RecordFailureTest, ADamagedPageIsFoundAfterACrash) {
  fill(100);
  overwrite(4096 * 3, std::string(4096, '\xA5'));
  ASSERT_THAT(writeFileAtomically(m_project / "runs.lock", "12345\n"), IsOk());
  const auto refused = Record::open(m_project, Record::Mode::ReadWrite);
  ASSERT_THAT(refused, IsError(ErrorKind::Storage, HasSubstr("cannot open the record")));
  EXPECT_THAT(refused.error().hint(), HasSubstr("Swage does not touch it"));
}

TEST_F(RecordFailureTest, DamageInAnyPageGivesErrorsNotCrashes) {
  fill(30);
  const std::string intact = readTextFile(m_database).value();
  for (std::size_t offset = 0; offset < intact.size(); offset += 4096) {
    std::string damaged = intact;
    damaged.replace(offset + 100, 64, std::string(64, '\xC3'));
    ASSERT_THAT(writeFileAtomically(m_database, damaged), IsOk());
    const auto record = Record::open(m_project, Record::Mode::ReadOnly);
    if (!record) {
      EXPECT_EQ(record.error().kind(), ErrorKind::Storage);
      continue;
    }
    static_cast<void>(record->runs());
    static_cast<void>(record->history(RunId(1)));
    static_cast<void>(record->candidates({.run = RunId(1), .sort = CandidateColumn::Time}));
    static_cast<void>(record->cells(RunId(1), std::nullopt));
    static_cast<void>(record->binary("binary-3"));
  }
}

TEST_F(RecordFailureTest, AProjectBelowAFileCannotBeWrittenAndIsNamed) {
  ASSERT_THAT(writeFileAtomically(m_directory / "file", "x"), IsOk());
  const auto refused = Record::open(m_directory / "file" / "project", Record::Mode::ReadWrite);
  EXPECT_THAT(refused, IsError(ErrorKind::Storage, HasSubstr("file/project'")));
  EXPECT_THAT(refused.error().hint(), HasSubstr("Choose a project directory"));
  EXPECT_THAT(Record::open(m_directory / "file", Record::Mode::ReadWrite),
              IsError(ErrorKind::Storage, HasSubstr("/file'")));
}

TEST_F(RecordFailureTest, ADirectoryWithoutWritePermissionIsNamed) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "permissions do not bind the superuser";
  }
  std::filesystem::create_directories(m_project);
  std::filesystem::permissions(m_project, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const ScopeExit restore([this] { std::filesystem::permissions(m_project, std::filesystem::perms::owner_all); });
  EXPECT_THAT(Record::open(m_project, Record::Mode::ReadWrite), IsError(ErrorKind::Storage, HasSubstr("project")));
}

TEST_F(RecordFailureTest, ReadingWhereNoProjectIsSaysSo) {
  EXPECT_THAT(Record::open(m_project, Record::Mode::ReadOnly), IsError(ErrorKind::NotFound, HasSubstr("project")));
  EXPECT_FALSE(std::filesystem::exists(m_project));
}

TEST_F(RecordFailureTest, ASecondWriterIsRefusedWithThePidOfTheFirst) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Record record = testing::openForWriting(m_project);
    const char byte = 'r';
    static_cast<void>(::write(ready[1], &byte, 1) + 0);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto refused = Record::open(m_project, Record::Mode::ReadWrite);
  EXPECT_THAT(refused, IsError(ErrorKind::Locked, HasSubstr("process " + std::to_string(child))));
  EXPECT_THAT(Record::open(m_project, Record::Mode::ReadOnly), IsOk()) << "reading is possible meanwhile";
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_THAT(Record::open(m_project, Record::Mode::ReadWrite), IsOk()) << "the lock goes with the process";
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(RecordFailureTest, ASecondWriterInTheSameProcessIsRefusedToo) {
  {
    const Record record = testing::openForWriting(m_project);
    EXPECT_THAT(Record::open(m_project, Record::Mode::ReadWrite), IsError(ErrorKind::Locked, _));
  }
  EXPECT_THAT(Record::open(m_project, Record::Mode::ReadWrite), IsOk());
}

// A file system of its own, as small as it can be made; needs the right to mount.
class OwnDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::mount("swage-test", m_directory.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
      GTEST_SKIP() << "mounting a small file system is not permitted";
    }
    m_mounted = true;
  }
  void TearDown() override {
    if (m_mounted) {
      ::umount2(m_directory.path().c_str(), MNT_DETACH);
    }
  }

  TempDir m_directory;
  bool m_mounted = false;
};

TEST_F(OwnDiskTest, WhenFullGivesOneClearErrorAndKeepsWhatWasCommitted) {
  std::int64_t acknowledged = 0;
  RunId run;
  {
    Record record = testing::openForWriting(m_directory / "project");
    run = record.createRun(testing::sampleRun()).value();
    Random random(3);
    while (acknowledged < 10000) {
      NewCandidate candidate = testing::sampleCandidate(run, acknowledged);
      for (int i = 0; i < 2000; ++i) {
        candidate.program.source += std::to_string(random.next());
      }
      const auto added = record.addCandidate(candidate);
      if (!added) {
        EXPECT_THAT(added, IsError(ErrorKind::Storage, HasSubstr("full")));
        EXPECT_THAT(added.error().hint(), HasSubstr("Free some space"));
        EXPECT_TRUE(isDiskFull(added.error()));
        EXPECT_FALSE(isHeld(added.error()));
        break;
      }
      ++acknowledged;
    }
    EXPECT_GT(acknowledged, 0);
    EXPECT_LT(acknowledged, 10000);
    EXPECT_EQ(record.candidateCount({.run = run}).value(), acknowledged);
  }
  const auto record = Record::open(m_directory / "project", Record::Mode::ReadOnly);
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->candidateCount({.run = run}).value(), acknowledged);
  EXPECT_EQ(static_cast<std::int64_t>(record->history(run).value().size()), acknowledged);
}

TEST_F(OwnDiskTest, WhenReadOnlyIsReadButNotWritten) {
  RunId run;
  {
    Record record = testing::openForWriting(m_directory / "project");
    run = record.createRun(testing::sampleRun()).value();
  }
  ASSERT_EQ(::mount("swage-test", m_directory.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=4m"), 0);
  const auto record = Record::open(m_directory / "project", Record::Mode::ReadOnly);
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->run(run)->taskName, "23_Softmax");
  EXPECT_THAT(Record::open(m_directory / "project", Record::Mode::ReadWrite),
              IsError(ErrorKind::Storage, AllOf(HasSubstr("project"), HasSubstr("Read-only"))));
}

}  // namespace
}  // namespace swage::store
