// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/base/result.h"
#include "core/domain/annotation.h"
#include "core/store/database.h"

namespace swage::store {

// Writes what a person says about candidates, on the thread that opened it. Needs no lock of the project: a search, of
// this process or another, may write its candidates meanwhile, and SQLite has one of both wait for the other.
class Annotations {
 public:
  // Of a record that is there and up to date.
  [[nodiscard]] static Result<Annotations> open(const std::filesystem::path& project);

  // All of the edit or nothing. Returns the edit that undoes what really changed.
  [[nodiscard]] Result<domain::AnnotationEdit> apply(const domain::AnnotationEdit& edit) const;

 private:
  explicit Annotations(Database database) : m_database(std::move(database)) {}

  Database m_database;
};

}  // namespace swage::store
