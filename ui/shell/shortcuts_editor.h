// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QKeySequenceEdit;
class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace swage::ui {

class Shortcuts;

// The table of commands and their keys, and below it the keys of the chosen one. Says who else has the same keys.
class ShortcutsEditor final : public QWidget {
  Q_OBJECT

 public:
  explicit ShortcutsEditor(Shortcuts& shortcuts, QWidget* parent = nullptr);
  // Leaves the commands that contain `text`; how many that are.
  int filter(const QString& text);

 private:
  void showCurrent();
  void assign();
  [[nodiscard]] int currentRow() const;  // of the shortcuts; -1: none

  Shortcuts& m_shortcuts;
  QSortFilterProxyModel* m_filter;
  QTableView* m_table;
  QKeySequenceEdit* m_keys;
  QPushButton* m_clear;
  QPushButton* m_reset;
  QLabel* m_conflict;
};

}  // namespace swage::ui
