// SPDX-License-Identifier: Apache-2.0
#include "core/store/project_folder.h"

#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "core/base/files.h"

namespace swage::store {
namespace {

constexpr std::string_view kIgnoreRules =
    "# Written by Swage: what a project measures stays out of version control; exports/ does not.\n"
    "/runs.sqlite*\n/runs.lock\n/artifacts/\n/tasks/\n";

Error folderError(const std::filesystem::path& project, std::string_view why) {
  return Error(ErrorKind::Storage, fmt::format("cannot write the project directory '{}': {}", project.string(), why),
               "Choose a project directory that you may write to.");
}

}  // namespace

Result<> makeProjectFolder(const std::filesystem::path& project) {
  std::error_code failure;
  std::filesystem::create_directories(project, failure);
  if (failure || !std::filesystem::is_directory(project, failure)) {
    return folderError(project, failure ? failure.message() : "it is not a directory");
  }
  return {};
}

Result<IgnoreRules> writeIgnoreRules(const std::filesystem::path& project) {
  const std::filesystem::path file = project / ".gitignore";
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    return IgnoreRules::Kept;
  }
  if (auto written = writeFileAtomically(file, kIgnoreRules); !written) {
    return folderError(project, written.error().message());
  }
  return IgnoreRules::Written;
}

}  // namespace swage::store
