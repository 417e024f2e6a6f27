// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QProcess>
#include <QTimer>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/workbench/benchmark.h"
#include "app/workbench/crash_handler.h"
#include "app/workbench/demo.h"
#include "app/workbench/engine_services.h"
#include "app/workbench/options.h"
#include "app/workbench/script.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/engine/configuration.h"
#include "core/engine/devices_service_impl.h"
#include "core/engine/pattern_service_impl.h"
#include "core/services/devices_service.h"
#include "core/services/termination_signals.h"
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

std::filesystem::path crashFolder() {
  return process::stateFolder() / "crashes";
}

// From here on a crash leaves a note that ends with the last lines of the log.
std::unique_ptr<CrashHandler> watchForCrashes() {
  auto handler = CrashHandler::install(crashFolder());
  if (!handler) {
    log::warn("a crash would leave no note: {}", handler.error().message());
    return nullptr;
  }
  log::setObserver([](log::Level, std::string_view line) { CrashHandler::remember(line); });
  return std::move(*handler);
}

// The record of another project, to compare with.
Result<std::shared_ptr<services::RecordService>> openRecord(const std::filesystem::path& project) {
  auto record = std::make_shared<engine::RecordServiceImpl>();
  SWAGE_TRY(record->open(project));
  return std::shared_ptr<services::RecordService>(std::move(record));
}

// Another of these programs. It does not end with this one.
Result<> startProgram(const QStringList& arguments) {
  if (!QProcess::startDetached(QApplication::applicationFilePath(), arguments)) {
    return Error(ErrorKind::Io, "cannot start '" + QApplication::applicationFilePath().toStdString() + "'");
  }
  return {};
}

void offerWindows(ui::WindowOptions& window) {
  window.openDemo = [] { return startProgram({QStringLiteral("--demo")}); };
  window.openWindow = [](const QString& task, const QString& project) {
    QStringList arguments;
    if (!task.isEmpty()) {
      arguments << task;
    }
    if (!project.isEmpty()) {
      arguments << QStringLiteral("--project") << project;
    }
    return startProgram(arguments);
  };
  window.restoreWindow = [](const QString& place) { return startProgram({QStringLiteral("--restore-window"), place}); };
  window.closeOther = [](qint64 process) { static_cast<void>(::kill(static_cast<pid_t>(process), SIGTERM)); };
}

ui::WindowOptions windowOptions(const WorkbenchOptions& options, const process::Locations& locations) {
  ui::WindowOptions window;
  window.spec = options.spec;
  window.spec.task = process::resolveTask(options.spec.task, locations);
  window.tasksFolder = QString::fromStdString(locations.tasks.string());
  window.projectOf = [](const std::string& task) { return process::defaultProject(task); };
  offerWindows(window);
  window.themeOfThisStart = options.theme;
  window.safeMode = options.safeMode;
  if (options.screenshot.empty()) {
    window.stateFile = process::stateFolder() / "workbench.json";
    window.drafts = process::stateFolder() / "drafts";
    window.windows = process::stateFolder() / "windows";
    window.place = QString::fromStdString(options.restoreWindow);
    if (const std::vector<CrashNote> notes = takeCrashNotes(crashFolder()); !notes.empty()) {
      window.crashNote = QString::fromStdString(notes.front().text);
    }
  }
  return window;
}

// Shows the window until it is closed.
int showWindow(QApplication& application, const WorkbenchOptions& options, const ui::WindowServices& services,
               const ui::WindowOptions& settings) {
  ui::MainWindow window(services, settings);
  Script script(window, options);
  const std::unique_ptr<CrashHandler> crashHandler = watchForCrashes();
  const auto quitSignals = services::TerminationSignals::install();
  if (!quitSignals) {
    return leave(quitSignals.error());
  }
  QObject::connect(quitSignals->get(), &services::TerminationSignals::received, &window, [&window] {
    window.keepForNextStart();  // the desktop, or another window, ends all of them
    window.close();
  });
  QObject::connect(
      &application, &QGuiApplication::commitDataRequest, &window, [&window] { window.keepForNextStart(); },
      Qt::DirectConnection);
  QApplication::setQuitOnLastWindowClosed(false);
  QObject::connect(&application, &QGuiApplication::lastWindowClosed, &script,
                   [&script] { QApplication::exit(script.exitCode()); });
  window.show();
  QTimer::singleShot(0, &script, &Script::run);
  return QApplication::exec();
}

