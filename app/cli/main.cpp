// SPDX-License-Identifier: Apache-2.0
#include <QCoreApplication>
#include <QTimer>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <utility>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "app/cli/terminal.h"
#include "core/base/log.h"
#include "core/base/log_colors.h"
#include "core/engine/configuration.h"
#include "core/engine/settings_file.h"
#include "core/services/termination_signals.h"

namespace swage::cli {
namespace {

log::Level levelFor(int verbosity) {
  if (verbosity == 0) {
    const std::string wanted = environmentVariable("SWAGE_LOG").value_or("warn");
    return wanted == "debug"   ? log::Level::Debug
           : wanted == "info"  ? log::Level::Info
           : wanted == "error" ? log::Level::Error
                               : log::Level::Warn;
  }
  return verbosity < 0 ? log::Level::Error : verbosity == 1 ? log::Level::Info : log::Level::Debug;
}

void useColors(ColorWhen when) {
  const auto shows = [when](int stream) { return showsColor(when, ::isatty(stream) != 0, environmentVariable); };
  const ColorUse use{shows(STDOUT_FILENO), shows(STDERR_FILENO)};
  setColorUse(use);
  log::setColors(use.errors);
}

// Errors before the arguments are parsed are told in the form that they ask for, too.
OutputForm formNamed(const std::vector<std::string>& texts) {
  for (const auto& [name, form] :
       {std::pair("--json", OutputForm::Json), std::pair("--jsonl", OutputForm::JsonLines)}) {
    if (std::find(texts.begin(), texts.end(), name) != texts.end()) {
      return form;
    }
  }
  return OutputForm::Text;
}

// The project whose settings count: the one named, or the one that a command would take.
std::filesystem::path projectOfSettings(const std::vector<std::string>& texts) {
  if (std::filesystem::path named = projectNamed(texts); !named.empty()) {
    return named;
  }
  return environmentVariable("SWAGE_PROJECT").value_or(engine::isProject(".") ? "." : "");
}

// What is set, on top of which the arguments are parsed.
Result<services::Settings> loadSettings(const std::vector<std::string>& texts) {
  auto configuration = engine::Configuration::load(engine::ConfigurationPlaces::standard(projectOfSettings(texts)));
  if (!configuration && worksWithoutSettings(texts)) {
    return services::Settings{};
  }
  if (!configuration) {
    return configuration.error();
  }
  return configuration->settings();
}

// Counts more than the environment and files. The programs that are started hear of it in the same way.
void useSandbox(const std::string& sandbox) {
  if (!sandbox.empty()) {
    ::setenv("SWAGE_SANDBOX", sandbox.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): before any thread
  }
}

// A search says it as a notice of its own.
void warnWithoutSandbox(const CommandArguments& command, const Context& context) {
  const bool compiles =
      std::holds_alternative<VerifyArguments>(command) || std::holds_alternative<EvaluateArguments>(command) ||
      std::holds_alternative<ExportArguments>(command) || std::holds_alternative<McpArguments>(command);
  if (compiles && context.parts.programs.sandbox == process::kNoSandbox) {
    log::warn("kernels are compiled without a sandbox");
  }
}

Context contextFor(const Common& common) {
  Context context;
  context.common = common;
  context.locations =
      process::Locations::find(std::filesystem::path(QCoreApplication::applicationDirPath().toStdString()));
  context.parts = run::SessionParts::standard(context.locations);
  return context;
}

int runCommand(QCoreApplication& application, const Arguments& arguments) {
  log::setLevel(levelFor(arguments.common.verbosity));
  const auto notifier = services::TerminationSignals::install();
  if (!notifier) {
    printError(notifier.error(), arguments.common.form);
    return static_cast<int>(wire::ExitCode::Internal);
  }
  Context context = contextFor(arguments.common);
  warnWithoutSandbox(arguments.command, context);
  const auto made = makeCommand(arguments.command, std::move(context));
  if (!made) {
    printError(made.error(), arguments.common.form);
    return static_cast<int>(wire::exitCodeFor(made.error().kind()));
  }
  Command* const command = made->get();
  int count = 0;
  QObject::connect(notifier->get(), &services::TerminationSignals::received, command,
                   [&](int signal) { command->interrupt(signal, ++count); });
  QObject::connect(command, &Command::done, &application,
                   [](wire::ExitCode code) { QCoreApplication::exit(static_cast<int>(code)); });
  QTimer::singleShot(0, command, &Command::start);
  return QCoreApplication::exec();
}

// What is opened next would take the place of a standard stream that is closed.
void openStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) {
      static_cast<void>(::open("/dev/null", O_RDWR));
    }
  }
}

int run(int argc, char** argv) {
  openStandardStreams();
  const std::vector<std::string> texts(argv + 1, argv + argc);
  useColors(ColorWhen::Auto);
  const auto leave = [&texts](const Error& error) {
    printError(error, formNamed(texts));
    return static_cast<int>(wire::exitCodeFor(error.kind()));
  };
  const auto settings = loadSettings(texts);
  if (!settings) {
    return leave(settings.error());
  }
  engine::applyLocations(*settings);
  const auto parsed = parseArguments(texts, *settings);
  if (!parsed) {
    return leave(parsed.error());
  }
  if (const auto* help = std::get_if<HelpText>(&*parsed)) {
    print(help->text);
    return static_cast<int>(wire::ExitCode::Ok);
  }
  const auto& arguments = std::get<Arguments>(*parsed);
  useColors(arguments.common.color);
  useSandbox(arguments.common.sandbox);
  // After parsing: Qt takes options of its own out of argv.
  QCoreApplication application(argc, argv);
  return runCommand(application, arguments);
}

}  // namespace
}  // namespace swage::cli

int main(int argc, char** argv) {
  try {
    return swage::cli::run(argc, argv);
  } catch (const std::exception& exception) {
    swage::log::error("swage failed: {}", exception.what());
    return static_cast<int>(swage::wire::ExitCode::Internal);
  }
}
