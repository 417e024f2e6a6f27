// SPDX-License-Identifier: Apache-2.0
#include "core/store/record_upkeep.h"

#include <fcntl.h>

#include <cerrno>
#include <exception>
#include <sstream>
#include <system_error>
#include <utility>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/base/scope_exit.h"
#include "core/base/system_message.h"
#include "core/store/artifacts.h"
#include "core/store/database.h"
#include "core/store/interruption.h"
#include "core/store/project_lock.h"

namespace swage::store {
namespace {

namespace fs = std::filesystem;
using IsCancelled = std::function<bool()>;

constexpr int kMostProblems = 100;

fs::path databaseOf(const fs::path& project) {
  return project / "runs.sqlite";
}

Error wasCancelled(std::string_view attempted) {
  return Error(ErrorKind::Cancelled, fmt::format("it was cancelled to {}", attempted));
}

// Runs `action` with the connection; what it throws becomes an Error that says what was attempted.
template <class Action>
auto guarded(const Database& database, std::string_view attempted, const IsCancelled& isCancelled, Action action)
    -> decltype(action(std::declval<SQLite::Database&>())) {
  try {
    const Interruption interruption(database.connection(), isCancelled);
    return action(database.connection());
  } catch (const std::exception&) {
    if (isCancelled()) {
      return wasCancelled(attempted);
    }
    return database.currentError(attempted);
  }
}

std::int64_t bytesOf(const fs::path& file) {
  std::error_code missing;
  const auto bytes = fs::file_size(file, missing);
  return missing ? 0 : static_cast<std::int64_t>(bytes);
}

std::int64_t databaseBytes(const fs::path& project) {
  const fs::path file = databaseOf(project);
  return bytesOf(file) + bytesOf(file.string() + "-wal");
}

std::int64_t recordBytes(const fs::path& project) {
  std::int64_t bytes = databaseBytes(project);
  std::error_code failure;
  for (fs::recursive_directory_iterator at(project / "artifacts", failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code gone;
    bytes += at->is_regular_file(gone) ? bytesOf(at->path()) : 0;
  }
  return bytes;
}

void addProblem(RecordCheck& check, std::string problem) {
  if (check.problemCount++ < kMostProblems) {
    check.problems.push_back(std::move(problem));
  }
}

// SQLite may give several lines at once, the first of which names the database.
void checkPages(SQLite::Database& connection, RecordCheck& check) {
  SQLite::Statement query(connection, fmt::format("PRAGMA integrity_check({})", kMostProblems));
  while (query.executeStep()) {
    std::istringstream lines(query.getColumn(0).getString());
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line != "ok" && !line.starts_with("***")) {
        addProblem(check, std::move(line));
      }
    }
  }
}

void checkReferences(SQLite::Database& connection, RecordCheck& check) {
  SQLite::Statement query(connection, "PRAGMA foreign_key_check");
  while (query.executeStep()) {
    addProblem(check, fmt::format("row {} of {} refers to a row of {} that is not there", query.getColumn(1).getInt64(),
                                  query.getColumn(0).getString(), query.getColumn(2).getString()));
  }
}

Result<> checkArtifacts(SQLite::Database& connection, const Artifacts& artifacts, const IsCancelled& isCancelled,
                        RecordCheck& check) {
  SQLite::Statement query(connection, "SELECT id FROM artifacts ORDER BY id");
  while (query.executeStep()) {
    if (isCancelled()) {
      return wasCancelled("check the record");
    }
    ++check.artifacts;
    if (const auto content = artifacts.load(connection, query.getColumn(0).getInt64()); !content) {
      addProblem(check, content.error().message());
    }
  }
  return {};
}

// An empty file that was not there before: SQLite would write into any.
Result<> createNew(const fs::path& file) {
  const Fd created(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (created.isOpen()) {
    return {};
  }
  const int code = errno;
  if (code == EEXIST) {
    return Error(ErrorKind::InvalidInput, fmt::format("cannot back the record up to '{}': it exists", file.string()),
                 "Name a new file; no backup is ever written over another file.");
  }
  return Error(ErrorKind::Storage, fmt::format("cannot create '{}': {}", file.string(), systemMessage(code)),
               "Name a file in a folder that exists and that you may write to.");
}

void removeDatabase(const fs::path& file) {
  for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
    std::error_code ignored;
    fs::remove(file.string() + ending, ignored);
  }
}

// In steps, so that it can be cancelled; all of them see what the first one sees.
Result<> copyPages(const Database& database, const fs::path& file, const IsCancelled& isCancelled) {
  return guarded(database, "back the record up", isCancelled, [&](SQLite::Database& source) -> Result<> {
    constexpr int kPages = 1024;
    const SQLite::Transaction snapshot(source);
    static_cast<void>(source.execAndGet("SELECT count(*) FROM sqlite_schema").getInt());
    SQLite::Database copy(file, SQLite::OPEN_READWRITE);
    SQLite::Backup backup(copy, source);
    int code = SQLITE_OK;
    while (code == SQLITE_OK) {
      if (isCancelled()) {
        return wasCancelled("back the record up");
      }
      code = backup.executeStep(kPages);
    }
    if (code != SQLITE_DONE) {
      throw SQLite::Exception("the database is locked", code);
    }
    return {};
  });
}

// One file without a journal beside it, and with what the record has in files.
Result<Artifacts::Embedded> complete(const fs::path& project, const fs::path& file, const IsCancelled& isCancelled) {
  SWAGE_TRY_ASSIGN(const Database copy, Database::open(file, {.access = Access::ReadWrite, .migrate = Migrate::No}));
  return guarded(
      copy, "complete the backup", isCancelled, [&](SQLite::Database& connection) -> Result<Artifacts::Embedded> {
        SQLite::Statement(connection, "PRAGMA journal_mode=DELETE").executeStep();
        connection.exec("PRAGMA synchronous=FULL");
        SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
        SWAGE_TRY_ASSIGN(const Artifacts::Embedded embedded, Artifacts(project).embed(connection, isCancelled));
        transaction.commit();
        return embedded;
      });
}

enum class FreedSpace : std::uint8_t { Returned, HeldByReaders };

// Closes the database before it returns.
Result<FreedSpace> compact(const fs::path& file, Check check, const IsCancelled& isCancelled) {
  SWAGE_TRY_ASSIGN(const Database database,
                   Database::open(file, {.access = Access::ReadWrite, .check = check, .migrate = Migrate::No}));
  return guarded(database, "compact the record", isCancelled, [](SQLite::Database& connection) -> Result<FreedSpace> {
    connection.exec("VACUUM");
    const bool isHeld = connection.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt() != 0;
    return isHeld ? FreedSpace::HeldByReaders : FreedSpace::Returned;
  });
}

}  // namespace

