// SPDX-License-Identifier: Apache-2.0
#include "core/store/annotations.h"

#include <exception>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/base/unix_time.h"
#include "core/store/statements.h"

namespace swage::store {
namespace {

using domain::AnnotationEdit;
using domain::CandidateId;

// Runs one prepared statement for many candidates.
class Repeated {
 public:
  Repeated(SQLite::Database& connection, const std::string& sql) : m_statement(connection, sql) {}

  // Whether a row changed.
  template <class... Values>
  bool run(const Values&... values) {
    m_statement.reset();
    bindAll(m_statement, values...);
    return m_statement.exec() > 0;
  }

 private:
  SQLite::Statement m_statement;
};

// `into` gets those that were not there before.
void insertAll(SQLite::Database& connection, std::string_view table, const std::vector<CandidateId>& ids,
               std::vector<CandidateId>& into) {
  // ON CONFLICT and not OR IGNORE: an unknown candidate has to fail.
  Repeated insert(connection,
                  fmt::format("INSERT INTO {} (candidate_id, at_ms) VALUES (?, ?) ON CONFLICT DO NOTHING", table));
  const std::int64_t now = unixTimeMs();
  for (const CandidateId id : ids) {
    if (insert.run(id.value(), now)) {
      into.push_back(id);
    }
  }
}

void removeAll(SQLite::Database& connection, std::string_view table, const std::vector<CandidateId>& ids,
               std::vector<CandidateId>& into) {
  Repeated remove(connection, fmt::format("DELETE FROM {} WHERE candidate_id = ?", table));
  for (const CandidateId id : ids) {
    if (remove.run(id.value())) {
      into.push_back(id);
    }
  }
}

void changeTags(SQLite::Database& connection, const AnnotationEdit& edit, AnnotationEdit& undo) {
  Repeated insert(connection, "INSERT INTO tags (candidate_id, tag, at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  Repeated remove(connection, "DELETE FROM tags WHERE candidate_id = ? AND tag = ?");
  const std::int64_t now = unixTimeMs();
  for (const AnnotationEdit::Tagging& one : edit.untag) {
    if (remove.run(one.candidate.value(), one.tag)) {
      undo.tag.push_back(one);
    }
  }
  for (const AnnotationEdit::Tagging& one : edit.tag) {
    if (insert.run(one.candidate.value(), one.tag, now)) {
      undo.untag.push_back(one);
    }
  }
}

void changeNotes(SQLite::Database& connection, const AnnotationEdit& edit, AnnotationEdit& undo) {
  Repeated write(connection,
                 "INSERT INTO notes (candidate_id, note, at_ms) VALUES (?, ?, ?) "
                 "ON CONFLICT DO UPDATE SET note = excluded.note, at_ms = excluded.at_ms");
  Repeated remove(connection, "DELETE FROM notes WHERE candidate_id = ?");
  const std::int64_t now = unixTimeMs();
  for (const AnnotationEdit::Noting& one : edit.note) {
    SQLite::Statement find(connection, "SELECT note FROM notes WHERE candidate_id = ?");
    bindAll(find, one.candidate.value());
    const std::string before = find.executeStep() ? find.getColumn(0).getString() : std::string();
    find.reset();
    if (before == one.note) {
      continue;
    }
    undo.note.push_back({one.candidate, before});
    if (one.note.empty()) {
      remove.run(one.candidate.value());
    } else {
      write.run(one.candidate.value(), one.note, now);
    }
  }
}

}  // namespace

Result<Annotations> Annotations::open(const std::filesystem::path& project) {
  SWAGE_TRY_ASSIGN(Database database,
                   Database::open(project / "runs.sqlite", {.access = Access::ReadWrite, .migrate = Migrate::No}));
  return Annotations(std::move(database));
}

Result<AnnotationEdit> Annotations::apply(const AnnotationEdit& edit) const {
  try {
    SQLite::Database& connection = m_database.connection();
    SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
    AnnotationEdit undo;
    removeAll(connection, "pins", edit.unpin, undo.pin);
    insertAll(connection, "pins", edit.pin, undo.unpin);
    removeAll(connection, "trash", edit.restore, undo.trash);
    insertAll(connection, "trash", edit.trash, undo.restore);
    changeTags(connection, edit, undo);
    changeNotes(connection, edit, undo);
    transaction.commit();
    return undo;
  } catch (const std::exception&) {
    return m_database.currentError("write the annotations of candidates");
  }
}

}  // namespace swage::store
