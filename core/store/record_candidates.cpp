// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/store/interruption.h"
#include "core/store/queries.h"
#include "core/store/record_impl.h"
#include "core/store/rows.h"
#include "core/store/statements.h"

// The lists of candidates: pages, ids in order, lineages.
namespace swage::store {
namespace {

// Reads rows of the table; speedups are against the fastest baseline of each candidate's run.
class RowReader {
 public:
  explicit RowReader(SQLite::Database& connection) {
    SQLite::Statement query(connection, "SELECT id, eager_speedup, eager_speedup_low, eager_speedup_high FROM runs");
    while (query.executeStep()) {
      m_eagerSpeedups[query.getColumn(0).getInt64()] = speedupFrom(query, 1);
    }
  }

  Result<CandidateRow> read(SQLite::Statement& row) {
    constexpr int kRunColumn = 1;  // of rowColumns()
    return rowFrom(row, m_eagerSpeedups[row.getColumn(kRunColumn).getInt64()]);
  }

 private:
  std::map<std::int64_t, domain::Speedup> m_eagerSpeedups;  // by run
};

// Reads candidates one by one with a statement that is prepared once.
class SingleReader {
 public:
  explicit SingleReader(SQLite::Database& connection)
      : m_rows(connection),
        m_statement(connection, fmt::format("SELECT {} FROM candidates WHERE id = ?", rowColumns())) {}

  // No value: there is no such candidate.
  Result<std::optional<CandidateRow>> read(domain::CandidateId id) {
    m_statement.reset();
    bindAll(m_statement, id.value());
    if (!m_statement.executeStep()) {
      return std::optional<CandidateRow>();
    }
    SWAGE_TRY_ASSIGN(CandidateRow found, m_rows.read(m_statement));
    return std::optional(std::move(found));
  }

 private:
  RowReader m_rows;
  SQLite::Statement m_statement;
};

// Ids that are left out of a list.
class Trash {
 public:
  Trash(SQLite::Database& connection, bool isLeftOut) {
    SQLite::Statement query(connection, "SELECT candidate_id FROM trash ORDER BY candidate_id");
    while (isLeftOut && query.executeStep()) {
      m_ids.push_back(query.getColumn(0).getInt64());
    }
  }
  [[nodiscard]] bool has(std::int64_t id) const { return std::binary_search(m_ids.begin(), m_ids.end(), id); }

 private:
  std::vector<std::int64_t> m_ids;
};

// Walks from one candidate to those around it, generation by generation.
class LineageWalk {
 public:
  LineageWalk(SQLite::Database& connection, const domain::LineageReach& reach)
      : m_reader(connection),
        m_children(connection,
                   "SELECT child FROM lineage JOIN candidates ON candidates.id = child WHERE parent = ? "
                   "ORDER BY rank DESC NULLS LAST, child LIMIT ?"),
        m_reach(reach) {}

  Result<domain::Lineage> from(domain::CandidateId id) {
    SWAGE_TRY_ASSIGN(const Visit first, visit(id));
    if (first == Visit::Missing) {
      return Error(ErrorKind::NotFound, fmt::format("the record has no candidate {}", id.value()));
    }
    SWAGE_TRY(climb());
    SWAGE_TRY(descend(id));
    return std::move(m_result);
  }

 private:
  enum class Visit : std::uint8_t { Added, Known, Missing, Full };

  Result<Visit> visit(domain::CandidateId id) {
    if (m_known.contains(id.value())) {
      return Visit::Known;
    }
    if (m_result.rows.size() >= m_reach.candidates) {
      return Visit::Full;
    }
    SWAGE_TRY_ASSIGN(std::optional<CandidateRow> found, m_reader.read(id));
    if (!found) {
      return Visit::Missing;
    }
    m_known.insert(id.value());
    m_result.rows.push_back(std::move(*found));
    return Visit::Added;
  }

  // The rows read so far are the frontier of the next generation.
  Result<> climb() {
    std::size_t begin = 0;
    for (int generation = 0; begin < m_result.rows.size(); ++generation) {
      const std::size_t end = m_result.rows.size();
      for (; begin < end; ++begin) {
        const std::vector<domain::CandidateId> parents = m_result.rows[begin].parents;
        for (const domain::CandidateId parent : parents) {
          if (generation == m_reach.generationsUp) {
            m_result.hasMoreAncestors = m_result.hasMoreAncestors || !m_known.contains(parent.value());
            continue;
          }
          SWAGE_TRY_ASSIGN(const Visit visited, visit(parent));
          m_result.hasMoreAncestors = m_result.hasMoreAncestors || visited == Visit::Full;
        }
      }
    }
    return {};
  }

