// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/services/compare_service.h"
#include "core/services/profile_service.h"
#include "core/services/record_service.h"
#include "ui/models/delta.h"
#include "ui/models/table_model.h"

namespace swage::ui {

// Opens the record of another project beside the one that is shown.
using OpenRecord =
    std::function<Result<std::shared_ptr<services::RecordService>>(const std::filesystem::path& project)>;

// A candidate of any record. Without a record of its own it is one of the open project.
struct CandidateRef {
  CandidateRef() = default;
  CandidateRef(domain::CandidateId candidate) : id(candidate) {}  // NOLINT(google-explicit-constructor): most are such

  domain::CandidateId id;
  std::shared_ptr<const services::RecordService> record;
  QString project;  // the name of the other project
};

// A candidate with its run, and its profile, if it has one.
struct ComparedCandidate {
  services::CandidateDetail detail;
  std::optional<services::ProfileReport> report;
  CandidateRef from;
  services::RunSummary run;
};

// Two candidates, and the youngest that both descend from. The ancestor is absent where they have none, or where one
// of the two is it.
struct Comparison {
  ComparedCandidate left;
  ComparedCandidate right;
  std::optional<ComparedCandidate> ancestor;
};

struct ComparisonServices {
  const services::RecordService& record;
  const services::ProfileService& profiles;
  const services::CompareService& compare;
};
// Candidates of two records have no common ancestor, and those of other projects no profile here.
[[nodiscard]] Result<Comparison> loadComparison(const ComparisonServices& services, const CandidateRef& left,
                                                const CandidateRef& right);

// Why nobody can be called faster: other tasks, other devices. Empty: the two can be compared.
[[nodiscard]] QString obstacleOf(const Comparison& comparison);
// Who is faster, in one word for the whole comparison: surely faster only if both the times and the speedups, which
// were measured in turns with PyTorch, lie apart.
[[nodiscard]] Verdict verdictOf(const Comparison& comparison);

// One thing that the candidates have or are, on each side. `delta` is of the right against the left.
struct ComparisonRow {
  QString name;
  QString ancestor;
  QString left;
  QString right;
  Delta delta;
  [[nodiscard]] bool differs() const { return left != right; }
};

[[nodiscard]] std::vector<ComparisonRow> compareMetrics(const Comparison& comparison);
[[nodiscard]] std::vector<ComparisonRow> compareGenomes(const Comparison& comparison);
[[nodiscard]] std::vector<ComparisonRow> comparePlans(const Comparison& comparison);
// In one line what matters most: who is faster and by how much, registers, shared memory, occupancy.
[[nodiscard]] QString comparisonSummary(const Comparison& comparison);
// Of the medians, with the verdict of the whole comparison.
[[nodiscard]] Delta timeDelta(const Comparison& comparison);

enum class ComparisonColumn : std::uint8_t { Name, Ancestor, Left, Right, Delta, Verdict };

// What two candidates are, beside each other; all of it, or only what differs.
class ComparisonModel final : public TableModel<ComparisonColumn> {
 public:
  using TableModel::TableModel;
  void setRows(std::vector<ComparisonRow> rows);
  void showOnlyDifferences(bool only);
  [[nodiscard]] int differenceCount() const;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(m_shown.size()); }
  [[nodiscard]] std::span<const ColumnInfo> columns() const override;
  [[nodiscard]] QVariant cell(int row, ComparisonColumn column, int role) const override;

 private:
  void choose();

  std::vector<ComparisonRow> m_rows;
  std::vector<std::size_t> m_shown;
  bool m_onlyDifferences = false;
};

}  // namespace swage::ui
