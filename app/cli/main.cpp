// SPDX-License-Identifier: Apache-2.0
#include <QCoreApplication>
#include <QTimer>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "core/base/log.h"
#include "core/engine/settings_file.h"
#include "core/services/termination_signals.h"

namespace swage::cli {
namespace {

log::Level levelFor(int verbosity) {
  if (verbosity > 0) {
    return log::Level::Debug;
  }
  return verbosity < 0 ? log::Level::Error : log::Level::Warn;
}

Context contextFor(const Common& common) {
  Context context;
  context.common = common;
  context.locations =
      engine::Locations::find(std::filesystem::path(QCoreApplication::applicationDirPath().toStdString()));
  context.parts = engine::SessionParts::standard(context.locations);
  return context;
}

int runCommand(QCoreApplication& application, const Arguments& arguments) {
  log::setLevel(levelFor(arguments.common.verbosity));
  const auto notifier = services::TerminationSignals::install();
  if (!notifier) {
    printError(notifier.error(), arguments.common.form);
    return static_cast<int>(wire::ExitCode::Internal);
  }
  const std::unique_ptr<Command> command = makeCommand(arguments.command, contextFor(arguments.common));
  int count = 0;
  QObject::connect(notifier->get(), &services::TerminationSignals::received, command.get(),
                   [&](int signal) { command->interrupt(signal, ++count); });
  QObject::connect(command.get(), &Command::done, &application,
                   [](wire::ExitCode code) { QCoreApplication::exit(static_cast<int>(code)); });
  QTimer::singleShot(0, command.get(), &Command::start);
  return QCoreApplication::exec();
}

int run(int argc, char** argv) {
  const std::vector<std::string> texts(argv + 1, argv + argc);
  const auto settings = engine::SettingsFile(engine::configFile()).load();
  if (!settings) {
    printError(settings.error(), OutputForm::Text);
    return static_cast<int>(wire::exitCodeFor(settings.error().kind()));
  }
  engine::applyLocations(*settings);
  const auto parsed = parseArguments(texts, *settings);
  if (!parsed) {
    printError(parsed.error(), OutputForm::Text);
    return static_cast<int>(wire::exitCodeFor(parsed.error().kind()));
  }
  if (const auto* help = std::get_if<HelpText>(&*parsed)) {
    print(help->text);
    return static_cast<int>(wire::ExitCode::Ok);
  }
  // After parsing: Qt takes options of its own out of argv.
  QCoreApplication application(argc, argv);
  return runCommand(application, std::get<Arguments>(*parsed));
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
