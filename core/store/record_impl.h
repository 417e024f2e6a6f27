// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <filesystem>
#include <optional>
#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/artifacts.h"
#include "core/store/database.h"
#include "core/store/project_lock.h"
#include "core/store/record.h"

namespace swage::store {

struct Record::Impl {
  std::optional<ProjectLock> lock;
  std::optional<Database> database;
  Artifacts artifacts;

  Impl(std::optional<ProjectLock> held, Database opened, const std::filesystem::path& project)
      : lock(std::move(held)), database(std::move(opened)), artifacts(project) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  // The database is closed before the lock says so.
  ~Impl() {
    database.reset();
    if (lock) {
      lock->release();
    }
  }

  // Runs `action` with the connection; an exception becomes an Error that says what was attempted.
  template <class Action>
  auto reading(std::string_view attempted, Action action) const -> decltype(action(std::declval<SQLite::Database&>())) {
    try {
      return action(database->connection());
    } catch (const std::exception&) {
      return database->currentError(attempted);
    }
  }

  // The same in one transaction, which is committed when `action` succeeds and rolled back otherwise.
  template <class Action>
  auto writing(std::string_view attempted, Action action) const -> decltype(action(std::declval<SQLite::Database&>())) {
    return reading(attempted, [&](SQLite::Database& connection) -> decltype(action(connection)) {
      SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
      auto result = action(connection);
      if (result) {
        transaction.commit();
      }
      return result;
    });
  }
};

// In the order in which they were recorded.
[[nodiscard]] Result<std::vector<domain::Baseline>> readBaselines(SQLite::Database& connection, domain::RunId run);
[[nodiscard]] Result<domain::Task> readTask(SQLite::Database& connection, const Artifacts& artifacts,
                                            std::string_view taskId);

}  // namespace swage::store
