// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractListModel>
#include <QString>

#include <functional>
#include <vector>

#include "ui/models/fuzzy_match.h"

namespace swage::ui {

// Something that can be found by typing a part of its name.
struct LocatorEntry {
  QString text;
  QString detail;  // where it belongs: "View › Layout", "run 7 · finished"
  QString keys;    // its shortcut, as the user reads it
  bool enabled = true;
  std::function<void()> run;
  bool answersQuery = false;  // made from what was typed: shown first, whatever its text
};

// Asked for each text the user has typed, so that a source can offer what it does not list: "389" is a candidate.
using LocatorSource = std::function<std::vector<LocatorEntry>(const QString& query)>;

// The entries of a source that match what was typed, best first. GUI thread only.
class LocatorModel final : public QAbstractListModel {
  Q_OBJECT

 public:
  enum Role : int { DetailRole = Qt::UserRole + 1, KeysRole, PositionsRole };

  using QAbstractListModel::QAbstractListModel;

  void setSource(LocatorSource source);
  void setQuery(const QString& query);
  [[nodiscard]] int enabledCount() const { return m_enabled; }  // these come first
  [[nodiscard]] const LocatorEntry& entry(int row) const { return m_shown[static_cast<std::size_t>(row)].entry; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  struct Shown {
    LocatorEntry entry;
    FuzzyMatch match;
  };

  LocatorSource m_source;
  std::vector<Shown> m_shown;
  int m_enabled = 0;
};

}  // namespace swage::ui
