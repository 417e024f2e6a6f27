// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace swage::store {

// One step of the schema: SQL that leads from version - 1 to version.
struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;
};

// core/store/migrations/*.sql, embedded when the build is configured, in order of their versions from 1.
[[nodiscard]] std::span<const Migration> migrations();

}  // namespace swage::store
