// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/services/export_service.h"
#include "core/services/pattern_service.h"
#include "core/services/record_service.h"
#include "core/services/run_service.h"
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
  const services::PatternService* patterns = nullptr;
};

struct WindowOptions {
  services::RunSpec spec;                       // what the fields start with; `project` empty: the task's own
  QString tasksFolder;                          // bundled tasks
  std::filesystem::path stateFile;              // empty: remembers nothing
  std::optional<ThemeChoice> themeOfThisStart;  // not remembered
  std::function<std::filesystem::path(const std::string& task)> projectOf;
};

}  // namespace swage::ui
