// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QMap>
#include <QStringList>

#include <filesystem>
#include <optional>

#include "core/base/result.h"

namespace swage::ui {

// Where the user left off.
struct LeftOff {
  QString task;
  QString project;
  bool projectChosen = false;  // by the user, not by the task
  std::int64_t run = 0;        // 0: none
  std::int64_t candidate = 0;  // 0: the best
};

// What the window remembers between two starts, as a small JSON file under $XDG_STATE_HOME.
struct ShellState {
  QByteArray geometry;
  QByteArray layout;
  QMap<QString, QByteArray> layouts;  // those the user saved, by name
  QJsonObject pages;                  // what each page remembers, by its id
  QStringList recentTasks;
  QStringList recentProjects;
  LeftOff leftOff;
  std::optional<QStringList> missing;  // of what every search needs; no value: nobody has looked yet
};

// A missing or unreadable file is the default state: it is never worth keeping a user from their work.
[[nodiscard]] ShellState loadShellState(const std::filesystem::path& file);
// Creates the folder of `file` when it is not there.
[[nodiscard]] Result<> saveShellState(const ShellState& state, const std::filesystem::path& file);

}  // namespace swage::ui
