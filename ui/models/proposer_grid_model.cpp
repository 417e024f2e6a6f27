// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/proposer_grid_model.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::ProposerReport;
using services::ProposerStanding;
using services::ProposerTally;

QString none() {
  return u"–"_s;
}

int islandsIn(const ProposerReport& report) {
  int islands = 0;
  for (const ProposerTally& tally : report.tallies) {
    islands = std::max(islands, tally.island + 1);
  }
  return islands;
}

double correctShare(const ProposerTally& tally) {
  return tally.proposed > 0 ? static_cast<double>(tally.correct) / static_cast<double>(tally.proposed) : 0.0;
}

}  // namespace

QString operatorMeaning(std::string_view name) {
  using Kind = domain::OperatorKind;
  static const std::map<std::string_view, const char*> kMeanings = {
      {domain::name(Kind::Baseline), QT_TRANSLATE_NOOP("operators", "PyTorch's own operators, as the task has them")},
      {domain::name(Kind::Synthesis), QT_TRANSLATE_NOOP("operators", "Writes a new kernel from patterns")},
      {domain::name(Kind::Parameter),
       QT_TRANSLATE_NOOP("operators", "Changes numbers of a good candidate: tile sizes, threads, unrolling")},
      {domain::name(Kind::Split), QT_TRANSLATE_NOOP("operators", "Splits a kernel of a candidate into two")},
      {domain::name(Kind::Merge), QT_TRANSLATE_NOOP("operators", "Merges two kernels of a candidate into one")},
      {domain::name(Kind::PatternSwap), QT_TRANSLATE_NOOP("operators", "Uses another pattern for a kernel")},
      {domain::name(Kind::Crossover), QT_TRANSLATE_NOOP("operators", "Combines the kernels of two candidates")},
      {domain::name(Kind::Rewrite),
       QT_TRANSLATE_NOOP("operators",
                         "Computes a part of the model in another way that is equal by algebra, or undoes it")},
      {domain::name(Kind::Aimed),
       QT_TRANSLATE_NOOP("operators", "Changes a candidate so that it should land in an empty cell beside its own")},
      {domain::name(Kind::Migration),
       QT_TRANSLATE_NOOP("operators", "Copies a good candidate to the next island, without evaluating it again")},
      {domain::name(Kind::Human), QT_TRANSLATE_NOOP("operators", "Edits made by a person; they get no credit")},
      {domain::name(Kind::Coder), QT_TRANSLATE_NOOP("operators", "A language model writes the kernel")}};
  const auto found = kMeanings.find(name);
  return found == kMeanings.end() ? QString() : QCoreApplication::translate("operators", found->second);
}

std::vector<ProposerGridModel::Row> ProposerGridModel::rowsOf(const ProposerReport& report, int islands) {
  std::vector<Row> rows;
  const auto rowOf = [&](const std::string& name) -> Row& {
    const auto found = std::find_if(rows.begin(), rows.end(), [&name](const Row& row) { return row.name == name; });
    if (found != rows.end()) {
      return *found;
    }
    rows.push_back({name, std::nullopt, std::vector<std::optional<ProposerTally>>(static_cast<std::size_t>(islands))});
    return rows.back();
  };
  for (const ProposerStanding& proposer : report.proposers) {
    rowOf(proposer.name).earned = proposer;
  }
  for (const ProposerTally& tally : report.tallies) {
    if (tally.island >= 0) {
      rowOf(tally.proposer).islands[static_cast<std::size_t>(tally.island)] = tally;
    }
  }
  return rows;
}

void ProposerGridModel::setReport(const ProposerReport& report) {
  // An island that nobody has proposed for yet keeps its place while others are seen there.
  const int islands = report.tallies.empty() ? 0 : islandsIn(report);
  std::vector<Row> rows = rowsOf(report, islands);
  const bool isSameShape =
      islands == m_islands && rows.size() == m_rows.size() &&
      std::equal(rows.begin(), rows.end(), m_rows.begin(), [](const Row& a, const Row& b) { return a.name == b.name; });
  if (!isSameShape) {
    beginResetModel();
    m_rows = std::move(rows);
    m_islands = islands;
    endResetModel();
    return;
  }
  m_rows = std::move(rows);
  if (!m_rows.empty()) {
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  }
}

