// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/settings_store.h"

#include "core/base/assert.h"
#include "ui/models/format.h"
#include "ui/models/setting_catalogue.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString shortcutKey(const QString& action) {
  return u"shortcuts."_s % action;
}

QVariant toVariant(const services::SettingValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag;
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return static_cast<int>(*number);
  }
  return toQString(std::get<std::string>(value));
}

services::SettingValue fromVariant(const QVariant& value) {
  switch (value.typeId()) {
    case QMetaType::Bool: return value.toBool();
    case QMetaType::Int: return std::int64_t{value.toInt()};
    default: return value.toString().toStdString();
  }
}

}  // namespace

SettingsStore::SettingsStore(const services::SettingsService* service, QObject* parent)
    : QObject(parent), m_service(service) {
  if (m_service == nullptr) {
    return;
  }
  auto loaded = m_service->load();
  if (!loaded) {
    m_loadError = loaded.error();
    return;
  }
  m_settings = std::move(*loaded);
  m_above = m_service->above();
  m_below = m_service->below();
  for (const auto& [name, value] : m_settings) {
    const QString key = toQString(name);
    if (!key.startsWith("shortcuts."_L1) && findSetting(key) == nullptr) {
      m_unknown << key;
    }
  }
}

const services::SettingValue* SettingsStore::find(const std::string& name) const {
  for (const services::Settings* settings : {&m_above, &m_settings, &m_below}) {
    if (const auto found = settings->find(name); found != settings->end()) {
      return &found->second;
    }
  }
  return nullptr;
}

QVariant SettingsStore::value(const QString& key) const {
  const SettingInfo* info = findSetting(key);
  SWAGE_ASSERT(info != nullptr);
  const services::SettingValue* found = find(key.toStdString());
  if (found == nullptr) {
    return info->standard;
  }
  const QVariant value = toVariant(*found);
  const bool isInRange =
      value.typeId() != QMetaType::Int || (value.toInt() >= info->least && value.toInt() <= info->most);
  const bool fits = value.typeId() == info->standard.typeId() && isInRange &&
                    (info->choices.isEmpty() || info->choices.contains(value.toString()));
  return fits ? value : info->standard;
}

bool SettingsStore::isSet(const QString& key) const {
  return m_settings.contains(key.toStdString());
}

void SettingsStore::set(const QString& key, const QVariant& value) {
  SWAGE_ASSERT(findSetting(key) != nullptr);
  if (this->value(key) == value) {
    return;
  }
  m_above.erase(key.toStdString());
  m_settings[key.toStdString()] = fromVariant(value);
  save();
  Q_EMIT changed(key);
}

void SettingsStore::reset(const QString& key) {
  if (m_settings.erase(key.toStdString()) > 0) {
    save();
    Q_EMIT changed(key);
  }
}

std::optional<QString> SettingsStore::shortcut(const QString& action) const {
  const services::SettingValue* found = find(shortcutKey(action).toStdString());
  if (found == nullptr || !std::holds_alternative<std::string>(*found)) {
    return std::nullopt;
  }
  return toQString(std::get<std::string>(*found));
}

void SettingsStore::setShortcut(const QString& action, const std::optional<QString>& keys) {
  const QString key = shortcutKey(action);
  m_above.erase(key.toStdString());
  if (keys) {
    m_settings[key.toStdString()] = keys->toStdString();
  } else {
    m_settings.erase(key.toStdString());
  }
  save();
  Q_EMIT changed(key);
}

QString SettingsStore::file() const {
  return m_service != nullptr ? toQString(m_service->file().string()) : QString();
}

void SettingsStore::save() {
  if (m_service == nullptr || m_loadError) {
    return;
  }
  if (const Result<> saved = m_service->save(m_settings); !saved) {
    Q_EMIT failed(saved.error());
  }
}

}  // namespace swage::ui
