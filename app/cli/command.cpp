// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

#include <signal.h>

#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "app/cli/terminal.h"
#include "core/base/log.h"
#include "core/domain/json.h"
#include "core/engine/configuration.h"
#include "core/trust/trust.h"

namespace swage::cli {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void printJson(const domain::Json& json) {
  // Messages of compilers and of Python may hold any bytes.
  print(json.dump(-1, ' ', false, domain::Json::error_handler_t::replace) + '\n');
}

void printError(const Error& error, OutputForm form) {
  std::string text = paintedError(Tone::Bad, "swage: ") + error.message() + '\n';
  if (!error.hint().empty()) {
    text += paintedError(Tone::Dim, "hint: ") + error.hint() + '\n';
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
  if (form != OutputForm::Text) {
    printJson({{"error", {{"kind", name(error.kind())}, {"message", error.message()}, {"hint", error.hint()}}}});
  }
}

void keepAssurance(const std::filesystem::path& project, domain::CandidateId candidate,
                   const domain::Assurance& assurance) {
  if (const Result<> kept = trust::recordAssurance(project, candidate, assurance); !kept) {
    log::info("the result of the checks is not recorded: {}", kept.error().message());
  }
}

void Command::interrupt(int signal, int count) {
  static_cast<void>(count);
  Q_EMIT done(exitCodeForSignal(signal));
}

void Command::fail(const Error& error) {
  printError(error, form());
  Q_EMIT done(wire::exitCodeFor(error.kind()));
}

wire::ExitCode Command::exitCodeForSignal(int signal) {
  return signal == SIGINT ? wire::ExitCode::Interrupted : wire::ExitCode::Terminated;
}

std::filesystem::path Command::namedOrHere() const {
  if (!m_context.common.project.empty()) {
    return m_context.common.project;
  }
  if (const auto chosen = environmentVariable("SWAGE_PROJECT")) {
    return *chosen;
  }
  std::error_code ignored;
  return engine::isProject(".") ? std::filesystem::current_path(ignored) : std::filesystem::path();
}

Result<std::filesystem::path> Command::existingProject() const {
  if (std::filesystem::path project = namedOrHere(); !project.empty()) {
    return project;
  }
  std::vector<std::filesystem::path> known = process::knownProjects();
  if (known.empty()) {
    return Error(ErrorKind::NotFound, "there is no project yet",
                 "`swage optimize TASK` makes one; --project DIR names one");
  }
  return known.front();
}

std::filesystem::path Command::projectFor(const std::string& task) const {
  std::filesystem::path project = namedOrHere();
  return project.empty() ? process::defaultProject(task) : project;
}

}  // namespace swage::cli
