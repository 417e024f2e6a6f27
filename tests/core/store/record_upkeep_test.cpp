// SPDX-License-Identifier: Apache-2.0
#include "core/store/record_upkeep.h"

#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/files.h"
#include "core/store/record.h"
#include "tests/core/store/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using domain::RunId;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;
using ::testing::Lt;
using testing::TempDir;

class RecordUpkeepTest : public ::testing::Test {
 protected:
  // With one binary that is so large that it lies in a file.
  void fill() {
    Record record = testing::openForWriting(m_project);
    m_run = record.createRun(testing::sampleRun()).value();
    for (int i = 0; i < 20; ++i) {
      testing::addCorrect(record, m_run, i, 0, "A0B0C1", 1000.0 - i, i);
    }
    Random random(1);
    while (m_binary.size() < (std::size_t{3} << 20U)) {
      m_binary += static_cast<char>(random.next() & 0xFFU);
    }
    domain::CompiledBinary binary = testing::sampleBinary("large");
    binary.bytes = m_binary;
    const auto id = record.addCandidate(testing::sampleCandidate(m_run, 20)).value();
    ASSERT_THAT(record.setCompiled(id, binary, {}), IsOk());
    ASSERT_THAT(record.setRunStatus(m_run, RunStatus::Finished, 20.0), IsOk());
  }
  [[nodiscard]] std::filesystem::path artifactFile() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(m_project / "artifacts")) {
      if (entry.is_regular_file()) {
        return entry.path();
      }
    }
    return {};
  }
  void change(const std::string& sql) const {
    SQLite::Database database(m_database, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA foreign_keys=OFF");
    database.exec(sql);
  }
  static bool goesOn() { return false; }

  TempDir m_directory;
  std::filesystem::path m_project = m_directory / "project";
  std::filesystem::path m_database = m_project / "runs.sqlite";
  std::filesystem::path m_copy = m_directory / "copy.sqlite";
  RunId m_run;
  std::string m_binary;
};

TEST_F(RecordUpkeepTest, AnIntactRecordHasNoProblems) {
  fill();
  const auto check = checkRecord(m_project, goesOn);
  ASSERT_THAT(check, IsOk());
  EXPECT_TRUE(check->isIntact());
  EXPECT_THAT(check->problems, IsEmpty());
  EXPECT_GT(check->artifacts, 20);
  EXPECT_GT(check->bytes, std::int64_t{3} << 20U) << "with what lies in files";
  EXPECT_THAT(verdictOf(*check, m_project), IsOk());
}

TEST_F(RecordUpkeepTest, AnArtifactThatIsMissingOrDamagedIsAProblem) {
  fill();
  std::filesystem::resize_file(artifactFile(), 1000);
  auto check = checkRecord(m_project, goesOn);
  ASSERT_THAT(check, IsOk());
  EXPECT_EQ(check->problemCount, 1);
  EXPECT_THAT(check->problems.at(0), HasSubstr("is damaged"));
  std::filesystem::remove(artifactFile());
  check = checkRecord(m_project, goesOn);
  ASSERT_THAT(check, IsOk());
  EXPECT_THAT(check->problems.at(0), HasSubstr(".zst"));
  EXPECT_THAT(verdictOf(*check, m_project),
              IsError(ErrorKind::Storage, AllOf(HasSubstr("runs.sqlite' is damaged"), HasSubstr(".zst"))));
}

TEST_F(RecordUpkeepTest, AReferenceToNothingIsAProblem) {
  fill();
  change("UPDATE candidates SET run_id = 77 WHERE id IN (1, 2)");
  const auto check = checkRecord(m_project, goesOn);
  ASSERT_THAT(check, IsOk());
  EXPECT_EQ(check->problemCount, 2);
  EXPECT_EQ(check->problems.at(0), "row 1 of candidates refers to a row of runs that is not there");
  EXPECT_THAT(verdictOf(*check, m_project), IsError(ErrorKind::Storage, HasSubstr("(2 problems)")));
}

TEST_F(RecordUpkeepTest, DamagedPagesAreProblemsOrErrors) {
  fill();
  const std::string intact = readTextFile(m_database).value();
  std::string damaged = intact;
  damaged.replace(4096 * 3, 4096, std::string(4096, '\xA5'));
  ASSERT_THAT(writeFileAtomically(m_database, damaged), IsOk());
  const auto check = checkRecord(m_project, goesOn);
  const Result<> verdict = check ? verdictOf(*check, m_project) : Result<>(check.error());
  EXPECT_THAT(verdict, IsError(ErrorKind::Storage, HasSubstr("runs.sqlite")));
}

TEST_F(RecordUpkeepTest, NothingIsThereToLookAfterWithoutARecord) {
  std::filesystem::create_directories(m_project);
  EXPECT_THAT(checkRecord(m_project, goesOn), IsError(ErrorKind::NotFound, HasSubstr("there is no record")));
  EXPECT_THAT(backUpRecord(m_project, m_copy, goesOn), IsError(ErrorKind::NotFound, HasSubstr("there is no record")));
  EXPECT_THAT(vacuumRecord(m_project, goesOn), IsError(ErrorKind::NotFound, HasSubstr("there is no record")));
  EXPECT_TRUE(std::filesystem::is_empty(m_project));
  EXPECT_FALSE(std::filesystem::exists(m_copy));
}

