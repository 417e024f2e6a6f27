// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace swage::engine {

// The files of a folder that was made a project.
struct NewProject {
  std::filesystem::path folder;                // absolute
  std::vector<std::filesystem::path> written;  // absolute, as all here
  std::vector<std::filesystem::path> kept;     // were there, and are as they were
};

// Writes the project's settings and its ignore file, also into a folder that has a record already; makes the folder
// where there is none. Blocking, on any thread. Kind Usage: the folder has a file of settings. Kind Storage: it cannot
// be written.
[[nodiscard]] Result<NewProject> makeProject(const std::filesystem::path& folder);

// What project.toml begins with: the settings of searches, made of services::settingKeys(), each with its meaning and
// its default, as comments.
[[nodiscard]] std::string projectSettingsText();

}  // namespace swage::engine