  Result<> descend(domain::CandidateId id) {
    std::vector<domain::CandidateId> frontier = {id};
    for (int generation = 0; !frontier.empty(); ++generation) {
      std::vector<domain::CandidateId> next;
      for (const domain::CandidateId parent : frontier) {
        for (const domain::CandidateId child : childrenOf(parent)) {
          if (generation == m_reach.generationsDown) {
            m_result.hasMoreDescendants = m_result.hasMoreDescendants || !m_known.contains(child.value());
            continue;
          }
          SWAGE_TRY_ASSIGN(const Visit visited, visit(child));
          m_result.hasMoreDescendants = m_result.hasMoreDescendants || visited == Visit::Full;
          if (visited == Visit::Added) {
            next.push_back(child);
          }
        }
      }
      frontier = std::move(next);
    }
    return {};
  }

  std::vector<domain::CandidateId> childrenOf(domain::CandidateId parent) {
    m_children.reset();
    bindAll(m_children, parent.value(), static_cast<std::int64_t>(m_reach.candidates) + 1);
    std::vector<domain::CandidateId> found;
    while (m_children.executeStep()) {
      found.emplace_back(m_children.getColumn(0).getInt64());
    }
    return found;
  }

  SingleReader m_reader;
  SQLite::Statement m_children;
  domain::LineageReach m_reach;
  std::set<std::int64_t> m_known;
  domain::Lineage m_result;
};

}  // namespace

Result<std::vector<CandidateRow>> Record::candidates(const CandidateQuery& query) const {
  return m_impl->reading("list candidates", [&](SQLite::Database& connection) -> Result<std::vector<CandidateRow>> {
    RowReader reader(connection);
    const CandidateStatement sql(query);
    SQLite::Statement statement(connection, sql.pageSql());
    const int next = sql.bind(statement);
    bindOne(statement, next, query.limit);
    bindOne(statement, next + 1, query.offset);
    std::vector<CandidateRow> rows;
    while (statement.executeStep()) {
      SWAGE_TRY_ASSIGN(CandidateRow found, reader.read(statement));
      rows.push_back(std::move(found));
    }
    return rows;
  });
}

Result<std::int64_t> Record::candidateCount(const CandidateQuery& query) const {
  return m_impl->reading("count candidates", [&](SQLite::Database& connection) -> Result<std::int64_t> {
    const CandidateStatement sql(query);
    SQLite::Statement statement(connection, sql.countSql());
    sql.bind(statement);
    statement.executeStep();
    return statement.getColumn(0).getInt64();
  });
}

Result<std::vector<domain::CandidateId>> Record::candidateIds(const CandidateQuery& query,
                                                              const std::function<bool()>& isCancelled) const {
  using Ids = std::vector<domain::CandidateId>;
  Result<Ids> found = m_impl->reading("look for candidates", [&](SQLite::Database& connection) -> Result<Ids> {
    const Interruption interruption(connection, isCancelled);
    const CandidateStatement sql(query);
    SQLite::Statement statement(connection, sql.idsSql());
    sql.bind(statement);
    const Trash trash(connection, leavesOutTrash(query.filter));
    Ids ids;
    while (statement.executeStep()) {
      if (const std::int64_t id = statement.getColumn(0).getInt64(); !trash.has(id)) {
        ids.emplace_back(id);
      }
    }
    return ids;
  });
  if (!found && isCancelled()) {
    return Error(ErrorKind::Cancelled, "the search for candidates was cancelled");
  }
  return found;
}

Result<std::vector<CandidateRow>> Record::candidates(std::span<const domain::CandidateId> ids) const {
  return m_impl->reading("read candidates", [&](SQLite::Database& connection) -> Result<std::vector<CandidateRow>> {
    SingleReader reader(connection);
    std::vector<CandidateRow> rows;
    rows.reserve(ids.size());
    for (const domain::CandidateId id : ids) {
      SWAGE_TRY_ASSIGN(std::optional<CandidateRow> found, reader.read(id));
      if (!found) {
        return Error(ErrorKind::NotFound, fmt::format("the record has no candidate {}", id.value()));
      }
      rows.push_back(std::move(*found));
    }
    return rows;
  });
}

Result<domain::Lineage> Record::lineage(domain::CandidateId id, const domain::LineageReach& reach) const {
  return m_impl->reading("read a lineage", [&](SQLite::Database& connection) -> Result<domain::Lineage> {
    return LineageWalk(connection, reach).from(id);
  });
}

}  // namespace swage::store
