// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/task_tree.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <limits>

#include "ui/models/task_catalogue.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kDeepest = 6;
constexpr int kMostEntries = 20000;
constexpr qint64 kHeadBytes = qint64{64} * 1024;

bool isBundle(const QString& folder) {
  return QFileInfo(folder % u"/task.json"_s).isFile();
}

// Where Python keeps things that are no tasks.
bool isUninteresting(const QFileInfo& folder) {
  return folder.fileName() == "__pycache__"_L1 || folder.fileName() == "node_modules"_L1 ||
         QFileInfo(folder.filePath() % u"/pyvenv.cfg"_s).isFile();
}

bool holdsModule(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) && file.read(kHeadBytes).contains("nn.Module");
}

// Problems are numbered: 2_… comes before 10_…, and names without a number after them.
bool isBefore(const QString& a, const QString& b) {
  const auto number = [](const QString& name) {
    bool valid = false;
    const int value = name.section(u'_', 0, 0).toInt(&valid);
    return valid ? value : std::numeric_limits<int>::max();
  };
  return number(a) != number(b) ? number(a) < number(b) : QString::compare(a, b, Qt::CaseInsensitive) < 0;
}

class Scan {
 public:
  [[nodiscard]] TaskNode folder(const QFileInfo& info, int depth) {
    TaskNode node{.kind = TaskNode::Kind::Folder, .name = info.fileName(), .path = info.filePath(), .children = {}};
    // Links are not followed: they may lead round.
    QFileInfoList entries =
        QDir(info.filePath())
            .entryInfoList(QDir::Files | QDir::Dirs | QDir::NoDotAndDotDot | QDir::NoSymLinks | QDir::Readable);
    std::stable_sort(entries.begin(), entries.end(), [](const QFileInfo& a, const QFileInfo& b) {
      return a.isDir() != b.isDir() ? a.isDir() : isBefore(a.fileName(), b.fileName());
    });
    for (const QFileInfo& entry : entries) {
      if (++m_seen > kMostEntries) {
        break;
      }
      add(node, entry, depth);
    }
    return node;
  }

 private:
  void add(TaskNode& node, const QFileInfo& entry, int depth) {
    if (entry.isDir() && isBundle(entry.filePath())) {
      node.children.push_back(
          {.kind = TaskNode::Kind::Bundle, .name = entry.fileName(), .path = entry.filePath(), .children = {}});
    } else if (entry.isDir() && depth < kDeepest && !isUninteresting(entry)) {
      if (TaskNode inner = folder(entry, depth + 1); !inner.children.empty()) {
        node.children.push_back(std::move(inner));
      }
    } else if (entry.isFile() && entry.suffix() == "py"_L1 && holdsModule(entry.filePath())) {
      node.children.push_back({.kind = TaskNode::Kind::PythonFile,
                               .name = entry.completeBaseName(),
                               .path = entry.filePath(),
                               .children = {}});
    }
  }

  int m_seen = 0;
};

}  // namespace

PathKind kindOfPath(const QString& path) {
  const QFileInfo info(fileOfTask(path));
  if (info.isFile() && info.fileName() == "runs.sqlite"_L1) {
    return PathKind::Project;
  }
  if (info.isFile()) {
    return info.suffix() == "py"_L1 ? PathKind::Task : PathKind::Nothing;
  }
  if (!info.isDir()) {
    return PathKind::Nothing;
  }
  if (isBundle(path)) {
    return PathKind::Task;
  }
  return QFileInfo(path % u"/runs.sqlite"_s).isFile() ? PathKind::Project : PathKind::TaskFolder;
}

TaskNode scanTasks(const QString& folder) {
  QFileInfo root(QDir::cleanPath(folder));
  const QString name = root.fileName();
  // A checkout of KernelBench has its problems beside its own sources.
  if (QFileInfo(root.filePath() % u"/KernelBench/level1"_s).isDir()) {
    root = QFileInfo(root.filePath() % u"/KernelBench"_s);
  }
  TaskNode node = Scan().folder(root, 0);
  node.name = name;
  node.path = QDir::cleanPath(folder);
  return node;
}

TaskNode taskGroup(const QString& name, const QStringList& paths) {
  TaskNode group{.kind = TaskNode::Kind::Group, .name = name, .path = {}, .children = {}};
  for (const QString& path : paths) {
    group.children.push_back({.kind = isBundle(path) ? TaskNode::Kind::Bundle : TaskNode::Kind::PythonFile,
                              .name = taskEntry(path).name,
                              .path = path,
                              .children = {}});
  }
  return group;
}

TaskNode taskGroupWithPlaces(const QString& name, const QStringList& paths, const QStringList& known) {
  TaskNode group = taskGroup(name, paths);
  for (TaskNode& task : group.children) {
    if (!known.contains(task.path)) {
      task.place = shortPlace(task.path);
    }
  }
  return group;
}

QString shortPlace(const QString& task) {
  QString folder = QFileInfo(fileOfTask(task)).path();
  const QString home = QDir::homePath();
  if (folder == home || folder.startsWith(home % u"/"_s)) {
    folder = u"~"_s % folder.mid(home.size());
  }
  const QStringList parts = folder.split(u'/');
  return parts.size() > 3 ? QString(parts.mid(0, folder.startsWith(u'~') ? 1 : 2).join(u'/') % u"/…/"_s % parts.back())
                          : folder;
}

int taskCount(const TaskNode& node) {
  int count = node.isTask() ? 1 : 0;
  for (const TaskNode& child : node.children) {
    count += taskCount(child);
  }
  return count;
}

}  // namespace swage::ui
