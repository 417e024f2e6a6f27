// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

#include <optional>

namespace swage::ui {

class DockLayout;
class DoctorPage;

// Looks at the set-up when the window starts, until it has once been found usable, and opens the page with the fixes
// where something is missing that every search needs. What is missing is remembered, so that nobody is shown the same
// at each start.
class SetupCheck final : public QObject {
  Q_OBJECT

 public:
  // No value: nobody has looked yet. Empty: all is there.
  using Missing = std::optional<QStringList>;

  SetupCheck(DoctorPage& page, DockLayout& docks, QObject* parent = nullptr);
  // What the last look found; from here on start() looks again, once, where that was not enough.
  void remember(const Missing& known);
  void start();
  [[nodiscard]] const Missing& known() const { return m_known; }

 private:
  void handleChecked(const QStringList& missing);

  DoctorPage& m_page;
  DockLayout& m_docks;
  Missing m_known;
  bool m_isWanted = false;
  bool m_isStarting = false;
};

}  // namespace swage::ui
