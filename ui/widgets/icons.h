// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QIcon>
#include <QString>

#include "ui/widgets/theme.h"

namespace swage::ui {

// A drawing of resources/icons in the colours of the theme, sharp at every size and scale. `name` is the file's name
// without ".svg". An unknown name is a programmer's error.
[[nodiscard]] QIcon themedIcon(const QString& name, const Theme& theme);
[[nodiscard]] QIcon themedIcon(const QString& name, const QColor& color, const QColor& disabled);
[[nodiscard]] QIcon applicationIcon();
// Before resources/app.qrc is read in any other way.
void initResources();

}  // namespace swage::ui
