// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/services/types.h"

namespace swage::ui {

// What a list of candidates is divided by.
enum class GroupBy : std::uint8_t { Nothing, Cell, Operator, Status, Generation };
inline constexpr int kGroupings = 5;
[[nodiscard]] QString title(GroupBy by);  // "By cell"

struct CandidateGroup {
  QString name;  // "A1B1C1", "correct", "Generation 3"
  std::vector<domain::CandidateId> ids;
  domain::Speedup best;
};
// "A1B1C1 · 128 candidates · best 2.31×"
[[nodiscard]] QString describe(const CandidateGroup& group);

// Keeps of each candidate what groups are made by, and makes them. Rows are told once; ten million bytes for each
// hundred thousand of them.
class CandidateGroups {
 public:
  void clear() { m_facts.clear(); }
  void note(const services::CandidateRow& row);
  // Those that were told before their evaluation ended have to be told again.
  void forgetUnsettled();
  // What has to be told before the ids can be arranged: they themselves, and for generations their ancestors.
  [[nodiscard]] std::vector<domain::CandidateId> unknown(std::span<const domain::CandidateId> ids, GroupBy by) const;
  // Groups in their own order, each with its ids in the given order. What is not known is left out.
  [[nodiscard]] std::vector<CandidateGroup> arrange(std::span<const domain::CandidateId> ids, GroupBy by) const;

 private:
  struct Facts {
    std::optional<domain::Cell> cell;
    domain::ProposerName madeBy = domain::OperatorKind::Synthesis;
    domain::CandidateStatus status = domain::CandidateStatus::Pending;
    domain::Speedup speedup;
    std::vector<domain::CandidateId> parents;
  };
  // A place in the order of groups, and the name that goes with it.
  using Key = std::pair<int, std::string>;
  [[nodiscard]] static Key keyOf(const Facts& facts, GroupBy by);
  [[nodiscard]] std::map<domain::CandidateId, int> generations() const;

  std::map<domain::CandidateId, Facts> m_facts;
};

// The rows of a grouped list: a header for each group, and below it the members of those that are not folded.
struct GroupedRows {
  // Negative ids stand for headers.
  [[nodiscard]] static GroupedRows of(std::vector<CandidateGroup> groups, const std::set<QString>& unfolded);
  [[nodiscard]] static domain::CandidateId header(std::size_t group);
  [[nodiscard]] static std::optional<std::size_t> groupOf(domain::CandidateId id);

  std::vector<CandidateGroup> groups;
  std::vector<domain::CandidateId> ids;
};

}  // namespace swage::ui
