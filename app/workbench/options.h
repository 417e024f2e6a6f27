// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/services/drawn_seed.h"
#include "core/services/types.h"
#include "ui/shell/page_descriptor.h"
#include "ui/widgets/theme.h"

namespace swage::workbench {

// What the command line of swage-workbench says.
struct WorkbenchOptions {
  services::RunSpec spec = services::withDrawnSeed();  // task and project empty: not given
  bool start = false;
  bool selfTest = true;                  // of a device that has not passed it yet, before its first search
  std::optional<ui::ThemeChoice> theme;  // for this start only
  std::optional<ui::Layout> layout;      // instead of the one that is remembered
  std::vector<std::string> pages;        // ids of those to bring to the front, the last one with the keyboard
  std::vector<std::string> commands;     // object names of actions, as the settings file has them for shortcuts
  QSize size;                            // of the window, in device independent pixels; invalid: the one remembered
  std::filesystem::path screenshot;
  bool screenshotAfterRun = false;
  bool quitAfterRun = false;
  std::string restoreWindow;  // a place of the last session; empty: all of them
  bool safeMode = false;      // neither restores nor remembers the window
  bool demo = false;          // plays the recorded search that is a part of the program
  bool benchmark = false;
  double benchmarkSeconds = 30.0;
  bool benchmarkSwarm = false;  // with the page of agents in front
  bool json = false;            // of the benchmark
};

// Text to print and leave with 0, for --help and --version.
struct UsageText {
  std::string text;
};

// Errors are of kind Usage. Needs no QApplication, so that it works without a display.
[[nodiscard]] Result<std::variant<WorkbenchOptions, UsageText>> parseOptions(const std::vector<std::string>& arguments);

}  // namespace swage::workbench
