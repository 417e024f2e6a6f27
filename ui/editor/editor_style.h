// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QString>

namespace swage::ui {

// How texts of code look, as far as that is the user's and not the theme's.
struct EditorStyle {
  QString family;  // empty: the desktop's font for code
  int points = 0;  // 0: its size
  int tabWidth = 2;
  bool wrapLines = false;  // never in a comparison, where lines stand beside each other
  bool lineNumbers = true;
  bool caretLine = true;  // the line of the caret is lit

  friend bool operator==(const EditorStyle&, const EditorStyle&) = default;
};

[[nodiscard]] QFont codeFont(const EditorStyle& style);

}  // namespace swage::ui
