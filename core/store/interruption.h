// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <functional>

#include <SQLiteCpp/SQLiteCpp.h>

namespace swage::store {

// While it lives, SQLite asks every so many of its instructions whether to go on: a sort does not come back to us in
// between. What is running then ends with an exception.
class Interruption {
 public:
  Interruption(SQLite::Database& connection, const std::function<bool()>& isCancelled)
      : m_handle(connection.getHandle()), m_isCancelled(isCancelled) {
    constexpr int kInstructions = 10'000;
    sqlite3_progress_handler(
        m_handle, kInstructions,
        [](void* self) { return static_cast<const Interruption*>(self)->m_isCancelled() ? 1 : 0; }, this);
  }
  ~Interruption() { sqlite3_progress_handler(m_handle, 0, nullptr, nullptr); }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  sqlite3* m_handle;
  const std::function<bool()>& m_isCancelled;
};

}  // namespace swage::store
