// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace SQLite {  // NOLINT(readability-identifier-naming): its own name
class Database;
}

namespace swage::store {

// Content-addressed texts and binaries: small ones in the table `artifacts`, large ones as files under
// `<project>/artifacts`. SQLite's exceptions pass through; callers run inside the record's guard.
class Artifacts {
 public:
  explicit Artifacts(const std::filesystem::path& project) : m_directory(project / "artifacts") {}

  // The id of the row with this content, new or found. Part of the caller's transaction.
  [[nodiscard]] Result<std::int64_t> put(SQLite::Database& connection, std::string_view content) const;
  [[nodiscard]] Result<std::string> load(SQLite::Database& connection, std::int64_t id) const;

  // Files whose content is in the database now, and those that are missing or larger than a row may be.
  struct Embedded {
    std::int64_t taken = 0;
    std::int64_t leftOut = 0;
  };
  // Puts what lies in files of this project into the rows about them, in a copy of its database. Part of the caller's
  // transaction. Kind Cancelled, when `isCancelled` says so.
  [[nodiscard]] Result<Embedded> embed(SQLite::Database& copy, const std::function<bool()>& isCancelled) const;

 private:
  [[nodiscard]] std::filesystem::path fileOf(std::string_view hash) const;

  std::filesystem::path m_directory;
};

}  // namespace swage::store