Result<RecordCheck> checkRecord(const fs::path& project, const IsCancelled& isCancelled) {
  SWAGE_TRY_ASSIGN(const Database database, Database::open(databaseOf(project), {.access = Access::ReadOnly}));
  return guarded(database, "check the record", isCancelled, [&](SQLite::Database& connection) -> Result<RecordCheck> {
    const SQLite::Transaction snapshot(connection);
    RecordCheck check;
    checkPages(connection, check);
    checkReferences(connection, check);
    SWAGE_TRY(checkArtifacts(connection, Artifacts(project), isCancelled, check));
    check.bytes = recordBytes(project);
    return check;
  });
}

Result<> verdictOf(const RecordCheck& check, const fs::path& project) {
  if (check.isIntact()) {
    return {};
  }
  const std::string more = check.problemCount > 1 ? fmt::format(" ({} problems)", check.problemCount) : std::string();
  return Error(ErrorKind::Storage,
               fmt::format("the record '{}' is damaged: {}{}", databaseOf(project).string(),
                           check.problems.empty() ? std::string() : check.problems.front(), more),
               "Put a backup in its place, or choose another project directory; Swage does not touch it.");
}

Result<RecordBackup> backUpRecord(const fs::path& project, const fs::path& file, const IsCancelled& isCancelled) {
  SWAGE_TRY_ASSIGN(const Database database, Database::open(databaseOf(project), {.access = Access::ReadOnly}));
  SWAGE_TRY(createNew(file));
  ScopeExit discard([&file] { removeDatabase(file); });
  SWAGE_TRY(copyPages(database, file, isCancelled));
  SWAGE_TRY_ASSIGN(const Artifacts::Embedded embedded, complete(project, file, isCancelled));
  discard.release();
  return RecordBackup{.recordBytes = recordBytes(project),
                      .bytes = bytesOf(file),
                      .artifacts = embedded.taken,
                      .leftOut = embedded.leftOut};
}

Result<RecordSizes> vacuumRecord(const fs::path& project, const IsCancelled& isCancelled) {
  const fs::path file = databaseOf(project);
  // First, because taking the lock leaves its file behind, also where no project is.
  SWAGE_TRY(Database::open(file, {.access = Access::ReadOnly}));
  SWAGE_TRY_ASSIGN(ProjectLock lock, ProjectLock::take(project / "runs.lock"));
  const bool wasKilled = lock.lastWriter() == ProjectLock::LastWriter::Killed;
  RecordSizes sizes;
  sizes.before = databaseBytes(project);
  SWAGE_TRY_ASSIGN(const FreedSpace space, compact(file, wasKilled ? Check::Quick : Check::None, isCancelled));
  sizes.isHeld = space == FreedSpace::HeldByReaders;
  sizes.after = databaseBytes(project);
  lock.release();  // where this is not reached, the next writer has a look at the database
  return sizes;
}

}  // namespace swage::store
