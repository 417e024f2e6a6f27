// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <cstdint>
#include <vector>

namespace swage::ui {

// One entry of the tree of tasks. A value; `parent` and `row` are filled in by TaskTreeModel.
struct TaskNode {
  enum class Kind : std::uint8_t { Group, Folder, PythonFile, Bundle };

  Kind kind = Kind::Group;
  QString name;
  QString path;
  std::vector<TaskNode> children;
  QString place{};  // beside the name, where tasks of several folders stand together
  const TaskNode* parent = nullptr;
  int row = 0;  // below it

  [[nodiscard]] bool isTask() const { return kind == Kind::PythonFile || kind == Kind::Bundle; }
};

// What a path given by the user is to the window, by what lies there.
enum class PathKind : std::uint8_t { Nothing, Task, Project, TaskFolder };
[[nodiscard]] PathKind kindOfPath(const QString& path);

// The tasks of a folder and of those in it: bundles, and Python files with a module to optimise. Of a KernelBench
// checkout, its levels. Reads files, so it belongs on a thread of its own; looks at no more than some ten thousand.
[[nodiscard]] TaskNode scanTasks(const QString& folder);
// A group of single tasks, by their paths.
[[nodiscard]] TaskNode taskGroup(const QString& name, const QStringList& paths);
// The same, with the folder beside each name but those of `known`.
[[nodiscard]] TaskNode taskGroupWithPlaces(const QString& name, const QStringList& paths, const QStringList& known);
// "~/…/models", "/data/models": the folder of a task, in short.
[[nodiscard]] QString shortPlace(const QString& task);
[[nodiscard]] int taskCount(const TaskNode& node);

}  // namespace swage::ui
