// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>

// Positional binding. Exceptions of SQLiteCpp pass through.
namespace swage::store {

inline void bindOne(SQLite::Statement& statement, int index, int value) {
  statement.bind(index, value);
}
inline void bindOne(SQLite::Statement& statement, int index, std::int64_t value) {
  statement.bind(index, value);
}
inline void bindOne(SQLite::Statement& statement, int index, double value) {
  statement.bind(index, value);
}
inline void bindOne(SQLite::Statement& statement, int index, const std::string& value) {
  statement.bind(index, value);
}
inline void bindOne(SQLite::Statement& statement, int index, std::string_view value) {
  statement.bind(index, std::string(value));
}
template <class T>
void bindOne(SQLite::Statement& statement, int index, const std::optional<T>& value) {
  if (value) {
    bindOne(statement, index, *value);
  } else {
    statement.bind(index);
  }
}

template <class... Values>
void bindAll(SQLite::Statement& statement, const Values&... values) {
  int index = 0;
  (bindOne(statement, ++index, values), ...);
}

// Runs a statement that returns no rows; says how many rows it changed.
template <class... Values>
int execute(SQLite::Database& connection, const std::string& sql, const Values&... values) {
  SQLite::Statement statement(connection, sql);
  bindAll(statement, values...);
  return statement.exec();
}

}  // namespace swage::store
