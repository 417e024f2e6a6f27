// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDBusConnection>
#include <QObject>

#include <map>

namespace swage::ui {

// Tells the desktop what a user who is elsewhere would want to know. One notification of each kind: a newer one takes
// the place of an older one. Does nothing, and says nothing, where there is no bus or nobody shows notifications.
class DesktopNotifier final : public QObject {
  Q_OBJECT

 public:
  enum class Kind : std::uint8_t { Finished, Failed, GpuLost };

  explicit DesktopNotifier(const QDBusConnection& bus, QObject* parent = nullptr);
  // The session's bus, if there is one. Never starts one.
  [[nodiscard]] static QDBusConnection sessionBus();

  void setEnabled(bool enabled) { m_enabled = enabled; }
  void notify(Kind kind, const QString& title, const QString& text);

 private:
  QDBusConnection m_bus;
  bool m_enabled = true;
  std::map<Kind, uint> m_shown;  // what the desktop calls the last of each kind
};

}  // namespace swage::ui
