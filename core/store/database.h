// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/base/result.h"
#include "core/store/migrations.h"

namespace SQLite {  // NOLINT(readability-identifier-naming): its own name
class Database;
}

namespace swage::store {

enum class Access : std::uint8_t { ReadOnly, ReadWrite };
enum class Check : std::uint8_t { None, Quick };
// Whether opening to write may create the file and change its schema.
enum class Migrate : std::uint8_t { No, Yes };
enum class Durability : std::uint8_t { SurvivesKill, SurvivesPowerLoss };

// One connection to a SQLite file with Swage's settings and schema; used on one thread at a time.
// Opening refuses files that are damaged, foreign or of a newer schema, and never changes or deletes them.
// Opening to write creates the schema, or brings an older one up to date after copying it to `<file>.v<version>.bak`.
class Database {
 public:
  struct Options {
    Access access = Access::ReadOnly;
    Check check = Check::None;
    Migrate migrate = Migrate::Yes;
    std::span<const Migration> schema = migrations();
  };
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& file, const Options& options);
  // Whether it is Swage's and of an older schema, which can only be read after it was opened to write once.
  [[nodiscard]] static bool isOlder(const std::filesystem::path& file);
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;

  [[nodiscard]] SQLite::Database& connection() const { return *m_connection; }
  [[nodiscard]] const std::filesystem::path& file() const { return m_file; }
  // ErrorKind::Storage, or Locked where another program holds the file; for the exception that is being handled, which
  // must be one of SQLite or std.
  [[nodiscard]] Error currentError(std::string_view attempted) const;
  // What the next commits survive; a kill of the process, always.
  void setDurability(Durability durability) const;

 private:
  Database(std::unique_ptr<SQLite::Database> connection, std::filesystem::path file);

  std::unique_ptr<SQLite::Database> m_connection;
  std::filesystem::path m_file;
};

}  // namespace swage::store
