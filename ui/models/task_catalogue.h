// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swage::ui {

struct TaskEntry {
  QString name;
  QString path;         // what RunSpec::task takes
  QString description;  // first line of the file's documentation
};

// The Python files of a folder, by name. A folder that cannot be read has no tasks.
[[nodiscard]] std::vector<TaskEntry> tasksIn(const QString& folder);
[[nodiscard]] TaskEntry taskEntry(const QString& path);
// `recent` with `path` in front, without duplicates, at most ten.
[[nodiscard]] QStringList withRecent(QStringList recent, const QString& path);
// "NAME=VALUE NAME=VALUE" to pairs; nothing when a part has no name or no "=".
[[nodiscard]] std::optional<std::vector<std::pair<std::string, std::string>>> parseOverrides(const QString& text);

}  // namespace swage::ui
