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

// The Python files of a folder, by name. A folder that cannot be read, or an empty name, has no tasks.
[[nodiscard]] std::vector<TaskEntry> tasksIn(const QString& folder);
[[nodiscard]] TaskEntry taskEntry(const QString& path);
// A task as it is found from any folder: "model.py:Net" as "/home/user/model.py:Net". As it is where nothing lies
// there.
[[nodiscard]] QString absoluteTask(const QString& path);
// The file or folder of a task, without the ":Class" of a Python file.
[[nodiscard]] QString fileOfTask(const QString& task);
// Tasks as an earlier version remembered them: a relative path becomes absolute if it is found from here or among the
// bundled tasks, and is left out otherwise. Without duplicates, at most ten.
[[nodiscard]] QStringList mendedTasks(const QStringList& tasks, const QString& bundledFolder);
// `recent` with `path` in front, without duplicates, at most ten.
[[nodiscard]] QStringList withRecent(QStringList recent, const QString& path);
// `recent`, then those of `others` that are not in it, at most ten.
[[nodiscard]] QStringList withRecents(QStringList recent, const QStringList& others);
// "NAME=VALUE NAME=VALUE" to pairs; nothing when a part has no name or no "=".
[[nodiscard]] std::optional<std::vector<std::pair<std::string, std::string>>> parseOverrides(const QString& text);

}  // namespace swage::ui
