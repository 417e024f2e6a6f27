// SPDX-License-Identifier: Apache-2.0
// The part of Record that says who proposed what.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "core/store/record_impl.h"
#include "core/store/statements.h"

namespace swage::store {
namespace {

using Key = std::pair<domain::ProposerName, int>;
using Lines = std::map<Key, ProposerLine>;

Result<domain::ProposerName> proposerIn(const SQLite::Statement& row, int column) {
  const std::string text = row.getColumn(column).getString();
  if (auto proposer = domain::ProposerName::parse(text)) {
    return std::move(*proposer);
  }
  return Error(ErrorKind::Storage,
               fmt::format("the record has a candidate of an operator '{}', which is no name", text));
}

Result<> countCandidates(SQLite::Database& connection, domain::RunId run, Lines& lines) {
  // Beside a lone max(), SQLite takes the plain columns from the row that has the maximum.
  SQLite::Statement query(connection,
                          "SELECT operator, island, count(*), sum(status = 'correct'), max(id), status FROM candidates "
                          "WHERE run_id = ? GROUP BY operator, island");
  bindAll(query, run.value());
  while (query.executeStep()) {
    SWAGE_TRY_ASSIGN(const domain::ProposerName madeBy, proposerIn(query, 0));
    const int island = query.getColumn(1).getInt();
    lines[{madeBy, island}] = {.madeBy = madeBy,
                               .island = island,
                               .proposed = query.getColumn(2).getInt64(),
                               .correct = query.getColumn(3).getInt64(),
                               .elites = 0,
                               .last = domain::CandidateId(query.getColumn(4).getInt64()),
                               .lastStatus = query.getColumn(5).getString()};
  }
  return {};
}

Result<> countElites(SQLite::Database& connection, domain::RunId run, Lines& lines) {
  SQLite::Statement query(connection,
                          "SELECT operator, cells.island, count(*) FROM cells "
                          "JOIN candidates ON candidates.id = best_candidate WHERE cells.run_id = ? GROUP BY 1, 2");
  bindAll(query, run.value());
  while (query.executeStep()) {
    SWAGE_TRY_ASSIGN(const domain::ProposerName madeBy, proposerIn(query, 0));
    const int island = query.getColumn(1).getInt();
    lines[{madeBy, island}].elites = query.getColumn(2).getInt();
  }
  return {};
}

}  // namespace

Result<std::vector<ProposerLine>> Record::proposers(domain::RunId run) const {
  return m_impl->reading("read who proposed what",
                         [&](SQLite::Database& connection) -> Result<std::vector<ProposerLine>> {
                           Lines lines;
                           SWAGE_TRY(countCandidates(connection, run, lines));
                           SWAGE_TRY(countElites(connection, run, lines));
                           std::vector<ProposerLine> found;
                           found.reserve(lines.size());
                           for (auto& [key, line] : lines) {
                             found.push_back(std::move(line));
                           }
                           return found;
                         });
}

Result<std::vector<double>> Record::cellsFilledAt(domain::RunId run) const {
  return m_impl->reading("read when cells were filled",
                         [&](SQLite::Database& connection) -> Result<std::vector<double>> {
                           SQLite::Statement query(connection,
                                                   "SELECT min(elapsed_s) FROM candidates WHERE run_id = ? AND cell IS "
                                                   "NOT NULL AND rank IS NOT NULL GROUP BY cell ORDER BY 1");
                           bindAll(query, run.value());
                           std::vector<double> seconds;
                           while (query.executeStep()) {
                             seconds.push_back(query.getColumn(0).getDouble());
                           }
                           return seconds;
                         });
}

}  // namespace swage::store
