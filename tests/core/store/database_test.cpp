// SPDX-License-Identifier: Apache-2.0
#include "core/store/database.h"

#include <array>

#include <SQLiteCpp/SQLiteCpp.h>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::TempDir;

constexpr Migration kFirst{1, "001_first", "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (5);"};
constexpr Migration kSecond{2, "002_second", "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1;"};
constexpr Migration kBroken{2, "002_broken",
                            "ALTER TABLE a ADD COLUMN y INTEGER; INSERT INTO missing_table VALUES (1);"};
constexpr std::array kOld{kFirst};
constexpr std::array kNew{kFirst, kSecond};
constexpr std::array kFailing{kFirst, kBroken};

int number(const Database& database, const char* sql) {
  return database.connection().execAndGet(sql).getInt();
}

Result<Database> openWith(const std::filesystem::path& file, std::span<const Migration> schema,
                          Access access = Access::ReadWrite) {
  return Database::open(file, {.access = access, .check = Check::None, .schema = schema});
}

class DatabaseTest : public ::testing::Test {
 protected:
  TempDir m_directory;
  std::filesystem::path m_file = m_directory / "runs.sqlite";
};

TEST_F(DatabaseTest, HasTheSettingsItNeeds) {
  const auto database = Database::open(m_file, {.access = Access::ReadWrite});
  ASSERT_THAT(database, IsOk());
  EXPECT_EQ(database->connection().execAndGet("PRAGMA journal_mode").getString(), "wal");
  EXPECT_EQ(number(*database, "PRAGMA foreign_keys"), 1);
  EXPECT_EQ(number(*database, "PRAGMA trusted_schema"), 0);
  EXPECT_EQ(number(*database, "PRAGMA cache_size"), -65536);
  EXPECT_EQ(number(*database, "PRAGMA synchronous"), 1);
  EXPECT_EQ(number(*database, "PRAGMA application_id"), 0x53574147);
  EXPECT_EQ(number(*database, "PRAGMA user_version"), migrations().back().version);
  database->setDurability(Durability::SurvivesPowerLoss);
  EXPECT_EQ(number(*database, "PRAGMA synchronous"), 2);
}

TEST_F(DatabaseTest, EveryTableIsStrict) {
  const auto database = Database::open(m_file, {.access = Access::ReadWrite});
  EXPECT_EQ(number(*database,
                   "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict = 0 "
                   "AND name NOT LIKE 'sqlite_%'"),
            0);
}

TEST_F(DatabaseTest, MigrationsAreNumberedFromOne) {
  int expected = 0;
  for (const Migration& migration : migrations()) {
    EXPECT_EQ(migration.version, ++expected) << migration.name;
    EXPECT_THAT(std::string(migration.sql), AnyOf(HasSubstr(" TABLE "), HasSubstr(" INDEX ")));
  }
  EXPECT_GE(expected, 1);
}

TEST_F(DatabaseTest, AnOlderSchemaIsBroughtUpToDateAfterABackup) {
  ASSERT_THAT(openWith(m_file, kOld), IsOk());
  {
    const auto database = openWith(m_file, kNew);
    ASSERT_THAT(database, IsOk());
    EXPECT_EQ(number(*database, "SELECT y FROM a"), 6);
    EXPECT_EQ(number(*database, "PRAGMA user_version"), 2);
  }
  const auto backup = openWith(m_directory / "runs.sqlite.v1.bak", kOld);
  ASSERT_THAT(backup, IsOk());
  EXPECT_EQ(number(*backup, "SELECT x FROM a"), 5);
  EXPECT_EQ(number(*backup, "PRAGMA user_version"), 1);
}

TEST_F(DatabaseTest, AFailingMigrationChangesNothing) {
  ASSERT_THAT(openWith(m_file, kOld), IsOk());
  EXPECT_THAT(openWith(m_file, kFailing), IsError(ErrorKind::Storage, HasSubstr("no such table: missing_table")));
  const auto database = openWith(m_file, kOld);
  ASSERT_THAT(database, IsOk());
  EXPECT_EQ(number(*database, "SELECT count(*) FROM pragma_table_info('a')"), 1);
}

TEST_F(DatabaseTest, ReadersDoNotMigrate) {
  ASSERT_THAT(openWith(m_file, kOld), IsOk());
  EXPECT_THAT(openWith(m_file, kNew, Access::ReadOnly), IsError(ErrorKind::Storage, HasSubstr("older schema 1")));
  EXPECT_FALSE(std::filesystem::exists(m_directory / "runs.sqlite.v1.bak"));
}

TEST_F(DatabaseTest, ANewerSchemaIsRefusedAndLeftAlone) {
  ASSERT_THAT(openWith(m_file, kNew), IsOk());
  for (const Access access : {Access::ReadWrite, Access::ReadOnly}) {
    const auto refused = openWith(m_file, kOld, access);
    EXPECT_THAT(refused, IsError(ErrorKind::Storage, HasSubstr("newer version of Swage (schema 2, this one knows 1)")));
    EXPECT_THAT(refused.error().hint(), HasSubstr("Use that version"));
  }
  EXPECT_EQ(number(*openWith(m_file, kNew), "PRAGMA user_version"), 2);
}

TEST_F(DatabaseTest, ADatabaseOfAnotherProgramIsRefusedAndLeftAlone) {
  {
    SQLite::Database other(m_file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE theirs (x)");
  }
  EXPECT_THAT(openWith(m_file, kOld), IsError(ErrorKind::Storage, HasSubstr("another program")));
  SQLite::Database other(m_file, SQLite::OPEN_READONLY);
  EXPECT_EQ(other.execAndGet("PRAGMA journal_mode").getString(), "delete");
  EXPECT_EQ(other.execAndGet("SELECT count(*) FROM sqlite_schema").getInt(), 1);
}

TEST_F(DatabaseTest, ReadingWhereNoRecordIsSaysSo) {
  EXPECT_THAT(openWith(m_file, kOld, Access::ReadOnly), IsError(ErrorKind::NotFound, HasSubstr("runs.sqlite")));
  EXPECT_FALSE(std::filesystem::exists(m_file));
}

TEST(LanguageMigration, FollowsFromTheKindOfDeviceOfAnOlderRecord) {
  const testing::TempDir directory;
  {
    const auto old =
        Database::open(directory / "runs.sqlite", {.access = Access::ReadWrite, .schema = migrations().first(7)});
    ASSERT_THAT(old, IsOk());
    old->connection().exec(
        "PRAGMA foreign_keys=OFF;"
        "INSERT INTO candidate_details (id, genome_json, target, flags_json, source_artifact, plan_artifact, "
        "source_hash) VALUES (1, '{}', 'cpu', '[]', 1, 1, ''), (2, '{}', 'cuda', '[]', 1, 1, '')");
  }
  const auto current = Database::open(directory / "runs.sqlite", {.access = Access::ReadWrite});
  ASSERT_THAT(current, IsOk());
  EXPECT_EQ(current->connection().execAndGet("SELECT group_concat(id || language) FROM candidate_details").getString(),
            "1cpp,2cuda");
}

}  // namespace
}  // namespace swage::store