TEST_F(RecordUpkeepTest, ABackupIsOneFileWithEverything) {
  fill();
  const auto backup = backUpRecord(m_project, m_copy, goesOn);
  ASSERT_THAT(backup, IsOk());
  EXPECT_EQ(backup->artifacts, 1);
  EXPECT_EQ(backup->leftOut, 0);
  EXPECT_EQ(backup->bytes, static_cast<std::int64_t>(std::filesystem::file_size(m_copy)));
  EXPECT_GT(backup->recordBytes, std::int64_t{3} << 20U);
  EXPECT_FALSE(std::filesystem::exists(m_copy.string() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(m_copy.string() + "-journal"));

  const std::filesystem::path other = m_directory / "other";
  std::filesystem::create_directories(other);
  std::filesystem::rename(m_copy, other / "runs.sqlite");
  const auto check = checkRecord(other, goesOn);
  ASSERT_THAT(check, IsOk());
  EXPECT_TRUE(check->isIntact()) << check->problems.front();
  const auto record = Record::open(other, Record::Mode::ReadWrite);
  ASSERT_THAT(record, IsOk()) << "it takes the place of a record";
  EXPECT_EQ(record->binary("large").value(), m_binary);
  EXPECT_EQ(record->candidateCount({.run = m_run}).value(), 21);
}

TEST_F(RecordUpkeepTest, ABackupDuringARunHasOneStateOfIt) {
  Record record = testing::openForWriting(m_project);
  const RunId run = record.createRun(testing::sampleRun()).value();
  std::int64_t added = 0;
  const auto addOne = [&record, run, &added] {
    testing::addCorrect(record, run, added, 0, "A0B0C1", 1000.0, static_cast<double>(added));
    ++added;
  };
  while (added < 400) {
    addOne();
  }
  const std::int64_t before = added;
  // It is asked between the steps of the copy: that is where the run goes on.
  const auto backup = backUpRecord(m_project, m_copy, [&addOne] {
    addOne();
    return false;
  });
  ASSERT_THAT(backup, IsOk());
  EXPECT_GT(added, before);
  SQLite::Database copy(m_copy, SQLite::OPEN_READONLY);
  EXPECT_EQ(copy.execAndGet("SELECT count(*) FROM candidates").getInt64(), before);
  EXPECT_EQ(copy.execAndGet("PRAGMA integrity_check").getString(), "ok");
  EXPECT_EQ(record.candidateCount({.run = run}).value(), added);
}

TEST_F(RecordUpkeepTest, ABackupOverwritesNothing) {
  fill();
  ASSERT_THAT(writeFileAtomically(m_copy, "mine"), IsOk());
  EXPECT_THAT(backUpRecord(m_project, m_copy, goesOn),
              IsError(ErrorKind::InvalidInput, AllOf(HasSubstr("copy.sqlite"), HasSubstr("it exists"))));
  EXPECT_EQ(readTextFile(m_copy).value(), "mine");
  EXPECT_THAT(backUpRecord(m_project, m_directory / "nowhere/copy.sqlite", goesOn),
              IsError(ErrorKind::Storage, HasSubstr("nowhere/copy.sqlite")));
}

TEST_F(RecordUpkeepTest, ABackupOfADamagedRecordSaysWhatIsNotInIt) {
  fill();
  std::filesystem::remove(artifactFile());
  const auto backup = backUpRecord(m_project, m_copy, goesOn);
  ASSERT_THAT(backup, IsOk());
  EXPECT_EQ(backup->artifacts, 0);
  EXPECT_EQ(backup->leftOut, 1);
}

TEST_F(RecordUpkeepTest, WhatIsCancelledLeavesNothing) {
  fill();
  const auto atOnce = [] { return true; };
  EXPECT_THAT(checkRecord(m_project, atOnce), IsError(ErrorKind::Cancelled, HasSubstr("cancelled")));
  EXPECT_THAT(backUpRecord(m_project, m_copy, atOnce), IsError(ErrorKind::Cancelled, HasSubstr("cancelled")));
  EXPECT_FALSE(std::filesystem::exists(m_copy));
  EXPECT_THAT(checkRecord(m_project, goesOn), IsOk());
}

TEST_F(RecordUpkeepTest, VacuumGivesUnusedSpaceBack) {
  fill();
  change("CREATE TABLE filler (x BLOB); INSERT INTO filler VALUES (zeroblob(4000000)); DROP TABLE filler");
  const auto sizes = vacuumRecord(m_project, goesOn);
  ASSERT_THAT(sizes, IsOk());
  EXPECT_GT(sizes->before, 4'000'000);
  EXPECT_THAT(sizes->after, Lt(sizes->before - 3'000'000));
  EXPECT_FALSE(sizes->isHeld);
  const auto check = checkRecord(m_project, goesOn);
  ASSERT_THAT(check, IsOk());
  EXPECT_TRUE(check->isIntact());
  EXPECT_EQ(readTextFile(m_project / "runs.lock").value(), "") << "it was closed in order";
}

TEST_F(RecordUpkeepTest, VacuumIsRefusedWhileARunWritesTheProject) {
  const Record record = testing::openForWriting(m_project);
  EXPECT_THAT(vacuumRecord(m_project, goesOn), IsError(ErrorKind::Locked, HasSubstr("is writing it")));
  EXPECT_THAT(checkRecord(m_project, goesOn), IsOk()) << "looking is allowed";
}

}  // namespace
}  // namespace swage::store