// What makes no sense is passed over: `swage config` says so.
std::vector<int> devicesOf(const services::Settings& settings, const process::Locations& locations) {
  const auto found = settings.find("search.devices");
  const auto* text = found != settings.end() ? std::get_if<std::string>(&found->second) : nullptr;
  const auto named = services::parseDevices(text != nullptr ? *text : std::string());
  if (!named) {
    return {};
  }
  const auto numbers = engine::findDevices(locations, *named);
  if (!numbers) {
    log::warn("search.devices: {}", numbers.error().message());
  }
  return numbers.value_or(std::vector<int>());
}

// What is set for the user, the system, the environment, and the project that this start names. If one of the files
// cannot be read, the user's alone: of that one, the window complains itself.
EngineOptions engineOptions(const WorkbenchOptions& options) {
  const services::RunSpec& spec = options.spec;
  const auto configuration = engine::Configuration::load(engine::ConfigurationPlaces::standard(
      !spec.project.empty() || spec.task.empty() ? spec.project : process::defaultProject(spec.task)));
  EngineOptions result;
  result.selfTest = options.selfTest;
  if (configuration) {
    result.settings = configuration->settings();
    result.aboveUser = configuration->aboveUser();
    result.belowUser = configuration->belowUser();
  } else {
    log::warn("{}", configuration.error().message());
    result.settings = engine::SettingsFile(engine::configFile()).load().value_or(services::Settings());
  }
  return result;
}

int showEngine(QApplication& application, const WorkbenchOptions& options) {
  EngineOptions wanted = engineOptions(options);
  engine::applyLocations(wanted.settings);
  const process::Locations locations =
      process::Locations::find(std::filesystem::path(QApplication::applicationDirPath().toStdString()));
  wanted.devices = devicesOf(wanted.settings, locations);
  EngineServices services(locations, wanted);
  ui::ThemeController theme(application);
  ui::RealDialogs dialogs;
  return showWindow(application, options,
                    {.run = services.run,
                     .record = services.record,
                     .exporter = services.exporter,
                     .dialogs = dialogs,
                     .theme = theme,
                     .exportChecks = &services.exportChecks,
                     .edits = &services.edits,
                     .compiles = &services.compiles,
                     .profiles = &services.profiles,
                     .compare = &services.record,
                     .patterns = &services.patterns,
                     .patternSearch = &services.patternSearch,
                     .doctor = &services.doctor,
                     .selfTest = &services.selfTest,
                     .recordCheck = &services.recordCheck,
                     .reports = &services.reports,
                     .benchmarks = &services.benchmarks,
                     .swarm = &services.swarm,
                     .endpoints = &services.endpoints,
                     .openRecord = openRecord,
                     .settings = &services.settings},
                    windowOptions(options, locations));
}

