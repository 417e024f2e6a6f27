// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/desktop_notifier.h"

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QVariantMap>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kAsTheDesktopLikes = -1;  // how long it is shown

}  // namespace

DesktopNotifier::DesktopNotifier(const QDBusConnection& bus, QObject* parent) : QObject(parent), m_bus(bus) {}

QDBusConnection DesktopNotifier::sessionBus() {
  // Without this variable QtDBus would try to start a bus of its own, which takes seconds and leaves a process behind.
  return qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS") ? QDBusConnection::sessionBus()
                                                               : QDBusConnection(u"none"_s);
}

void DesktopNotifier::notify(Kind kind, const QString& title, const QString& text) {
  if (!m_enabled || !m_bus.isConnected()) {
    return;
  }
  QDBusMessage call =
      QDBusMessage::createMethodCall(u"org.freedesktop.Notifications"_s, u"/org/freedesktop/Notifications"_s,
                                     u"org.freedesktop.Notifications"_s, u"Notify"_s);
  const QVariantMap hints{{u"desktop-entry"_s, u"swage-workbench"_s},
                          {u"urgency"_s, QVariant::fromValue<uchar>(kind == Kind::Finished ? 1 : 2)}};
  call << u"Swage"_s << m_shown[kind] << u"swage-workbench"_s << title << text.toHtmlEscaped() << QStringList() << hints
       << kAsTheDesktopLikes;
  auto* watcher = new QDBusPendingCallWatcher(m_bus.asyncCall(call), this);
  connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, kind](QDBusPendingCallWatcher* done) {
    const QDBusPendingReply<uint> reply = *done;
    if (reply.isValid()) {
      m_shown[kind] = reply.value();
    }
    done->deleteLater();
  });
}

}  // namespace swage::ui
