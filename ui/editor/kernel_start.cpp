// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/kernel_start.h"

#include <QList>
#include <QStringView>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// Not what only declares, alone or in a block.
bool beginsKernel(QStringView line) {
  const QStringView trimmed = line.trimmed();
  const bool isNamed = trimmed.startsWith(u"extern \"C\""_s) && trimmed != u"extern \"C\" {"_s;
  return (isNamed || trimmed.startsWith(u"__global__"_s)) && !trimmed.endsWith(u';');
}

// What stands right before a kernel and belongs to it.
bool belongsToNext(QStringView line) {
  const QStringView trimmed = line.trimmed();
  return trimmed.startsWith(u"//"_s) || trimmed.startsWith(u"template"_s);
}

}  // namespace

int kernelStart(const QString& source) {
  const QList<QStringView> lines = QStringView(source).split(u'\n');
  for (qsizetype kernel = 0; kernel < lines.size(); ++kernel) {
    if (!beginsKernel(lines[kernel])) {
      continue;
    }
    qsizetype first = kernel;
    while (first > 0 && belongsToNext(lines[first - 1])) {
      --first;
    }
    return static_cast<int>(first);
  }
  return -1;
}

}  // namespace swage::ui
