// SPDX-License-Identifier: Apache-2.0
#include "core/engine/new_project.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/fd.h"
#include "core/base/files.h"
#include "core/base/scope_exit.h"
#include "core/base/system_message.h"
#include "core/engine/configuration.h"
#include "core/engine/settings_text.h"
#include "core/services/setting_keys.h"
#include "core/store/project_folder.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;

// What a project sets for itself; editor, colours and locations are a person's.
constexpr std::array<std::string_view, 2> kProjectSections{"search", "swarm"};

constexpr std::string_view kAboutSettings =
    "Settings of this project, for the command line and the window. They count more than those of the user, and less "
    "than the environment and the options of a command. Take the # away in front of a setting to set it; `swage config "
    "list --origin` shows what is set where. Keys of language models do not belong here: see `swage keys`.";

// Lines of a comment.
std::string commented(std::string_view text) {
  constexpr std::size_t kWidth = 100;
  std::string result;
  std::string line = "#";
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.size() > 1 && line.size() + 1 + word.size() > kWidth) {
      result += line + '\n';
      line = "#";
    }
    line += ' ';
    line += word;
  }
  return result + line + '\n';
}

std::string settingLines(const services::SettingKey& key, std::string_view name) {
  const std::string choices =
      key.choices.empty() ? std::string() : fmt::format(" (one of {})", fmt::join(key.choices, ", "));
  return commented(std::string(key.meaning) + choices) + fmt::format("# {} = {}\n", name, tomlText(key.standard));
}

Error isThere(const fs::path& folder, const fs::path& file) {
  return Error(ErrorKind::Usage,
               fmt::format("cannot make '{}' a project: it already has the settings file '{}'", folder.string(),
                           file.filename().string()),
               "nothing was changed; name another folder, or edit that file");
}

// Not over a file that came meanwhile.
Result<> writeSettings(const fs::path& folder, const fs::path& file) {
  const Fd created(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!created.isOpen()) {
    const int code = errno;
    return code == EEXIST
               ? isThere(folder, file)
               : Error(ErrorKind::Storage, fmt::format("cannot create '{}': {}", file.string(), systemMessage(code)),
                       "Choose a project directory that you may write to.");
  }
  ScopeExit discard([&file] {
    std::error_code ignored;
    fs::remove(file, ignored);
  });
  SWAGE_TRY(writeFileAtomically(file, projectSettingsText()));
  discard.release();
  return {};
}

// Without "." and a slash at its end.
fs::path tidied(const fs::path& folder) {
  std::error_code failure;
  const fs::path whole = fs::absolute(folder.empty() ? fs::path(".") : folder, failure).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

Result<NewProject> makeProject(const fs::path& folder) {
  NewProject made{.folder = tidied(folder), .written = {}, .kept = {}};
  const fs::path settings = ConfigurationPlaces::standard(made.folder).projectFile();
  if (std::error_code ignored; fs::exists(settings, ignored)) {
    return isThere(made.folder, settings);
  }
  SWAGE_TRY(store::makeProjectFolder(made.folder));
  SWAGE_TRY_ASSIGN(const store::IgnoreRules rules, store::writeIgnoreRules(made.folder));
  SWAGE_TRY(writeSettings(made.folder, settings));
  made.written.push_back(settings);
  (rules == store::IgnoreRules::Written ? made.written : made.kept).push_back(made.folder / ".gitignore");
  return made;
}

std::string projectSettingsText() {
  std::string text = commented(kAboutSettings) + fmt::format("version = {}\n", kSettingsVersion);
  std::string_view section;
  for (const services::SettingKey& key : services::settingKeys()) {
    const std::size_t dot = key.name.find('.');
    const std::string_view own = key.name.substr(0, dot);
    if (std::find(kProjectSections.begin(), kProjectSections.end(), own) == kProjectSections.end()) {
      continue;
    }
    text += own == section ? "\n" : fmt::format("\n[{}]\n", own);
    section = own;
    text += settingLines(key, key.name.substr(dot + 1));
  }
  return text;
}

}  // namespace swage::engine
