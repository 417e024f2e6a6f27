// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/services/swarm_service.h"
#include "ui/models/newest_first_model.h"
#include "ui/models/rows_model.h"

// The tables of the page about pairs. GUI thread only.
namespace swage::ui {

inline constexpr int kSwarmSortRole = Qt::UserRole + 1;    // the number behind a text
inline constexpr int kSwarmSearchRole = Qt::UserRole + 2;  // all that a row is found by

enum class PairColumn : std::uint8_t {
  Name,
  Island,
  Role,
  Pass,
  Doing,
  Offers,
  Correct,
  Elites,
  PerSecond,
  PerCent,
  Advice,
  Score
};

class PairTableModel final : public RowsModel<services::PairStanding, PairColumn> {
  Q_OBJECT

 public:
  using RowsModel::RowsModel;
  // The same pairs with other values keep their selection.
  void show(const services::SwarmReport& report) { updateRows(report.pairs); }

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, PairColumn column, int role) const override;

 private:
  [[nodiscard]] static QString text(const services::PairStanding& pair, PairColumn column);
  [[nodiscard]] static QVariant number(const services::PairStanding& pair, PairColumn column);
};

enum class AdviceColumn : std::uint8_t { Pair, About, Bottleneck, Method, Expected, Achieved, Followed };

class AdviceTableModel final : public NewestFirstModel<services::AdviceStanding, AdviceColumn> {
  Q_OBJECT

 public:
  using NewestFirstModel::NewestFirstModel;
  void show(const services::SwarmReport& report) { setRows(report.advice); }

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, AdviceColumn column, int role) const override;
  [[nodiscard]] bool isSame(const services::AdviceStanding& a, const services::AdviceStanding& b) const override {
    return a.number == b.number;
  }
};

enum class TalkColumn : std::uint8_t { Candidate, Model, Result, Calls, Tokens, Cost, Time, Intent };

class TalkTableModel final : public NewestFirstModel<services::TalkSummary, TalkColumn> {
  Q_OBJECT

 public:
  using NewestFirstModel::NewestFirstModel;
  void show(const services::SwarmReport& report) { setRows(report.talks); }

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, TalkColumn column, int role) const override;
  [[nodiscard]] bool isSame(const services::TalkSummary& a, const services::TalkSummary& b) const override {
    return a.candidate == b.candidate;
  }
};

enum class SpendingColumn : std::uint8_t { Model, Calls, Failed, Input, Output, Cost, Mean, Longest };

class SpendingTableModel final : public RowsModel<services::ModelSpending, SpendingColumn> {
  Q_OBJECT

 public:
  using RowsModel::RowsModel;
  void show(const services::SwarmReport& report) { updateRows(report.spending); }

 protected:
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, SpendingColumn column, int role) const override;
};

// "pair 7", "fast".
[[nodiscard]] QString pairName(const services::PairStanding& pair);
[[nodiscard]] QString pairName(const services::AdviceStanding& advice);
[[nodiscard]] QString pairName(int pair);
// Time before over time after as a change: "1.30×"; "wrong" for 0; "–" for none.
[[nodiscard]] QString gainText(const std::optional<double>& gain);
[[nodiscard]] QString costText(double cents, bool isPriceKnown);  // "$0.042", "unknown"
// "uncoalesced access", from a rule's id.
[[nodiscard]] QString ruleTitle(const std::string& rule);

}  // namespace swage::ui
