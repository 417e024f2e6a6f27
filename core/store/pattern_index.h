// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/pattern_entry.h"
#include "core/store/database.h"

namespace swage::store {

// A piece as it is kept: with its vector, one signed byte for each dimension, by which it is found.
struct IndexedPattern {
  std::int64_t id = 0;
  domain::PatternEntry entry;
  std::string vector;
};

// The index of patterns of one user: a SQLite file that can be deleted at any time, because it is made anew from what
// it indexes. Pieces come in units, such as a file, each with a stamp that tells whether it has changed. One thread
// only; failures are ErrorKind::Storage.
class PatternIndex {
 public:
  // Makes the file and its folder. A file of another version, or a damaged one, is replaced by an empty one.
  [[nodiscard]] static Result<PatternIndex> open(const std::filesystem::path& file);

  // The stamp of each unit.
  [[nodiscard]] Result<std::map<std::string, std::string>> units() const;
  struct Unit {
    std::string name;
    std::string stamp;
    std::vector<IndexedPattern> patterns;  // their ids count for nothing
  };
  // In one transaction: these units take the place of those with their names, and `gone` are taken out.
  [[nodiscard]] Result<> replace(const std::vector<Unit>& units, const std::vector<std::string>& gone);

  // All pieces, without their bodies, by id.
  [[nodiscard]] Result<std::vector<IndexedPattern>> patterns() const;
  // Of some ids, in their order.
  [[nodiscard]] Result<std::vector<domain::PatternEntry>> entries(const std::vector<std::int64_t>& ids) const;
  // The ids of those that have one of the words, best first by BM25. Words are letters and digits only.
  [[nodiscard]] Result<std::vector<std::int64_t>> matching(const std::vector<std::string>& words, int limit) const;

  // What was learned from the pieces, by name; empty: nothing was.
  [[nodiscard]] Result<std::string> value(std::string_view name) const;
  [[nodiscard]] Result<> setValue(std::string_view name, std::string_view value);

 private:
  explicit PatternIndex(Database database) : m_database(std::move(database)) {}

  Database m_database;
};

}  // namespace swage::store
