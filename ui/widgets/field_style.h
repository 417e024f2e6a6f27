// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "ui/widgets/theme.h"

namespace swage::ui {

// A frame for text fields that stand in a bar, where Fusion's own is lost on a dark window.
[[nodiscard]] inline QString fieldStyle(const Theme& theme) {
  return QStringLiteral(
             "QLineEdit{border:1px solid %1;border-radius:3px;padding:2px 4px;background:%2;}"
             "QLineEdit:focus{border-color:%3;}"
             "QLineEdit:disabled{background:%4;}")
      .arg(theme.border.name(), theme.base.name(), theme.accent.name(), theme.window.name());
}

}  // namespace swage::ui
