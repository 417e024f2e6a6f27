// SPDX-License-Identifier: Apache-2.0
#include "core/store/database.h"

#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <string>
#include <system_error>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/base/log.h"
#include "core/store/failures.h"

// Journal: WAL, so that readers never wait for the writer. WAL needs memory shared between processes, which network
// file systems do not give; there a rollback journal with full syncs is used. With WAL, synchronous=NORMAL loses
// nothing when a process is killed, only the last commits on power loss; setDurability() raises it where that matters.
namespace swage::store {
namespace {

constexpr int kApplicationId = 0x53574147;  // "SWAG"
// A writer waits for one that holds the file for a moment. Readers of a WAL never wait for a writer, only for a program
// that keeps everybody out; the window reads on the thread that draws.
constexpr int kBusyTimeoutMs = 5'000;
constexpr int kReaderTimeoutMs = 200;

constexpr std::string_view kFullHint = "Free some space on that disk; everything recorded before is intact.";
constexpr std::string_view kHeldHint = "Another program holds the file; close it and try again.";

enum class Journal : std::uint8_t { Wal, Rollback };

bool isOnNetwork(const std::filesystem::path& directory) {
  // NFS, SMB (three generations), AFS, Ceph, Lustre, GPFS, 9P, and FUSE, which is sshfs more often than not.
  constexpr std::array<std::uint32_t, 10> kTypes{0x6969,     0x517B,     0xFE534D42, 0xFF534D42, 0x5346414F,
                                                 0x00C36400, 0x0BD00BD0, 0x47504653, 0x01021997, 0x65735546};
  struct statfs status {};
  if (::statfs(directory.c_str(), &status) != 0) {
    return false;
  }
  const auto type = static_cast<std::uint32_t>(status.f_type);
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

int patienceMs(Access access, const std::filesystem::path& file) {
  return access == Access::ReadWrite || isOnNetwork(file.parent_path()) ? kBusyTimeoutMs : kReaderTimeoutMs;
}

std::string hintFor(int code) {
  switch (code) {
    case SQLITE_FULL: return std::string(kFullHint);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "Move the file away to start afresh, or put a backup in its place; Swage does not touch it.";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return std::string(kHeldHint);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN: return "Check that the directory and the file may be read and written.";
    default: return {};
  }
}

Error storageError(std::string_view attempted, const std::filesystem::path& file, const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  const bool isHeld = code == SQLITE_BUSY || code == SQLITE_LOCKED;
  return Error(isHeld ? ErrorKind::Locked : ErrorKind::Storage,
               fmt::format("cannot {} in '{}': {}", attempted, file.string(), error.what()), hintFor(code));
}

Error handledError(std::string_view attempted, const std::filesystem::path& file) {
  try {
    throw;
  } catch (const SQLite::Exception& error) {
    return storageError(attempted, file, error);
  } catch (const std::exception& error) {
    return Error(ErrorKind::Storage, fmt::format("cannot {} in '{}': {}", attempted, file.string(), error.what()));
  }
}

int pragma(SQLite::Database& connection, const std::string& name) {
  return connection.execAndGet("PRAGMA " + name).getInt();
}

void configure(SQLite::Database& connection, Access access, Journal journal) {
  connection.exec("PRAGMA trusted_schema=OFF; PRAGMA foreign_keys=ON; PRAGMA cache_size=-65536");
  if (access == Access::ReadOnly) {
    connection.exec("PRAGMA query_only=ON");
    return;
  }
  const bool isWal = journal == Journal::Wal;
  SQLite::Statement(connection, isWal ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE").executeStep();
  connection.exec(isWal ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL");
}

// The schema version of a file that is Swage's; 0 for an empty one.
Result<int> readVersion(SQLite::Database& connection, const std::filesystem::path& file) {
  const int version = pragma(connection, "user_version");
  const int applicationId = pragma(connection, "application_id");
  const bool isEmpty = connection.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
  if (applicationId != kApplicationId && !(isEmpty && applicationId == 0 && version == 0)) {
    return Error(ErrorKind::Storage, fmt::format("'{}' is a database of another program", file.string()),
                 "Choose another project directory, or move the file away.");
  }
  return version;
}

void checkQuickly(SQLite::Database& connection) {
  log::info("checking '{}', because its last writer was interrupted", connection.getFilename());
  const std::string verdict = connection.execAndGet("PRAGMA quick_check(1)").getString();
  if (verdict != "ok") {
    throw SQLite::Exception(verdict, SQLITE_CORRUPT);
  }
}

void backUp(SQLite::Database& connection, const std::filesystem::path& file, int version) {
  const std::string copy = fmt::format("{}.v{}.bak", file.string(), version);
  std::filesystem::remove(copy);
  SQLite::Database destination(copy, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  SQLite::Backup(destination, connection).executeStep(-1);
  log::info("copied '{}' to '{}' before changing its schema", file.string(), copy);
}

void migrate(SQLite::Database& connection, const std::filesystem::path& file, int version,
             std::span<const Migration> schema) {
  if (version > 0) {
    backUp(connection, file, version);
  }
  SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
  for (const Migration& migration : schema) {
    if (migration.version > version) {
      connection.exec(std::string(migration.sql));
    }
  }
  connection.exec(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId, schema.back().version));
  transaction.commit();
}

Result<> bringUpToDate(SQLite::Database& connection, const std::filesystem::path& file,
                       const Database::Options& options) {
  SWAGE_TRY_ASSIGN(const int version, readVersion(connection, file));
  const int wanted = options.schema.back().version;
  if (version > wanted) {
    return Error(ErrorKind::Storage,
                 fmt::format("'{}' was written by a newer version of Swage (schema {}, this one knows {})",
                             file.string(), version, wanted),
                 "Use that version, or choose another project directory.");
  }
  if (version == wanted) {
    return {};
  }
  if (options.access == Access::ReadOnly || options.migrate == Migrate::No) {
    return Error(
        ErrorKind::Storage,
        fmt::format("'{}' has the older schema {} (this version of Swage knows {})", file.string(), version, wanted),
        "Open it once for writing, for example with 'swage resume'; a backup is made first.");
  }
  migrate(connection, file, version, options.schema);
  return {};
}

// Where nothing can be written, SQLite cannot make the files that WAL needs; if there is no journal to replay either,
// the file can be read as immutable.
bool isImmutable(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto journalBytes = std::filesystem::file_size(file.string() + "-wal", ignored);
  const bool hasJournal = !ignored && journalBytes > 0;
  return !hasJournal && ::access(file.parent_path().empty() ? "." : file.parent_path().c_str(), W_OK) != 0;
}

std::string uriOf(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

std::unique_ptr<SQLite::Database> connect(const std::filesystem::path& file, Access access) {
  const int patience = patienceMs(access, file);
  if (access == Access::ReadWrite) {
    return std::make_unique<SQLite::Database>(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, patience);
  }
  if (isImmutable(file)) {
    return std::make_unique<SQLite::Database>(uriOf(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI, patience);
  }
  return std::make_unique<SQLite::Database>(file, SQLite::OPEN_READONLY, patience);
}

}  // namespace

bool isDiskFull(const Error& error) {
  return error.kind() == ErrorKind::Storage && error.hint() == kFullHint;
}

bool isHeld(const Error& error) {
  return error.kind() == ErrorKind::Locked && error.hint() == kHeldHint;
}

Result<Database> Database::open(const std::filesystem::path& file, const Options& options) {
  try {
    std::error_code ignored;
    const bool mustExist = options.access == Access::ReadOnly || options.migrate == Migrate::No;
    if (mustExist && !std::filesystem::exists(file, ignored)) {
      return Error(ErrorKind::NotFound, fmt::format("there is no record '{}'", file.string()),
                   "Name the directory of a project in which a run was started.");
    }
    Database database(connect(file, options.access), file);
    SQLite::Database& connection = database.connection();
    // Before anything is set, so that a foreign or newer file stays as it is.
    connection.setBusyTimeout(patienceMs(options.access, file));
    SWAGE_TRY(readVersion(connection, file));
    if (options.check == Check::Quick) {
      checkQuickly(connection);
    }
    if (const int version = pragma(connection, "user_version"); version <= options.schema.back().version) {
      configure(connection, options.access, isOnNetwork(file.parent_path()) ? Journal::Rollback : Journal::Wal);
    }
    SWAGE_TRY(bringUpToDate(connection, file, options));
    return database;
  } catch (const std::exception&) {
    return handledError("open the record", file);
  }
}

bool Database::isOlder(const std::filesystem::path& file) {
  try {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      return false;
    }
    const std::unique_ptr<SQLite::Database> connection = connect(file, Access::ReadOnly);
    const int version = pragma(*connection, "user_version");
    return pragma(*connection, "application_id") == kApplicationId && version > 0 &&
           version < migrations().back().version;
  } catch (const std::exception&) {
    return false;  // opening it says what is wrong with it
  }
}

Database::Database(std::unique_ptr<SQLite::Database> connection, std::filesystem::path file)
    : m_connection(std::move(connection)), m_file(std::move(file)) {}
Database::~Database() = default;
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;

Error Database::currentError(std::string_view attempted) const {
  return handledError(attempted, m_file);
}

void Database::setDurability(Durability durability) const {
  const bool isFull = durability == Durability::SurvivesPowerLoss || isOnNetwork(m_file.parent_path());
  m_connection->exec(isFull ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
}

}  // namespace swage::store
