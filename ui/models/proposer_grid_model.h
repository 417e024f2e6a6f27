// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QString>

#include <optional>
#include <string_view>
#include <vector>

#include "core/services/activity.h"

namespace swage::ui {

// What an operator does, for whoever meets its name; empty for any other name.
[[nodiscard]] QString operatorMeaning(std::string_view name);

// Whoever proposes candidates, one row each, by the islands they propose for. Of a proposer nothing is known but its
// name, so that a coder with its judge is one like any operator. GUI thread only.
class ProposerGridModel final : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { NameColumn, CreditColumn, ShareColumn, FirstIsland };
  enum Role : int {
    ShareRole = Qt::UserRole + 1,  // credit, share of proposals, or correct of proposed: 0 to 1; invalid: none
    HeadlineRole,                  // of an island: what it proposed there
    DetailRole,                    // and what it holds there
    LastRole,                      // and what it proposed last
    CandidateRole,                 // qint64: that candidate
  };

  using QAbstractTableModel::QAbstractTableModel;
  // Rows and columns that stay keep their selection.
  void setReport(const services::ProposerReport& report);
  // The candidate that a cell speaks of; invalid: none.
  [[nodiscard]] domain::CandidateId candidateAt(const QModelIndex& index) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role = Qt::DisplayRole) const override;

 private:
  struct Row {
    std::string name;
    std::optional<services::ProposerStanding> earned;  // absent: it does not compete for proposals
    std::vector<std::optional<services::ProposerTally>> islands;
  };
  [[nodiscard]] static std::vector<Row> rowsOf(const services::ProposerReport& report, int islands);
  [[nodiscard]] static QVariant proposerData(const Row& row, int column, int role);
  [[nodiscard]] static QVariant tallyData(const services::ProposerTally& tally, const QString& island, int role);

  std::vector<Row> m_rows;
  int m_islands = 0;
};

}  // namespace swage::ui
