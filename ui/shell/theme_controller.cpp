// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/theme_controller.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QPalette>

using namespace Qt::StringLiterals;

// QStyleHints tells the colour scheme from Qt 6.5 on; on 6.4 the desktop portal is asked directly. Its Read() wraps the
// value in one variant more than its SettingChanged() signal does.
namespace swage::ui {
namespace {

constexpr uint kPreferDark = 1;

QString service() {
  return u"org.freedesktop.portal.Desktop"_s;
}
QString path() {
  return u"/org/freedesktop/portal/desktop"_s;
}
QString interface() {
  return u"org.freedesktop.portal.Settings"_s;
}
QString group() {
  return u"org.freedesktop.appearance"_s;
}
QString key() {
  return u"color-scheme"_s;
}

QVariant unwrapped(QVariant value) {
  while (value.canConvert<QDBusVariant>()) {
    value = value.value<QDBusVariant>().variant();
  }
  return value;
}

}  // namespace

ThemeController::ThemeController(QApplication& application, QObject* parent)
    : QObject(parent),
      m_application(application),
      m_systemIsDark(QApplication::palette().color(QPalette::Window).lightness() < 128) {
  // Without this variable QtDBus would try to start a bus of its own, which takes seconds and leaves a process behind.
  if (qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS")) {
    askPortal();
  }
  apply();
}

void ThemeController::askPortal() {
  QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) {
    return;
  }
  bus.connect(service(), path(), interface(), u"SettingChanged"_s, this,
              SLOT(handleSetting(QString, QString, QDBusVariant)));
  QDBusMessage question = QDBusMessage::createMethodCall(service(), path(), interface(), u"Read"_s);
  question << group() << key();
  auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(question), this);
  connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher* done) {
    const QDBusPendingReply<QDBusVariant> reply = *done;
    if (reply.isValid()) {
      handleSetting(group(), key(), reply.value());
    }
    done->deleteLater();
  });
}

void ThemeController::handleSetting(const QString& settingGroup, const QString& settingKey, const QDBusVariant& value) {
  if (settingGroup != group() || settingKey != key()) {
    return;
  }
  m_systemIsDark = unwrapped(value.variant()).toUInt() == kPreferDark;
  if (m_choice == ThemeChoice::System) {
    apply();
  }
}

void ThemeController::choose(ThemeChoice choice) {
  m_choice = choice;
  apply();
}

void ThemeController::setColorMap(ColorMap map) {
  m_map = map;
  apply();
}

void ThemeController::chooseForGood(ThemeChoice choice) {
  choose(choice);
  Q_EMIT choiceMade();
}

void ThemeController::setColorMapForGood(ColorMap map) {
  setColorMap(map);
  Q_EMIT choiceMade();
}

void ThemeController::apply() {
  const bool dark = m_choice == ThemeChoice::Dark || (m_choice == ThemeChoice::System && m_systemIsDark);
  m_theme = dark ? Theme::darkTheme() : Theme::light();
  m_theme.heat = m_map;
  applyTheme(m_application, m_theme);
  Q_EMIT changed(m_theme);
}

}  // namespace swage::ui
