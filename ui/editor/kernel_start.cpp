// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/kernel_start.h"

#include <QList>
#include <QStringView>

#include <algorithm>

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

// Of the function that begins there, to the brace in the first column.
qsizetype lineCount(const QList<QStringView>& lines, qsizetype begin) {
  const auto end =
      std::find_if(lines.begin() + begin, lines.end(), [](QStringView line) { return line.startsWith(u'}'); });
  return end - lines.begin() - begin + 1;
}

}  // namespace

int kernelStart(const QString& source) {
  const QList<QStringView> lines = QStringView(source).split(u'\n');
  qsizetype longest = -1;
  qsizetype most = 0;
  for (qsizetype kernel = 0; kernel < lines.size(); ++kernel) {
    if (const qsizetype count = beginsKernel(lines[kernel]) ? lineCount(lines, kernel) : 0; count > most) {
      longest = kernel;
      most = count;
    }
  }
  while (longest > 0 && belongsToNext(lines[longest - 1])) {
    --longest;
  }
  return static_cast<int>(longest);
}

}  // namespace swage::ui
