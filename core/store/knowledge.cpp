// SPDX-License-Identifier: Apache-2.0
#include "core/store/knowledge.h"

#include <array>
#include <system_error>

#include <fmt/format.h>

#include "core/store/statements.h"

namespace swage::store {
namespace {

constexpr std::array<Migration, 1> kSchema{{{1, "knowledge", R"sql(
CREATE TABLE runs(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  device TEXT NOT NULL,
  architecture TEXT NOT NULL);
CREATE TABLE advice(
  run INTEGER NOT NULL REFERENCES runs(number) ON DELETE CASCADE,
  rule TEXT NOT NULL,
  role TEXT NOT NULL,
  followed INTEGER NOT NULL,
  paid INTEGER NOT NULL,
  rewards REAL NOT NULL,
  log_gain REAL NOT NULL,
  PRIMARY KEY(run, rule, role)) WITHOUT ROWID;
)sql"}}};

// From column `first` on: followed, paid, rewards, log_gain.
void readSums(const SQLite::Statement& row, int first, domain::AdviceExperience& into) {
  into.followed = row.getColumn(first).getInt64();
  into.paid = row.getColumn(first + 1).getInt64();
  into.rewards = row.getColumn(first + 2).getDouble();
  into.logGain = row.getColumn(first + 3).getDouble();
}

}  // namespace

Result<Knowledge> Knowledge::open(const std::filesystem::path& file) {
  std::error_code ignored;  // opening says what is wrong
  std::filesystem::create_directories(file.parent_path(), ignored);
  SWAGE_TRY_ASSIGN(Database database,
                   Database::open(file, {.access = Access::ReadWrite, .check = Check::Quick, .schema = kSchema}));
  return Knowledge(std::move(database));
}

Result<Knowledge> Knowledge::openToRead(const std::filesystem::path& file) {
  SWAGE_TRY_ASSIGN(Database database,
                   Database::open(file, {.access = Access::ReadOnly, .check = Check::None, .schema = kSchema}));
  return Knowledge(std::move(database));
}

Result<> Knowledge::keep(const LearnedRun& run) {
  try {
    SQLite::Database& connection = m_database.connection();
    SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
    execute(connection, "DELETE FROM runs WHERE name = ?", run.name);
    execute(connection, "INSERT INTO runs(name, device, architecture) VALUES(?, ?, ?)", run.name, run.device,
            run.architecture);
    const auto number = static_cast<std::int64_t>(connection.getLastInsertRowid());
    for (const domain::AdviceExperience& one : run.advice) {
      execute(connection,
              "INSERT INTO advice(run, rule, role, followed, paid, rewards, log_gain) VALUES(?, ?, ?, ?, ?, ?, ?)",
              number, one.rule, one.role, one.followed, one.paid, one.rewards, one.logGain);
    }
    execute(connection,
            "DELETE FROM runs WHERE device = ? AND number NOT IN "
            "(SELECT number FROM runs WHERE device = ? ORDER BY number DESC LIMIT ?)",
            run.device, run.device, kMostRuns);
    transaction.commit();
    return {};
  } catch (...) {
    return m_database.currentError("keeping what a run taught");
  }
}

std::vector<domain::AdviceExperience> Knowledge::sums(const char* column, std::string_view value,
                                                      std::string_view except) const {
  std::vector<domain::AdviceExperience> found;
  SQLite::Statement rows(
      m_database.connection(),
      fmt::format("SELECT rule, role, SUM(followed), SUM(paid), SUM(rewards), SUM(log_gain) FROM advice "
                  "JOIN runs ON runs.number = advice.run WHERE runs.{} = ? AND runs.name <> ? "
                  "GROUP BY rule, role ORDER BY rule, role",
                  column));
  bindAll(rows, value, except);
  while (rows.executeStep()) {
    domain::AdviceExperience& one = found.emplace_back();
    one.rule = rows.getColumn(0).getString();
    one.role = rows.getColumn(1).getString();
    readSums(rows, 2, one);
  }
  return found;
}

Result<std::vector<domain::AdviceExperience>> Knowledge::about(std::string_view device, std::string_view architecture,
                                                               std::string_view except) const {
  try {
    std::vector<domain::AdviceExperience> found = sums("device", device, except);
    return found.empty() ? sums("architecture", architecture, except) : found;
  } catch (...) {
    return m_database.currentError("reading what earlier runs taught");
  }
}

Result<std::vector<std::pair<std::string, domain::AdviceExperience>>> Knowledge::ofRule(std::string_view rule) const {
  try {
    std::vector<std::pair<std::string, domain::AdviceExperience>> found;
    SQLite::Statement rows(m_database.connection(),
                           "SELECT device, SUM(followed), SUM(paid), SUM(rewards), SUM(log_gain) FROM advice "
                           "JOIN runs ON runs.number = advice.run WHERE rule = ? GROUP BY device ORDER BY device");
    bindAll(rows, rule);
    while (rows.executeStep()) {
      auto& [device, one] = found.emplace_back();
      device = rows.getColumn(0).getString();
      one.rule = rule;
      readSums(rows, 1, one);
    }
    return found;
  } catch (...) {
    return m_database.currentError("reading what earlier runs taught");
  }
}

}  // namespace swage::store
