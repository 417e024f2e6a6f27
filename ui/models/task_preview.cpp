// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/task_preview.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMap>
#include <QRegularExpression>

#include <optional>

#include "ui/models/task_catalogue.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr qint64 kMostSource = qint64{256} * 1024;
constexpr qint64 kMostBundle = qint64{16} * 1024 * 1024;
constexpr int kDeepest = 4;  // constants made of constants

QString tr(const char* text) {
  return QCoreApplication::translate("tasks", text);
}

QByteArray readUpTo(const QString& path, qint64 most) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.read(most) : QByteArray();
}

using Constants = QMap<QString, QString>;

// "rows = 2048" in the first column.
Constants constantsOf(const QString& source) {
  static const QRegularExpression line(u"^(\\w+)[ \\t]*=[ \\t]*([^=#\\n][^#\\n]*)"_s,
                                       QRegularExpression::MultilineOption);
  Constants constants;
  for (auto match = line.globalMatch(source); match.hasNext();) {
    const QRegularExpressionMatch one = match.next();
    constants.insert(one.captured(1), one.captured(2).trimmed());
  }
  return constants;
}

QString withConstants(QString expression, const Constants& constants) {
  static const QRegularExpression name(u"(?<![\\w.\"'])[A-Za-z_]\\w*"_s);
  for (int depth = 0; depth < kDeepest; ++depth) {
    QString next;
    qsizetype from = 0;
    for (auto match = name.globalMatch(expression); match.hasNext();) {
      const QRegularExpressionMatch one = match.next();
      next += expression.mid(from, one.capturedStart() - from) + constants.value(one.captured(), one.captured());
      from = one.capturedEnd();
    }
    next += expression.mid(from);
    if (next == expression) {
      break;
    }
    expression = next;
  }
  return expression;
}

// "64 * 1024" is 65536; what is more than numbers with * and // between them stays as it is.
QString evaluated(const QString& expression) {
  static const QRegularExpression simple(u"^\\d[\\d_]*(?:\\s*(?:\\*|//)\\s*\\d[\\d_]*)*$"_s);
  static const QRegularExpression factor(u"(\\*|//)?\\s*(\\d[\\d_]*)"_s);
  const QString text = expression.trimmed();
  if (!simple.match(text).hasMatch()) {
    return text;
  }
  qint64 value = 1;
  for (auto match = factor.globalMatch(text); match.hasNext();) {
    const QRegularExpressionMatch one = match.next();
    const qint64 number = one.captured(2).remove(u'_').toLongLong();
    const bool divides = one.captured(1) == "//"_L1;
    if (divides && number == 0) {
      return text;
    }
    value = divides ? value / number : value * number;
  }
  return QString::number(value);
}

// What stands between the bracket at `open` and the one that closes it; nothing where none does.
std::optional<QString> inBrackets(const QString& text, qsizetype open) {
  int depth = 0;
  for (qsizetype at = open; at < text.size(); ++at) {
    depth += text[at] == u'(' || text[at] == u'[' ? 1 : text[at] == u')' || text[at] == u']' ? -1 : 0;
    if (depth == 0) {
      return text.mid(open + 1, at - open - 1);
    }
  }
  return std::nullopt;
}

// At the commas that are in no brackets.
QStringList splitArguments(const QString& text) {
  QStringList parts;
  int depth = 0;
  QString part;
  for (const QChar one : text) {
    depth += one == u'(' || one == u'[' ? 1 : one == u')' || one == u']' ? -1 : 0;
    if (one == u',' && depth == 0) {
      parts.push_back(part.trimmed());
      part.clear();
    } else {
      part += one;
    }
  }
  parts.push_back(part.trimmed());
  parts.removeAll(QString());
  return parts;
}

bool isTuple(const QString& text) {
  return text.startsWith(u'(') || text.startsWith(u'[');
}

// One call of torch.randn and its like.
QString inputText(const QString& function, const QString& arguments, const Constants& constants) {
  QString type = function == "randint"_L1 ? u"int64"_s : u"float32"_s;
  QStringList sizes;
  for (QString argument : splitArguments(arguments)) {
    if (argument.startsWith("dtype"_L1)) {
      type = argument.section(u'.', -1).trimmed();
      continue;
    }
    if (argument.contains(u'=') && !argument.startsWith("size"_L1)) {
      continue;
    }
    argument = withConstants(argument.section(u'=', -1).trimmed(), constants).trimmed();
    if (isTuple(argument)) {
      sizes = splitArguments(argument.mid(1, argument.size() - 2));
      break;  // of randint and full: what follows is no size
    }
    sizes.push_back(argument);
  }
  for (QString& size : sizes) {
    size = evaluated(size);
  }
  return type % u" ["_s % sizes.join(u", "_s) % u']';
}

QStringList inputsOf(const QString& source) {
  static const QRegularExpression call(u"torch\\.(randn?|zeros|ones|empty|full|randint)\\("_s);
  // Up to the next line that is not indented.
  static const QRegularExpression next(u"\\n\\S"_s);
  const qsizetype begin = source.indexOf("def get_inputs("_L1);
  if (begin < 0) {
    return {};
  }
  const qsizetype end = source.indexOf(next, begin);
  const QString body = source.mid(begin, end < 0 ? -1 : end - begin);
  const Constants constants = constantsOf(source);
  QStringList inputs;
  for (auto match = call.globalMatch(body); match.hasNext();) {
    const QRegularExpressionMatch one = match.next();
    if (const auto arguments = inBrackets(body, one.capturedEnd() - 1)) {
      inputs.push_back(inputText(one.captured(1), *arguments, constants));
    }
  }
  return inputs;
}

QStringList inputsOfBundle(const QJsonObject& task) {
  const QJsonObject graph = task[u"graph"_s].toObject();
  const QJsonArray values = graph[u"values"_s].toArray();
  QStringList inputs;
  for (const auto& entry : graph[u"inputs"_s].toArray()) {
    const QJsonObject input = entry.toObject();
    if (input[u"kind"_s] != "user"_L1) {
      continue;
    }
    const QJsonObject value = values.at(input[u"value"_s].toInt(-1)).toObject();
    QStringList sizes;
    for (const auto& size : value[u"shape"_s].toArray()) {
      sizes.push_back(QString::number(size.toInteger()));
    }
    inputs.push_back(value[u"dtype"_s].toString() % u" ["_s % sizes.join(u", "_s) % u']');
  }
  return inputs;
}

}  // namespace

TaskPreview readTaskPreview(const QString& task) {
  const QString file = fileOfTask(task);
  const bool isBundle = QFileInfo(file).isDir();
  TaskPreview preview;
  preview.source = QString::fromUtf8(readUpTo(isBundle ? QString(file % u"/source.py"_s) : file, kMostSource));
  preview.description = isBundle ? QString() : taskEntry(task).description;
  if (isBundle) {
    const QByteArray json = readUpTo(file % u"/task.json"_s, kMostBundle);
    preview.inputs = inputsOfBundle(QJsonDocument::fromJson(json).object());
  } else {
    preview.inputs = inputsOf(preview.source);
  }
  if (preview.source.isEmpty() && preview.inputs.isEmpty()) {
    preview.obstacle = QFileInfo::exists(file) ? tr("There is no source to show.")
                                               : tr("The file does not exist any more: %1").arg(file);
  }
  return preview;
}

}  // namespace swage::ui
