// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/options.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include <QString>
#include <QStringList>

#include "core/services/overrides.h"
#include "ui/models/format.h"
#include "ui/models/task_catalogue.h"
#include "ui/shell/page_descriptors.h"

namespace swage::workbench {
namespace {

// What CLI11 fills in, before it becomes WorkbenchOptions.
struct Raw {
  WorkbenchOptions options;
  std::string project;
  std::string timeBudget = "60s";
  std::vector<std::string> overrides;
  std::string theme;
  std::string layout;
  std::string size;
  std::string screenshot;
  bool noSelfTest = false;
};

void declare(CLI::App& app, Raw& raw) {
  services::RunSpec& spec = raw.options.spec;
  app.set_version_flag("--version", "swage-workbench " SWAGE_VERSION);
  app.add_option("task", spec.task, "FILE.py, FILE.py:Class, a bundle, or the name of a bundled task")
      ->type_name("TASK");
  app.add_option("--project", raw.project, "Project directory to show and to write")->type_name("DIR");
  auto* start = app.add_flag("--start", raw.options.start, "Start the search at once");
  app.add_option("--target", spec.target, "cpu, cuda or auto")
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}))
      ->type_name("TARGET")
      ->capture_default_str();
  app.add_option("--time-budget", raw.timeBudget, "Search time: 60s, 2m, 1h30m")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--max-evaluations", spec.maxEvaluations, "Stop after this many candidates")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--seed", spec.seed,
                 "The same seed proposes the same candidates, unless measured times differ; 0: as in the settings")
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--set", raw.overrides, "Override a module-level constant of the file")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  app.add_flag("--no-self-test", raw.noSelfTest, "Search without the self-test of this device");
  app.add_flag("--demo", raw.options.demo, "Play a recorded search: needs no GPU, no compiler and no Python");
  auto* benchmark = app.add_flag("--benchmark", raw.options.benchmark,
                                 "Flood the window with 10,000 events a second, compile drafts, and print the times");
  app.add_option("--benchmark-seconds", raw.options.benchmarkSeconds, "How long")
      ->check(CLI::PositiveNumber)
      ->type_name("S")
      ->capture_default_str()
      ->needs(benchmark);
  app.add_flag("--benchmark-swarm", raw.options.benchmarkSwarm,
               "With the Agents page in front, and models that write 250,000 tokens a second together")
      ->needs(benchmark);
  app.add_flag("--json", raw.options.json, "Print the benchmark as JSON")->needs(benchmark);
  app.add_option("--restore-window", raw.options.restoreWindow,
                 "Open one window of the last session again; a start without a task and a project opens all of them")
      ->type_name("PLACE");
  app.add_flag("--safe-mode", raw.options.safeMode, "Restore and remember nothing of the window");
  app.add_option("--theme", raw.theme, "light, dark or system")->check(CLI::IsMember({"light", "dark", "system"}));
  app.add_option("--layout", raw.layout, "search, inspect or compare")
      ->check(CLI::IsMember({"search", "inspect", "compare"}));
  std::vector<std::string> pages;
  for (const ui::PageDescriptor& page : ui::describePages()) {
    pages.push_back(page.id.toStdString());
  }
  app.add_option("--page", raw.options.pages, "Bring this page to the front: archive, agents, profile, …")
      ->check(CLI::IsMember(pages))
      ->type_name("PAGE")
      ->expected(1)
      ->take_all();
  app.add_option(
         "--command", raw.options.commands,
         "Then give this command of the menus, by its name under [shortcuts] in the settings: compareWithParent, …")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  app.add_option("--size", raw.size, "Size of the window: 1600x1000")->type_name("WIDTHxHEIGHT");
  auto* screenshot =
      app.add_option("--screenshot", raw.screenshot,
                     "Write a picture of the window, with --demo at its end, and leave unless a search runs")
          ->type_name("FILE.png");
  app.add_flag("--after-run", raw.options.screenshotAfterRun, "Take the picture when the search has ended")
      ->needs(screenshot)
      ->needs(start);
  app.add_flag("--quit-after-run", raw.options.quitAfterRun, "Leave when the search has ended")->needs(start);
}

Error usage(std::string message) {
  return Error(ErrorKind::Usage, std::move(message), "swage-workbench --help shows every option");
}

// Invalid where the text is no size that a screen could have.
QSize parseSize(const QString& text) {
  constexpr int kMostPixels = 16384;
  const QStringList sides = text.split(u'x');
  const int width = sides.value(0).toInt();
  const int height = sides.value(1).toInt();
  const bool isSize = sides.size() == 2 && width > 0 && height > 0 && width <= kMostPixels && height <= kMostPixels;
  return isSize ? QSize(width, height) : QSize();
}

Result<WorkbenchOptions> finish(Raw raw) {
  WorkbenchOptions options = std::move(raw.options);
  const auto seconds = ui::parseDuration(QString::fromStdString(raw.timeBudget));
  if (!seconds) {
    return usage("cannot read the time budget '" + raw.timeBudget + "': write 60s, 2m or 1h30m");
  }
  options.spec.timeBudgetSeconds = *seconds;
  for (const std::string& text : raw.overrides) {
    SWAGE_TRY_ASSIGN(auto parsed, services::parseOverride(text));
    options.spec.overrides.push_back(std::move(parsed));
  }
  if (options.start && options.spec.task.empty()) {
    return usage("cannot start a search: no task is given");
  }
  options.spec.project = raw.project;
  if (!raw.size.empty()) {
    options.size = parseSize(QString::fromStdString(raw.size));
    if (!options.size.isValid()) {
      return usage("cannot read the size '" + raw.size + "': write WIDTHxHEIGHT, such as 1600x1000");
    }
  }
  options.selfTest = !raw.noSelfTest;
  options.screenshot = raw.screenshot;
  if (!raw.layout.empty()) {
    options.layout = raw.layout == "search"    ? ui::Layout::Search
                     : raw.layout == "inspect" ? ui::Layout::Inspect
                                               : ui::Layout::Compare;
  }
  if (!raw.theme.empty()) {
    options.theme = ui::parseThemeChoice(QString::fromStdString(raw.theme));
  }
  return options;
}

}  // namespace

Result<std::variant<WorkbenchOptions, UsageText>> parseOptions(const std::vector<std::string>& arguments) {
  using Parsed = std::variant<WorkbenchOptions, UsageText>;
  CLI::App app{"The workbench of Swage: watch a search for the fastest verified kernel.", "swage-workbench"};
  Raw raw;
  declare(app, raw);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Parsed(UsageText{app.help()});
  } catch (const CLI::CallForVersion& version) {
    return Parsed(UsageText{std::string(version.what()) + "\n"});
  } catch (const CLI::Error& error) {
    return usage(error.what());
  }
  SWAGE_TRY_ASSIGN(WorkbenchOptions options, finish(std::move(raw)));
  return Parsed(std::move(options));
}

}  // namespace swage::workbench