domain::CandidateId ProposerGridModel::candidateAt(const QModelIndex& index) const {
  const QVariant id = index.data(CandidateRole);
  return id.isValid() ? domain::CandidateId(id.toLongLong()) : domain::CandidateId();
}

int ProposerGridModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int ProposerGridModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(FirstIsland) + m_islands;
}

QVariant ProposerGridModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
    return {};
  }
  const Row& row = m_rows[static_cast<std::size_t>(index.row())];
  if (index.column() < FirstIsland) {
    return proposerData(row, index.column(), role);
  }
  const auto& tally = row.islands[static_cast<std::size_t>(index.column() - FirstIsland)];
  if (tally) {
    return tallyData(*tally, headerData(index.column(), Qt::Horizontal).toString(), role);
  }
  return role == Qt::DisplayRole || role == HeadlineRole ? QVariant(none()) : QVariant();
}

QVariant ProposerGridModel::proposerData(const Row& row, int column, int role) {
  if (column == NameColumn) {
    return role == Qt::DisplayRole   ? QVariant(toQString(row.name))
           : role == Qt::ToolTipRole ? QVariant(operatorMeaning(row.name))
                                     : QVariant();
  }
  if (!row.earned) {
    return role == Qt::DisplayRole ? QVariant(none()) : QVariant();
  }
  const double value = column == CreditColumn ? row.earned->credit : row.earned->share;
  switch (role) {
    case Qt::DisplayRole: return formatShare(value);
    case ShareRole: return value;
    default: return {};
  }
}

QVariant ProposerGridModel::tallyData(const ProposerTally& tally, const QString& island, int role) {
  const QString proposed = tr("%1 proposed").arg(formatCount(tally.proposed));
  const QString correct = tr("%1 correct").arg(formatShare(correctShare(tally)));
  const QString elites = tally.elites == 1 ? tr("1 elite") : tr("%1 elites").arg(tally.elites);
  const QString last =
      tally.last.isValid()
          ? QString(u"#"_s % QString::number(tally.last.value()) % u" "_s % toQString(tally.lastStatus))
          : QString();
  switch (role) {
    case Qt::DisplayRole: return QStringList{proposed, correct, elites, last}.join(u", "_s);
    case HeadlineRole: return formatCount(tally.proposed);
    case DetailRole: return tally.elites > 0 ? elites : QString();
    case LastRole: return last;
    case ShareRole: return tally.proposed > 0 ? QVariant(correctShare(tally)) : QVariant();
    case CandidateRole: return tally.last.isValid() ? QVariant(static_cast<qint64>(tally.last.value())) : QVariant();
    case Qt::ToolTipRole:
      return QString(u"<b>"_s % toQString(tally.proposer).toHtmlEscaped() % u", "_s % island.toHtmlEscaped() %
                     u"</b><br>"_s % proposed % u"<br>"_s %
                     tr("%1 correct (%2)").arg(formatCount(tally.correct), formatShare(correctShare(tally))) %
                     u"<br>"_s % elites % (last.isEmpty() ? QString() : u"<br>"_s % tr("last: %1").arg(last)));
    default: return {};
  }
}

QVariant ProposerGridModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    return static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role == Qt::DisplayRole) {
    switch (section) {
      case NameColumn: return tr("Operator");
      case CreditColumn: return tr("Credit");
      case ShareColumn: return tr("Share");
      default: return tr("Island %1").arg(section - FirstIsland);
    }
  }
  if (role == Qt::ToolTipRole) {
    switch (section) {
      case NameColumn: return tr("What makes new candidates");
      case CreditColumn:
        return tr(
            "Of what it proposed lately, the share that entered the archive. It decides how often the operator is "
            "used");
      case ShareColumn: return tr("Share of all new proposals that the operator gets now");
      default:
        return tr(
            "What the operator proposed on this island, how much of it is correct, and how many cells it holds there");
    }
  }
  return {};
}

}  // namespace swage::ui
