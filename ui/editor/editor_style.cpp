// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/editor_style.h"

#include <QFontDatabase>

namespace swage::ui {

QFont codeFont(const EditorStyle& style) {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  if (!style.family.isEmpty()) {
    font.setFamily(style.family);
  }
  if (style.points > 0) {
    font.setPointSize(style.points);
  }
  font.setStyleHint(QFont::Monospace);
  return font;
}

}  // namespace swage::ui
