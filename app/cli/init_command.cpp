// SPDX-License-Identifier: Apache-2.0
#include "app/cli/init_command.h"

#include <fmt/format.h>

namespace swage::cli {

domain::Json toJson(const engine::NewProject& made) {
  domain::Json json{
      {"project", made.folder.string()}, {"written", domain::Json::array()}, {"kept", domain::Json::array()}};
  for (const std::filesystem::path& file : made.written) {
    json["written"].push_back(file.string());
  }
  for (const std::filesystem::path& file : made.kept) {
    json["kept"].push_back(file.string());
  }
  return json;
}

std::string newProjectText(const engine::NewProject& made) {
  std::string text = fmt::format("{} is a project\n", made.folder.string());
  for (const std::filesystem::path& file : made.written) {
    text += fmt::format("  wrote {}\n", file.filename().string());
  }
  for (const std::filesystem::path& file : made.kept) {
    text += fmt::format("  kept {}, which is yours: runs.sqlite*, runs.lock and artifacts/ belong into it\n",
                        file.filename().string());
  }
  return text;
}

void InitCommand::start() {
  const Result<engine::NewProject> made = engine::makeProject(m_arguments.folder);
  if (!made) {
    fail(made.error());
    return;
  }
  if (form() == OutputForm::Text) {
    print(newProjectText(*made));
  } else {
    printJson(toJson(*made));
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

}  // namespace swage::cli
