// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>

#include <cstdint>
#include <optional>

#include "ui/models/color_map.h"

class QApplication;

namespace swage::ui {

enum class ThemeChoice : std::uint8_t { System, Light, Dark };
[[nodiscard]] QString name(ThemeChoice choice);  // "system", "light", "dark"
[[nodiscard]] std::optional<ThemeChoice> parseThemeChoice(const QString& text);

// Every colour that Swage paints itself. Text reads at 4.5:1 or better on what it stands on (tests/ui/theme_test.cpp).
struct Theme {
  bool dark = false;

  QColor window;  // around the panels
  QColor base;    // of tables, editors, charts, the map
  QColor alternateBase;
  QColor text;
  QColor mutedText;
  QColor disabledText;
  QColor border;
  QColor button;
  QColor accent;  // selection, focus, progress
  QColor accentText;

  QColor good;     // text on base: correct
  QColor bad;      // text on base: wrong, crashed, cheating
  QColor caution;  // text on base: duplicates, screened out, unstable

  QColor emptyOutline;
  QColor unavailable;
  QColor unavailableHatch;
  QColor failed;
  QColor failedCross;

  QColor infoBanner;
  QColor infoBannerText;
  QColor warningBanner;
  QColor warningBannerText;
  QColor errorBanner;
  QColor errorBannerText;

  QColor chartLine;
  QColor chartBaseline;
  QColor chartGrid;
  QColor chartPinned;  // what everything is compared with
  QColor chartBar;     // a bar's filled part, text stands beside it

  QColor diffOld;  // behind lines that only the left has
  QColor diffOldToken;
  QColor diffNew;  // behind lines that only the right has
  QColor diffNewToken;
  QColor diffFiller;  // where the other side has lines

  QColor caretLine;
  QColor linkedLine;  // the counterpart of the caret's line in another listing
  QColor keyword;
  QColor deviceKeyword;  // CUDA's own words
  QColor comment;
  QColor string;
  QColor number;
  QColor preprocessor;

  ColorMap heat = ColorMap::Viridis;

  [[nodiscard]] static const Theme& light();
  [[nodiscard]] static const Theme& darkTheme();
  [[nodiscard]] QPalette palette() const;
};

// Fusion with the theme's palette, and the style sheet for what a palette cannot say.
void applyTheme(QApplication& application, const Theme& theme);

}  // namespace swage::ui