int showDemo(QApplication& application, WorkbenchOptions options) {
  const process::Locations locations =
      process::Locations::find(std::filesystem::path(QApplication::applicationDirPath().toStdString()));
  options.screenshotAfterRun = !options.screenshot.empty();
  const auto demo = Demo::open(locations, options.screenshotAfterRun ? Demo::Pace::ToItsEnd : Demo::Pace::ToWatch);
  if (!demo) {
    return leave(demo.error());
  }
  const engine::PatternServiceImpl patterns(locations.patterns);
  ui::ThemeController theme(application);
  ui::RealDialogs dialogs;
  ui::WindowOptions window;
  const services::RunSummary recorded = (*demo)->record().runs()->front();
  window.spec.task = process::resolveTask(recorded.taskName, locations);
  window.spec.target = recorded.target;
  window.spec.timeBudgetSeconds = std::ceil((*demo)->record().end());
  window.spec.project = (*demo)->project();
  window.tasksFolder = QString::fromStdString(locations.tasks.string());
  window.mode = QApplication::translate("demo", "Demo: recorded run, nothing is measured");
  window.modeMeaning = QApplication::translate("demo",
                                               "A search recorded on %1 is replayed. Start swage-workbench without "
                                               "--demo to search on this machine.")
                           .arg(QString::fromStdString(recorded.deviceName));
  window.themeOfThisStart = options.theme;
  options.start = true;
  return showWindow(application, options,
                    {.run = (*demo)->run(),
                     .record = (*demo)->record(),
                     .exporter = (*demo)->exporter(),
                     .dialogs = dialogs,
                     .theme = theme,
                     .edits = &(*demo)->edits(),
                     .profiles = &(*demo)->profiles(),
                     .compare = &(*demo)->compare(),
                     .patterns = &patterns},
                    window);
}

// The example of middle length among those of a language's patterns, as a search would compile it.
Result<domain::CompileRequest> exampleOf(const std::filesystem::path& patterns, domain::Language language) {
  const domain::LanguageFacts& facts = domain::factsOf(language);
  domain::CompileRequest request;
  request.language = language;
  request.entries = {"swage_kernel_0"};
  request.architecture = facts.architecture.empty() ? "sm_90a" : facts.architecture;
  const engine::PatternServiceImpl service(patterns);
  SWAGE_TRY_ASSIGN(const std::vector<services::PatternInfo> known, service.patterns());
  std::vector<std::string> sources;
  for (const services::PatternInfo& pattern : known) {
    if (pattern.language == facts.displayName && !pattern.source.empty()) {
      sources.push_back(pattern.source);
    }
  }
  if (sources.empty()) {
    return Error(ErrorKind::NotFound, fmt::format("there is no pattern in {}", facts.displayName));
  }
  const auto middle = sources.begin() + static_cast<std::ptrdiff_t>(sources.size() / 2);
  std::nth_element(sources.begin(), middle, sources.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  request.source = *middle;
  return request;
}

Result<DraftTimes> timeDrafts(domain::Language language) {
  constexpr int kDrafts = 15;
  const process::Locations locations =
      process::Locations::find(std::filesystem::path(QApplication::applicationDirPath().toStdString()));
  engine::CompileServiceImpl compiles(engine::CompileServiceImpl::standard(
      process::Programs::standard(locations).compilerCommand, process::cacheFolder()));
  SWAGE_TRY_ASSIGN(const domain::CompileRequest request, exampleOf(locations.patterns, language));
  return measureDrafts(
      compiles, [&compiles](domain::CompileRequest draft) { return compiles.compile(std::move(draft)); }, request,
      kDrafts);
}

int run(int argc, char** argv) {
  const auto parsed = parseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!parsed) {
    return leave(parsed.error());
  }
  if (const auto* help = std::get_if<UsageText>(&*parsed)) {
    std::fputs(help->text.c_str(), stdout);
    return static_cast<int>(wire::ExitCode::Ok);
  }
  if (!hasDisplay()) {
    return leave(Error(ErrorKind::Environment, "cannot open a window: there is no display",
                       "run the same search on the command line: swage optimize TASK"));
  }
  const WorkbenchOptions& options = std::get<WorkbenchOptions>(*parsed);
  if (options.benchmark) {
    TimedApplication application(argc, argv);
    return runBenchmark(application, {.seconds = options.benchmarkSeconds,
                                      .json = options.json,
                                      .swarm = options.benchmarkSwarm,
                                      .drafts = timeDrafts});
  }
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("Swage"));
  QApplication::setApplicationVersion(QStringLiteral(SWAGE_VERSION));
  QApplication::setDesktopFileName(QStringLiteral("swage-workbench"));
  return options.demo ? showDemo(application, options) : showEngine(application, options);
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
