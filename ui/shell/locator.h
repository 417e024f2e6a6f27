// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QPointer>

#include "ui/models/locator_model.h"
#include "ui/widgets/theme.h"

class QLabel;
class QLineEdit;
class QListView;

namespace swage::ui {

class LocatorDelegate;

// A field over the window that finds things by a part of their name and runs the one that is chosen: the command
// palette and quick open. Goes away by Escape, by running an entry, or when the keyboard goes elsewhere.
class Locator final : public QFrame {
  Q_OBJECT

 public:
  explicit Locator(QWidget* window);
  void setTheme(const Theme& theme);
  void open(const QString& prompt, LocatorSource source);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void close();
  void runCurrent();
  void filter(const QString& query);
  void place();
  bool handleKey(int key);

  QWidget* m_window;
  QLineEdit* m_field;
  QListView* m_list;
  QLabel* m_nothing;
  LocatorModel* m_model;
  LocatorDelegate* m_delegate;
  QPointer<QWidget> m_focusBefore;
};

}  // namespace swage::ui
