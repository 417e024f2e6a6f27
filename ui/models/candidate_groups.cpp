// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/candidate_groups.h"

#include <QCoreApplication>

#include <algorithm>
#include <limits>
#include <utility>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("groups", text);
}

// Operators in the order of their enumeration, then whoever else proposes.
int placeOf(const domain::ProposerName& madeBy) {
  return madeBy.kind() ? static_cast<int>(*madeBy.kind()) : std::numeric_limits<int>::max();
}

QString nameOf(int place, const std::string& name, GroupBy by) {
  if (by == GroupBy::Generation) {
    return place == 0 ? tr("Generation 0: no parents") : tr("Generation %1").arg(place);
  }
  return by == GroupBy::Cell && name.empty() ? tr("No cell") : toQString(name);
}

}  // namespace

QString title(GroupBy by) {
  switch (by) {
    case GroupBy::Nothing: return tr("No groups");
    case GroupBy::Cell: return tr("By cell");
    case GroupBy::Operator: return tr("By operator");
    case GroupBy::Status: return tr("By status");
    case GroupBy::Generation: return tr("By generation");
  }
  return {};
}

QString describe(const CandidateGroup& group) {
  const QString count = group.ids.size() == 1
                            ? tr("1 candidate")
                            : tr("%1 candidates").arg(formatCount(static_cast<std::int64_t>(group.ids.size())));
  const QString text = u"%1 · %2"_s.arg(group.name, count);
  return group.best.isKnown() ? text % u" · "_s % tr("best %1").arg(formatSpeedup(group.best)) : text;
}

void CandidateGroups::note(const services::CandidateRow& row) {
  m_facts[row.id] = {row.cell, row.madeBy, row.status, row.speedup, row.parents};
}

void CandidateGroups::forgetUnsettled() {
  std::erase_if(m_facts, [](const auto& entry) { return !domain::isEvaluated(entry.second.status); });
}

std::vector<domain::CandidateId> CandidateGroups::unknown(std::span<const domain::CandidateId> ids, GroupBy by) const {
  std::set<domain::CandidateId> missing;
  for (const domain::CandidateId id : ids) {
    if (!m_facts.contains(id)) {
      missing.insert(id);
    }
  }
  if (by == GroupBy::Generation) {
    for (const auto& [id, facts] : m_facts) {
      for (const domain::CandidateId parent : facts.parents) {
        if (parent < id && !m_facts.contains(parent)) {
          missing.insert(parent);
        }
      }
    }
  }
  return {missing.begin(), missing.end()};
}

// A parent is older than its child, so one walk from the oldest to the youngest is enough.
std::map<domain::CandidateId, int> CandidateGroups::generations() const {
  std::map<domain::CandidateId, int> found;
  for (const auto& [id, facts] : m_facts) {
    int generation = 0;
    for (const domain::CandidateId parent : facts.parents) {
      if (const auto known = found.find(parent); known != found.end()) {
        generation = std::max(generation, known->second + 1);
      }
    }
    found.emplace_hint(found.end(), id, generation);
  }
  return found;
}

CandidateGroups::Key CandidateGroups::keyOf(const Facts& facts, GroupBy by) {
  switch (by) {
    case GroupBy::Cell: return facts.cell ? Key(facts.cell->index(), facts.cell->name()) : Key(domain::kCellCount, "");
    case GroupBy::Operator: return {placeOf(facts.madeBy), facts.madeBy.text()};
    case GroupBy::Status:
      return {facts.status == domain::CandidateStatus::Correct ? 0 : 1, std::string(domain::name(facts.status))};
    case GroupBy::Generation:
    case GroupBy::Nothing: break;
  }
  return {};
}

std::vector<CandidateGroup> CandidateGroups::arrange(std::span<const domain::CandidateId> ids, GroupBy by) const {
  const auto generation = by == GroupBy::Generation ? generations() : std::map<domain::CandidateId, int>();
  std::map<Key, CandidateGroup> groups;
  for (const domain::CandidateId id : ids) {
    const auto found = m_facts.find(id);
    if (found == m_facts.end()) {
      continue;
    }
    const Facts& facts = found->second;
    const Key key = by == GroupBy::Generation ? Key(generation.at(id), "") : keyOf(facts, by);
    CandidateGroup& group = groups[key];
    group.ids.push_back(id);
    if (domain::ranksBefore(facts.speedup, group.best)) {
      group.best = facts.speedup;
    }
  }
  std::vector<CandidateGroup> arranged;
  for (auto& [key, group] : groups) {
    group.name = nameOf(key.first, key.second, by);
    arranged.push_back(std::move(group));
  }
  return arranged;
}

domain::CandidateId GroupedRows::header(std::size_t group) {
  return domain::CandidateId(-2 - static_cast<std::int64_t>(group));  // -1 is no candidate at all
}

std::optional<std::size_t> GroupedRows::groupOf(domain::CandidateId id) {
  return id.value() <= -2 ? std::optional(static_cast<std::size_t>(-2 - id.value())) : std::nullopt;
}

GroupedRows GroupedRows::of(std::vector<CandidateGroup> groups, const std::set<QString>& unfolded) {
  GroupedRows rows;
  rows.groups = std::move(groups);
  for (std::size_t i = 0; i < rows.groups.size(); ++i) {
    rows.ids.push_back(header(i));
    if (unfolded.contains(rows.groups[i].name)) {
      rows.ids.insert(rows.ids.end(), rows.groups[i].ids.begin(), rows.groups[i].ids.end());
    }
  }
  return rows;
}

}  // namespace swage::ui
