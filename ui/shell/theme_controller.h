// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDBusVariant>
#include <QObject>

#include "ui/widgets/theme.h"

class QApplication;

namespace swage::ui {

// Decides which theme is shown and puts it on the application. "System" is what the desktop portal says and follows its
// changes; without a portal, the lightness of the palette the platform started with. GUI thread only, never waits.
class ThemeController final : public QObject {
  Q_OBJECT

 public:
  explicit ThemeController(QApplication& application, QObject* parent = nullptr);
  void choose(ThemeChoice choice);
  // As choose() or setColorMap(), by the user: to be remembered.
  void chooseForGood(ThemeChoice choice);
  void setColorMapForGood(ColorMap map);
  void setColorMap(ColorMap map);
  [[nodiscard]] ThemeChoice choice() const { return m_choice; }
  [[nodiscard]] const Theme& theme() const { return m_theme; }

 Q_SIGNALS:
  void changed(const swage::ui::Theme& theme);
  void choiceMade();

 private Q_SLOTS:
  void handleSetting(const QString& group, const QString& key, const QDBusVariant& value);

 private:
  void askPortal();
  void apply();

  QApplication& m_application;
  ThemeChoice m_choice = ThemeChoice::System;
  ColorMap m_map = ColorMap::Viridis;
  bool m_systemIsDark = false;
  Theme m_theme = Theme::light();
};

}  // namespace swage::ui
