// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/task_catalogue.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

#include <optional>
#include <string>
#include <utility>

#include "core/services/overrides.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr qint64 kHeadBytes = 4096;
constexpr qsizetype kMaxRecent = 10;

QString firstDocLine(const QString& path) {
  QFile file(path);
  if (!QFileInfo(path).isFile() || !file.open(QIODevice::ReadOnly)) {
    return {};
  }
  static const QRegularExpression doc(u"\"\"\"\\s*([^\\n\"]+)"_s);
  return doc.match(QString::fromUtf8(file.read(kHeadBytes))).captured(1).trimmed();
}

}  // namespace

TaskEntry taskEntry(const QString& path) {
  // "FILE.py:Class" names a class of a module; the class is the better name then.
  const QString file = fileOfTask(path);
  const QString name = QFileInfo(file).completeBaseName() + path.mid(file.size());
  return {.name = name, .path = path, .description = firstDocLine(file)};
}

std::vector<TaskEntry> tasksIn(const QString& folder) {
  std::vector<TaskEntry> tasks;
  if (folder.isEmpty()) {  // which Qt takes for the current folder
    return tasks;
  }
  for (const QFileInfo& file : QDir(folder).entryInfoList({u"*.py"_s}, QDir::Files | QDir::Readable, QDir::Name)) {
    tasks.push_back(taskEntry(file.absoluteFilePath()));
  }
  return tasks;
}

QString fileOfTask(const QString& task) {
  const qsizetype colon = task.lastIndexOf(u".py:"_s);
  return colon < 0 ? task : task.left(colon + 3);
}

QString absoluteTask(const QString& path) {
  const QString file = fileOfTask(path);
  const QFileInfo info(file);
  return file.isEmpty() || !info.exists() ? path : QString(info.absoluteFilePath() % path.mid(file.size()));
}

QStringList mendedTasks(const QStringList& tasks, const QString& bundledFolder) {
  QStringList mended;
  for (const QString& task : tasks) {
    const QString bundled = bundledFolder % u"/"_s % QFileInfo(fileOfTask(task)).completeBaseName() % u".py"_s;
    QString path = absoluteTask(task);
    if (QFileInfo(path).isRelative() && QFileInfo(bundled).isFile()) {
      path = QFileInfo(bundled).absoluteFilePath();
    }
    if (!task.isEmpty() && QFileInfo(path).isAbsolute() && !mended.contains(path)) {
      mended.push_back(path);
    }
  }
  return mended.mid(0, kMaxRecent);
}

QStringList withRecent(QStringList recent, const QString& path) {
  recent.removeAll(path);
  recent.prepend(path);
  return recent.mid(0, kMaxRecent);
}

QStringList withRecents(QStringList recent, const QStringList& others) {
  recent += others;
  recent.removeDuplicates();
  return recent.mid(0, kMaxRecent);
}

std::optional<std::vector<std::pair<std::string, std::string>>> parseOverrides(const QString& text) {
  std::vector<std::pair<std::string, std::string>> overrides;
  for (const QString& part : text.split(QRegularExpression(u"\\s+"_s), Qt::SkipEmptyParts)) {
    auto parsed = services::parseOverride(part.toStdString());
    if (!parsed) {
      return std::nullopt;
    }
    overrides.push_back(std::move(*parsed));
  }
  return overrides;
}

}  // namespace swage::ui
