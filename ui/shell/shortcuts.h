// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QObject>

#include <vector>

#include "ui/models/table_model.h"

class QAction;
class QWidget;

namespace swage::ui {

class SettingsStore;

// A property of an action whose text is too short to tell it from others outside of its menu: "Layout: Compare".
inline constexpr const char* kCommandTitle = "commandTitle";

enum class ShortcutColumn : std::uint8_t { Command, Keys, Standard };

// The shortcuts of the actions of a window: what each has by default, what the user has given it, and which stand in
// each other's way. A table for the editor of shortcuts. GUI thread only.
class Shortcuts final : public TableModel<ShortcutColumn> {
  Q_OBJECT

 public:
  enum Role : int { ConflictRole = Qt::UserRole + 1 };

  // Takes the actions of `window` that have a name, with their present shortcuts as the defaults, and gives them those
  // that are set.
  Shortcuts(QWidget& window, SettingsStore& settings, QObject* parent);

  void assign(int row, const QKeySequence& keys);
  void reset(int row);
  void resetAll();
  [[nodiscard]] QKeySequence keys(int row) const;
  [[nodiscard]] bool isChanged(int row) const;
  // Other commands with the same keys, by their names.
  [[nodiscard]] QStringList conflicts(int row) const;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(m_entries.size()); }
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, ShortcutColumn column, int role) const override;

 private:
  struct Entry {
    QAction* action;
    QKeySequence standard;
  };

  std::vector<Entry> m_entries;
  SettingsStore& m_settings;
};

}  // namespace swage::ui
