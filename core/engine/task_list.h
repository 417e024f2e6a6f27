// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace swage::engine {

struct ListedTask {
  std::string name;  // of the file, without ".py"
  std::filesystem::path path;
  std::string description;  // the first line of its docstring; empty: it has none
};

// The Python files of a folder, by name; none where it cannot be read.
[[nodiscard]] std::vector<ListedTask> listTasks(const std::filesystem::path& folder);
// Of the string that a Python file begins with, after comments and empty lines.
[[nodiscard]] std::string firstDocLine(std::string_view source);

}  // namespace swage::engine
