// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "ui/models/settings_store.h"
#include "ui/shell/window_services.h"

class QWidget;

namespace swage::ui {

class DesktopNotifier;
class RunBar;
class Shortcuts;

// Lets what is set take effect in the window: theme, fields of a search, shortcuts, notifications. Make it when every
// action of the window is there.
class SettingsControl final : public QObject {
  Q_OBJECT

 public:
  SettingsControl(SettingsStore& settings, const WindowServices& services, const WindowOptions& options,
                  QWidget& window);
  void applyTo(RunBar& bar) const;
  void applyTo(DesktopNotifier& notifier);
  void showDialog(const QString& section);
  [[nodiscard]] const Shortcuts& shortcuts() const { return *m_shortcuts; }
  // What of the file could not be used, if anything.
  [[nodiscard]] std::optional<services::Notice> complaint() const;

 private:
  void applyTheme();
  void applyEditorStyle();

  SettingsStore& m_settings;
  ThemeController& m_theme;
  Dialogs& m_dialogs;
  services::EndpointService* m_endpoints;
  WindowOptions m_options;
  QWidget& m_window;
  Shortcuts* m_shortcuts;
};

}  // namespace swage::ui
