// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QVariant>

#include "core/services/settings_service.h"

namespace swage::ui {

// What the user has set, between what a project and what the system says, over what holds by default. Saved at each
// change; nothing is saved over a file that could not be read. GUI thread only.
class SettingsStore final : public QObject {
  Q_OBJECT

 public:
  // `service` null: nothing outlives this object.
  explicit SettingsStore(const services::SettingsService* service, QObject* parent = nullptr);

  // Of a setting of the catalogue: never invalid, and of the right type whatever the file says.
  [[nodiscard]] QVariant value(const QString& key) const;
  [[nodiscard]] bool isSet(const QString& key) const;
  void set(const QString& key, const QVariant& value);
  void reset(const QString& key);

  // Shortcuts stand beside the catalogue: an action's name, and a key sequence as portable text.
  [[nodiscard]] std::optional<QString> shortcut(const QString& action) const;
  void setShortcut(const QString& action, const std::optional<QString>& keys);

  [[nodiscard]] QString file() const;
  // Why the file could not be read, if so; and what in it is unknown.
  [[nodiscard]] const std::optional<Error>& loadError() const { return m_loadError; }
  [[nodiscard]] const QStringList& unknownKeys() const { return m_unknown; }

 Q_SIGNALS:
  void changed(const QString& key);
  void failed(const swage::Error& error);

 private:
  void save();
  // nullptr: neither the user nor another file sets it.
  [[nodiscard]] const services::SettingValue* find(const std::string& name) const;

  const services::SettingsService* m_service;
  services::Settings m_settings;  // the user's, which alone are saved
  services::Settings m_above;     // a project's, until a person sets something else here
  services::Settings m_below;     // the system's
  std::optional<Error> m_loadError;
  QStringList m_unknown;
};

}  // namespace swage::ui
