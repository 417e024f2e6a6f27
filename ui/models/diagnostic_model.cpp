// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/diagnostic_model.h"

#include <algorithm>
#include <array>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString placeOf(const domain::Diagnostic& one) {
  if (one.line == 0) {
    return toQString(one.place);
  }
  const QString line = QString::number(one.line);
  return one.column > 0 ? QString(line % u':' % QString::number(one.column)) : line;
}

QString severityOf(domain::Diagnostic::Severity severity) {
  switch (severity) {
    case domain::Diagnostic::Severity::Error: return QCoreApplication::translate("diagnostics", "Error");
    case domain::Diagnostic::Severity::Warning: return QCoreApplication::translate("diagnostics", "Warning");
    case domain::Diagnostic::Severity::Note: return QCoreApplication::translate("diagnostics", "Note");
  }
  return {};
}

QString messageOf(const domain::Diagnostic& one) {
  const QString message = toQString(one.message);
  return one.option.empty() ? message : QString(message % u" ["_s % toQString(one.option) % u']');
}

}  // namespace

int DiagnosticModel::nextWithLine(int row, int step) const {
  const int count = rows();
  for (int i = 1; i <= count; ++i) {
    const int at = ((row + i * step) % count + count) % count;
    if (item(at).line > 0) {
      return at;
    }
  }
  return -1;
}

bool DiagnosticModel::hasErrors() const {
  return std::any_of(items().begin(), items().end(),
                     [](const domain::Diagnostic& one) { return one.severity == domain::Diagnostic::Severity::Error; });
}

std::span<const ColumnInfo> DiagnosticModel::columns() const {
  static constexpr std::array<ColumnInfo, 3> kColumns = {{
      {QT_TRANSLATE_NOOP("columns", "Kind"), QT_TRANSLATE_NOOP("columns", "How bad it is")},
      {QT_TRANSLATE_NOOP("columns", "Line"), QT_TRANSLATE_NOOP("columns", "Line and column of the source")},
      {QT_TRANSLATE_NOOP("columns", "Message"), QT_TRANSLATE_NOOP("columns", "What the compiler said")},
  }};
  return kColumns;
}

QVariant DiagnosticModel::cell(int row, DiagnosticColumn column, int role) const {
  const domain::Diagnostic& one = item(row);
  if (role == Qt::ToolTipRole) {
    return messageOf(one);
  }
  if (role == Qt::AccessibleTextRole) {
    return QString(severityOf(one.severity) % u' ' % placeOf(one) % u' ' % messageOf(one));
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  switch (column) {
    case DiagnosticColumn::Severity: return severityOf(one.severity);
    case DiagnosticColumn::Place: return placeOf(one);
    case DiagnosticColumn::Message: return messageOf(one);
  }
  return {};
}

}  // namespace swage::ui
