// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QMap>
#include <QStringList>

#include <filesystem>

#include "core/base/result.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

// What the window remembers between two starts, as a small JSON file under $XDG_STATE_HOME.
struct ShellState {
  QByteArray geometry;
  QByteArray layout;
  QMap<QString, QByteArray> layouts;  // those the user saved, by name
  QJsonObject pages;                  // what each page remembers, by its id
  ThemeChoice theme = ThemeChoice::System;
  ColorMap heat = ColorMap::Viridis;
  QStringList recentTasks;
  QStringList recentProjects;
};

// A missing or unreadable file is the default state: it is never worth keeping a user from their work.
[[nodiscard]] ShellState loadShellState(const std::filesystem::path& file);
// Creates the folder of `file` when it is not there.
[[nodiscard]] Result<> saveShellState(const ShellState& state, const std::filesystem::path& file);

}  // namespace swage::ui
