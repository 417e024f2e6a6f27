// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDBusConnection>
#include <QString>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/services/benchmark_service.h"
#include "core/services/compare_service.h"
#include "core/services/compile_service.h"
#include "core/services/doctor_service.h"
#include "core/services/drawn_seed.h"
#include "core/services/edit_service.h"
#include "core/services/endpoint_service.h"
#include "core/services/export_check_service.h"
#include "core/services/export_service.h"
#include "core/services/pattern_search_service.h"
#include "core/services/pattern_service.h"
#include "core/services/profile_service.h"
#include "core/services/record_check_service.h"
#include "core/services/record_service.h"
#include "core/services/report_service.h"
#include "core/services/run_service.h"
#include "core/services/self_test_service.h"
#include "core/services/settings_service.h"
#include "core/services/swarm_service.h"
#include "ui/models/comparison.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

class Dialogs;
class ThemeController;

// What the window needs from outside; all of it outlives the window. A page whose service is null is not there.
struct WindowServices {
  services::RunService& run;
  services::RecordService& record;
  const services::ExportService& exporter;
  Dialogs& dialogs;
  ThemeController& theme;
  services::ExportCheckService* exportChecks = nullptr;  // null: an export cannot be verified again
  services::EditService* edits = nullptr;
  services::CompileService* compiles = nullptr;  // null: a draft is compiled when it is evaluated
  services::ProfileService* profiles = nullptr;
  const services::CompareService* compare = nullptr;
  const services::PatternService* patterns = nullptr;
  services::PatternSearchService* patternSearch = nullptr;  // null: only the catalogue can be searched
  services::DoctorService* doctor = nullptr;
  services::SelfTestService* selfTest = nullptr;
  services::RecordCheckService* recordCheck = nullptr;
  const services::ReportService* reports = nullptr;
  const services::BenchmarkService* benchmarks = nullptr;
  services::SwarmService* swarm = nullptr;
  services::EndpointService* endpoints = nullptr;       // null: language models cannot be set up here
  OpenRecord openRecord = {};                           // empty: other projects cannot be compared with
  const services::SettingsService* settings = nullptr;  // null: nothing that is set outlives the window
  std::optional<QDBusConnection> bus =
      std::nullopt;  // where notifications go; none: the bus of the session, if there is one
};

struct WindowOptions {
  services::RunSpec spec = services::withDrawnSeed();  // what the fields start with; `project` empty: the task's own
  QString tasksFolder;                                 // bundled tasks
  std::filesystem::path stateFile;                     // empty: remembers nothing
  std::filesystem::path windows;                // folder of what each open window shows; empty: only the last one
  QString place;                                // in that folder: the window to open again; empty: all that were left
  std::filesystem::path drafts;                 // folder of unfinished edits; empty: keeps none
  bool safeMode = false;                        // neither restores nor remembers anything
  std::optional<QString> crashNote;             // of a start that did not end cleanly; empty: it could not write one
  std::optional<ThemeChoice> themeOfThisStart;  // over what is set
  QString mode;         // stands in the corner of the menu bar all the time; empty: nothing special
  QString modeMeaning;  // its tooltip
  std::function<std::filesystem::path(const std::string& task)> projectOf;
  // Start another program like this one, on a task and a project (either may be empty) or on the recorded search. A
  // process of its own: a window has one search and one record at a time. Empty: cannot be done here.
  std::function<Result<>(const QString& task, const QString& project)> openWindow;
  std::function<Result<>()> openDemo;
  // Starts a program for the window that left this place. Empty: only one window is opened again.
  std::function<Result<>(const QString& place)> restoreWindow;
  // Asks the window of this process to close, and to be opened again at the next start.
  std::function<void(qint64 process)> closeOther;
};

}  // namespace swage::ui
