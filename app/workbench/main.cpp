// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QTimer>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>

#include "app/workbench/engine_services.h"
#include "app/workbench/options.h"
#include "app/workbench/quit_signals.h"
#include "app/workbench/script.h"
#include "core/base/log.h"
#include "core/wire/exit_code.h"
#include "ui/shell/main_window.h"

namespace swage::workbench {
namespace {

int leave(const Error& error) {
  log::error("{}", error.message());
  if (!error.hint().empty()) {
    log::info("{}", error.hint());
  }
  return static_cast<int>(wire::exitCodeFor(error.kind()));
}

bool isSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Qt would abort.
bool hasDisplay() {
  return isSet("DISPLAY") || isSet("WAYLAND_DISPLAY") || isSet("QT_QPA_PLATFORM");
}

// $XDG_STATE_HOME: QStandardPaths knows it from Qt 6.7 on.
std::filesystem::path stateFile() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path folder = state != nullptr && *state == '/'
                                           ? std::filesystem::path(state)
                                           : std::filesystem::path(home != nullptr ? home : "/") / ".local/state";
  return folder / "swage/workbench.json";
}

ui::WindowOptions windowOptions(const Options& options, const engine::Locations& locations) {
  ui::WindowOptions window;
  window.spec = options.spec;
  window.spec.task = engine::resolveTask(options.spec.task, locations);
  window.tasksFolder = QString::fromStdString(locations.tasks.string());
  window.projectOf = [](const std::string& task) { return engine::defaultProject(task); };
  window.themeOfThisStart = options.theme;
  if (options.screenshot.empty()) {
    window.stateFile = stateFile();
  }
  return window;
}

int showWindow(QApplication& application, const Options& options) {
  const engine::Locations locations =
      engine::Locations::find(std::filesystem::path(QApplication::applicationDirPath().toStdString()));
  EngineServices services(locations, options.selfTest);
  const ui::WindowOptions settings = windowOptions(options, locations);
  const ui::ShellState remembered = ui::loadShellState(settings.stateFile);
  ui::ThemeController theme(application);
  theme.setColorMap(remembered.heat);
  theme.choose(options.theme.value_or(remembered.theme));
  ui::RealDialogs dialogs;
  ui::MainWindow window({services.run, services.record, services.exporter, dialogs, theme, &services.patterns},
                        settings);
  services.exporter.setProject([&window] { return window.session().project(); });
  Script script(window, options);
  const auto quitSignals = QuitSignals::install();
  if (!quitSignals) {
    return leave(quitSignals.error());
  }
  QObject::connect(quitSignals->get(), &QuitSignals::received, &window, &QWidget::close);
  QApplication::setQuitOnLastWindowClosed(false);
  QObject::connect(&application, &QGuiApplication::lastWindowClosed, &script,
                   [&script] { QApplication::exit(script.exitCode()); });
  window.show();
  QTimer::singleShot(0, &script, &Script::run);
  return QApplication::exec();
}

int run(int argc, char** argv) {
  const auto parsed = parseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!parsed) {
    return leave(parsed.error());
  }
  if (const auto* help = std::get_if<HelpText>(&*parsed)) {
    std::fputs(help->text.c_str(), stdout);
    return static_cast<int>(wire::ExitCode::Ok);
  }
  if (!hasDisplay()) {
    return leave(Error(ErrorKind::Environment, "cannot open a window: there is no display",
                       "run the same search on the command line: swage optimize TASK"));
  }
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("Swage"));
  QApplication::setApplicationVersion(QStringLiteral(SWAGE_VERSION));
  QApplication::setDesktopFileName(QStringLiteral("swage-workbench"));
  return showWindow(application, std::get<Options>(*parsed));
}

}  // namespace
}  // namespace swage::workbench

int main(int argc, char** argv) {
  try {
    return swage::workbench::run(argc, argv);
  } catch (const std::exception& exception) {
    swage::log::error("swage-workbench failed: {}", exception.what());
    return static_cast<int>(swage::wire::ExitCode::Internal);
  }
}
