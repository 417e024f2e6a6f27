// SPDX-License-Identifier: Apache-2.0
#include "core/store/pattern_index.h"

#include <array>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/store/statements.h"

namespace swage::store {
namespace {

// Another layout gets another file name (see open()), so there is one step only.
constexpr std::array<Migration, 1> kSchema{{{1, "patterns", R"sql(
CREATE TABLE units(name TEXT PRIMARY KEY, stamp TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE learned(name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE patterns(
  id INTEGER PRIMARY KEY,
  unit TEXT NOT NULL,
  key TEXT NOT NULL,
  origin TEXT NOT NULL,
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  body TEXT NOT NULL,
  place TEXT NOT NULL,
  operators TEXT NOT NULL,
  types TEXT NOT NULL,
  architectures TEXT NOT NULL,
  bottlenecks TEXT NOT NULL,
  vector BLOB NOT NULL);
CREATE INDEX patterns_unit ON patterns(unit);
CREATE VIRTUAL TABLE words USING fts5(title, tags, summary, body, tokenize='porter unicode61');
)sql"}}};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? word : '\n' + word;
  }
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string tagsOf(const domain::PatternEntry& entry) {
  std::string tags;
  for (const auto* list : {&entry.operators, &entry.types, &entry.architectures, &entry.bottlenecks}) {
    for (const std::string& word : *list) {
      tags += word + ' ';
    }
  }
  return tags;
}

void removeUnit(SQLite::Database& connection, const std::string& unit) {
  execute(connection, "DELETE FROM words WHERE rowid IN (SELECT id FROM patterns WHERE unit = ?)", unit);
  execute(connection, "DELETE FROM patterns WHERE unit = ?", unit);
  execute(connection, "DELETE FROM units WHERE name = ?", unit);
}

void addPattern(SQLite::Database& connection, const std::string& unit, const IndexedPattern& pattern) {
  const domain::PatternEntry& entry = pattern.entry;
  SQLite::Statement insert(connection,
                           "INSERT INTO patterns(unit, key, origin, title, summary, body, place, operators, types, "
                           "architectures, bottlenecks, vector) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  bindAll(insert, unit, entry.key, domain::name(entry.origin), entry.title, entry.summary, entry.body, entry.place,
          joined(entry.operators), joined(entry.types), joined(entry.architectures), joined(entry.bottlenecks));
  constexpr int kVector = 12;
  insert.bind(kVector, pattern.vector.data(), static_cast<int>(pattern.vector.size()));
  insert.exec();
  execute(connection, "INSERT INTO words(rowid, title, tags, summary, body) VALUES(?, ?, ?, ?, ?)",
          static_cast<std::int64_t>(connection.getLastInsertRowid()), entry.title, tagsOf(entry), entry.summary,
          entry.body);
}

constexpr const char* kColumns = "key, origin, title, summary, place, operators, types, architectures, bottlenecks";

// Of a row that has kColumns from column `first` on.
domain::PatternEntry entryFrom(const SQLite::Statement& row, int first) {
  domain::PatternEntry entry;
  const auto text = [&row, first](int column) { return row.getColumn(first + column).getString(); };
  int column = 0;
  entry.key = text(column++);
  entry.origin = domain::parsePatternOrigin(text(column++)).value_or(domain::PatternOrigin::Catalogue);
  entry.title = text(column++);
  entry.summary = text(column++);
  entry.place = text(column++);
  entry.operators = split(text(column++));
  entry.types = split(text(column++));
  entry.architectures = split(text(column++));
  entry.bottlenecks = split(text(column));
  return entry;
}

Result<Database> openFile(const std::filesystem::path& file) {
  return Database::open(file, {.access = Access::ReadWrite, .check = Check::Quick, .schema = kSchema});
}

}  // namespace

Result<PatternIndex> PatternIndex::open(const std::filesystem::path& file) {
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  Result<Database> database = openFile(file);
  if (!database && database.error().kind() == ErrorKind::Storage) {
    log::info("the index of patterns is made anew: {}", database.error().message());
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      std::filesystem::remove(file.string() + suffix, failed);
    }
    database = openFile(file);
  }
  if (!database) {
    return std::move(database).error();
  }
  return PatternIndex(std::move(*database));
}

Result<std::map<std::string, std::string>> PatternIndex::units() const {
  try {
    std::map<std::string, std::string> units;
    SQLite::Statement rows(m_database.connection(), "SELECT name, stamp FROM units");
    while (rows.executeStep()) {
      units.emplace(rows.getColumn(0).getString(), rows.getColumn(1).getString());
    }
    return units;
  } catch (...) {
    return m_database.currentError("listing what is indexed");
  }
}

Result<> PatternIndex::replace(const std::vector<Unit>& units, const std::vector<std::string>& gone) {
  try {
    SQLite::Database& connection = m_database.connection();
    SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
    for (const std::string& unit : gone) {
      removeUnit(connection, unit);
    }
    for (const Unit& unit : units) {
      removeUnit(connection, unit.name);
      execute(connection, "INSERT INTO units(name, stamp) VALUES(?, ?)", unit.name, unit.stamp);
      for (const IndexedPattern& pattern : unit.patterns) {
        addPattern(connection, unit.name, pattern);
      }
    }
    transaction.commit();
    return {};
  } catch (...) {
    return m_database.currentError("indexing patterns");
  }
}

Result<std::vector<IndexedPattern>> PatternIndex::patterns() const {
  try {
    std::vector<IndexedPattern> all;
    SQLite::Statement rows(m_database.connection(),
                           fmt::format("SELECT id, vector, {} FROM patterns ORDER BY id", kColumns));
    while (rows.executeStep()) {
      all.push_back({rows.getColumn(0).getInt64(), entryFrom(rows, 2), rows.getColumn(1).getString()});
    }
    return all;
  } catch (...) {
    return m_database.currentError("reading the index of patterns");
  }
}

Result<std::vector<domain::PatternEntry>> PatternIndex::entries(const std::vector<std::int64_t>& ids) const {
  try {
    std::vector<domain::PatternEntry> found;
    SQLite::Statement row(m_database.connection(), fmt::format("SELECT body, {} FROM patterns WHERE id = ?", kColumns));
    for (const std::int64_t id : ids) {
      row.reset();
      row.bind(1, id);
      if (row.executeStep()) {
        found.push_back(entryFrom(row, 1));
        found.back().body = row.getColumn(0).getString();
      }
    }
    return found;
  } catch (...) {
    return m_database.currentError("reading patterns");
  }
}

Result<std::vector<std::int64_t>> PatternIndex::matching(const std::vector<std::string>& words, int limit) const {
  std::string query;
  for (const std::string& word : words) {
    query += fmt::format("{}\"{}\"", query.empty() ? "" : " OR ", word);
  }
  if (query.empty()) {
    return std::vector<std::int64_t>();
  }
  try {
    std::vector<std::int64_t> ids;
    // Titles and tags count more than what happens to stand in a source.
    SQLite::Statement rows(
        m_database.connection(),
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, 6.0, 6.0, 3.0, 0.5) LIMIT ?");
    bindAll(rows, query, limit);
    while (rows.executeStep()) {
      ids.push_back(rows.getColumn(0).getInt64());
    }
    return ids;
  } catch (...) {
    return m_database.currentError("searching patterns");
  }
}

Result<std::string> PatternIndex::value(std::string_view name) const {
  try {
    SQLite::Statement row(m_database.connection(), "SELECT value FROM learned WHERE name = ?");
    bindAll(row, name);
    return row.executeStep() ? row.getColumn(0).getString() : std::string();
  } catch (...) {
    return m_database.currentError("reading the index of patterns");
  }
}

Result<> PatternIndex::setValue(std::string_view name, std::string_view value) {
  try {
    SQLite::Statement insert(m_database.connection(), "INSERT OR REPLACE INTO learned(name, value) VALUES(?, ?)");
    bindAll(insert, name);
    insert.bind(2, value.data(), static_cast<int>(value.size()));
    insert.exec();
    return {};
  } catch (...) {
    return m_database.currentError("writing the index of patterns");
  }
}

}  // namespace swage::store
