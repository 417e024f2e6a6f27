// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/locator_model.h"

#include <algorithm>
#include <limits>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr std::size_t kMostShown = 200;

// By its text, else by text and detail together, which counts for less.
std::optional<FuzzyMatch> matchEntry(const QString& query, const LocatorEntry& entry) {
  if (entry.answersQuery) {
    return FuzzyMatch{.score = std::numeric_limits<int>::max(), .positions = {}};
  }
  if (auto match = fuzzyMatch(query, entry.text)) {
    return match;
  }
  auto match = fuzzyMatch(query, entry.text % u" "_s % entry.detail);
  if (match) {
    match->score /= 2;
    std::erase_if(match->positions, [&entry](int position) { return position >= entry.text.size(); });
  }
  return match;
}

}  // namespace

void LocatorModel::setSource(LocatorSource source) {
  m_source = std::move(source);
  setQuery({});
}

void LocatorModel::setQuery(const QString& query) {
  beginResetModel();
  m_shown.clear();
  for (LocatorEntry& entry : m_source ? m_source(query) : std::vector<LocatorEntry>()) {
    if (auto match = matchEntry(query, entry)) {
      m_shown.push_back({std::move(entry), std::move(*match)});
    }
  }
  std::stable_sort(m_shown.begin(), m_shown.end(), [](const Shown& a, const Shown& b) {
    return a.entry.enabled != b.entry.enabled ? a.entry.enabled : a.match.score > b.match.score;
  });
  if (m_shown.size() > kMostShown) {
    m_shown.resize(kMostShown);
  }
  m_enabled = static_cast<int>(
      std::count_if(m_shown.begin(), m_shown.end(), [](const Shown& shown) { return shown.entry.enabled; }));
  endResetModel();
}

int LocatorModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_shown.size());
}

QVariant LocatorModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
    return {};
  }
  const auto& [entry, match] = m_shown[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole: return entry.text;
    case Qt::AccessibleTextRole: return QString(entry.text % u", "_s % entry.detail % u", "_s % entry.keys);
    case DetailRole: return entry.detail;
    case KeysRole: return entry.keys;
    case PositionsRole: return QVariant::fromValue(QList<int>(match.positions.begin(), match.positions.end()));
    default: return {};
  }
}

Qt::ItemFlags LocatorModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) {
    return Qt::NoItemFlags;
  }
  const Qt::ItemFlags flags = Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
  return entry(index.row()).enabled ? flags | Qt::ItemIsEnabled : flags;
}

}  // namespace swage::ui
