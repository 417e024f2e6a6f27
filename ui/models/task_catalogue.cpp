// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/task_catalogue.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

#include <optional>
#include <string>
#include <utility>

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
  const qsizetype colon = path.lastIndexOf(u".py:"_s);
  const QString file = colon < 0 ? path : path.left(colon + 3);
  QString name = QFileInfo(file).completeBaseName();
  if (colon >= 0) {
    name += u":"_s % path.mid(colon + 4);
  }
  return {.name = name, .path = path, .description = firstDocLine(file)};
}

std::vector<TaskEntry> tasksIn(const QString& folder) {
  std::vector<TaskEntry> tasks;
  for (const QFileInfo& file : QDir(folder).entryInfoList({u"*.py"_s}, QDir::Files | QDir::Readable, QDir::Name)) {
    tasks.push_back(taskEntry(file.absoluteFilePath()));
  }
  return tasks;
}

QStringList withRecent(QStringList recent, const QString& path) {
  recent.removeAll(path);
  recent.prepend(path);
  return recent.mid(0, kMaxRecent);
}

std::optional<std::vector<std::pair<std::string, std::string>>> parseOverrides(const QString& text) {
  std::vector<std::pair<std::string, std::string>> overrides;
  for (const QString& part : text.split(QRegularExpression(u"\\s+"_s), Qt::SkipEmptyParts)) {
    const qsizetype equals = part.indexOf(u'=');
    if (equals <= 0 || equals == part.size() - 1) {
      return std::nullopt;
    }
    overrides.emplace_back(part.left(equals).toStdString(), part.mid(equals + 1).toStdString());
  }
  return overrides;
}

}  // namespace swage::ui
