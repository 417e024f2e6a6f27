// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <string>

#include "app/cli/arguments.h"
#include "core/base/error.h"
#include "core/domain/assurance.h"
#include "core/domain/json.h"
#include "core/engine/record_service_impl.h"
#include "core/process/locations.h"
#include "core/run/session_parts.h"
#include "core/wire/exit_code.h"

namespace swage::cli {

// What every command is given.
struct Context {
  Common common;
  process::Locations locations;
  run::SessionParts parts;
};

// One command of the program: start() once, then exactly one done(). Data goes to standard output, everything else to
// standard error.
class Command : public QObject {
  Q_OBJECT

 public:
  explicit Command(Context context) : m_context(std::move(context)) {}
  virtual void start() = 0;
  // A signal that asks to end; `count` is 1 for the first.
  virtual void interrupt(int signal, int count);

 Q_SIGNALS:
  void done(swage::wire::ExitCode code);

 protected:
  [[nodiscard]] const Context& context() const { return m_context; }
  [[nodiscard]] OutputForm form() const { return m_context.common.form; }
  // Reports the error in the chosen form, and ends.
  void fail(const Error& error);
  [[nodiscard]] static wire::ExitCode exitCodeForSignal(int signal);
  // The project named, else $SWAGE_PROJECT, else the current folder if it is one, else the one used last.
  [[nodiscard]] Result<std::filesystem::path> existingProject() const;
  // Where a search of the task is recorded: the same, but for the last, instead of which there is one named after the
  // task.
  [[nodiscard]] std::filesystem::path projectFor(const std::string& task) const;

 private:
  [[nodiscard]] std::filesystem::path namedOrHere() const;  // empty: neither

  Context m_context;
};

// NotFound: there is no such GPU.
[[nodiscard]] Result<std::unique_ptr<Command>> makeCommand(const CommandArguments& arguments, Context context);

// Into the project's record; a record that another process writes is no reason to fail, but one to say so.
void keepAssurance(const std::filesystem::path& project, domain::CandidateId candidate,
                   const domain::Assurance& assurance);

// Writes all of it; a reader that has gone away is no error.
void print(std::string_view text);
void printJson(const domain::Json& json);
void printError(const Error& error, OutputForm form);

}  // namespace swage::cli
