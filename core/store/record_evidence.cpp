// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <fmt/format.h>

#include "core/base/unix_time.h"
#include "core/domain/json.h"
#include "core/domain/json_reader.h"
#include "core/store/record_impl.h"
#include "core/store/statements.h"

// What is known of a task or a candidate beyond its evaluation: assurances, profiles, baselines of earlier runs.
namespace swage::store {

Result<> Record::setAssurance(domain::CandidateId id, const domain::Assurance& assurance) {
  return m_impl->writing("record what was checked of a candidate", [&](SQLite::Database& connection) -> Result<> {
    execute(connection,
            "INSERT INTO assurances (candidate_id, kind, verdict, json, at_ms) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (candidate_id, kind) DO UPDATE SET verdict = excluded.verdict, json = excluded.json, "
            "at_ms = excluded.at_ms",
            id.value(), name(assurance.kind), name(assurance.verdict), domain::dumpJson(domain::toJson(assurance)),
            unixTimeMs());
    return {};
  });
}

Result<> Record::setProfile(domain::CandidateId id, const domain::Profile& profile) {
  return m_impl->writing("record a profile", [&](SQLite::Database& connection) -> Result<> {
    const std::string text = domain::dumpJson(domain::toJson(profile));
    SWAGE_TRY_ASSIGN(const std::int64_t artifact, m_impl->artifacts.put(connection, text));
    execute(connection,
            "INSERT INTO profiles (candidate_id, json_artifact, at_ms) VALUES (?, ?, ?) "
            "ON CONFLICT (candidate_id) DO UPDATE SET json_artifact = excluded.json_artifact, at_ms = excluded.at_ms",
            id.value(), artifact, unixTimeMs());
    return {};
  });
}

Result<std::vector<domain::Assurance>> Record::assurances(domain::CandidateId id) const {
  using List = std::vector<domain::Assurance>;
  return m_impl->reading("read what was checked of a candidate", [&](SQLite::Database& connection) -> Result<List> {
    List found;
    SQLite::Statement query(connection, "SELECT json FROM assurances WHERE candidate_id = ? ORDER BY at_ms, kind");
    bindAll(query, id.value());
    while (query.executeStep()) {
      SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(query.getColumn(0).getString()));
      SWAGE_TRY_ASSIGN(domain::Assurance assurance, domain::readJson(json, "assurance", domain::readAssurance));
      found.push_back(std::move(assurance));
    }
    return found;
  });
}

Result<std::optional<domain::CandidateId>> Record::commonAncestor(domain::CandidateId first,
                                                                  domain::CandidateId second) const {
  using Found = std::optional<domain::CandidateId>;
  return m_impl->reading("read a lineage", [&](SQLite::Database& connection) -> Result<Found> {
    const auto lineage = [](const char* name, const char* start) {
      return fmt::format(
          "{0}(id) AS (SELECT {1} UNION SELECT parent.value FROM {0} JOIN candidates USING (id), "
          "json_each('[' || parents || ']') AS parent)",
          name, start);
    };
    SQLite::Statement query(connection, "WITH RECURSIVE " + lineage("one", "?1") + ", " + lineage("other", "?2") +
                                            " SELECT max(id) FROM candidates WHERE id IN one AND id IN other");
    bindAll(query, first.value(), second.value());
    query.executeStep();
    return query.isColumnNull(0) ? Found() : Found(domain::CandidateId(query.getColumn(0).getInt64()));
  });
}

Result<StageTotals> Record::stageTotals(domain::RunId run) const {
  return m_impl->reading("sum up the stages of a run", [&](SQLite::Database& connection) -> Result<StageTotals> {
    SQLite::Statement query(
        connection,
        "SELECT count(nullif(binary_hash, '')), total(compile_s), count(verify_s), total(verify_s), "
        "total(timing_s) "
        "FROM candidates JOIN candidate_details USING (id) WHERE run_id = ? AND operator <> 'human'");
    bindAll(query, run.value());
    query.executeStep();
    return StageTotals{query.getColumn(0).getInt64(), query.getColumn(1).getDouble(), query.getColumn(2).getInt64(),
                       query.getColumn(3).getDouble(), query.getColumn(4).getDouble()};
  });
}

Result<std::optional<domain::Profile>> Record::profile(domain::CandidateId id) const {
  using Found = std::optional<domain::Profile>;
  return m_impl->reading("read a profile", [&](SQLite::Database& connection) -> Result<Found> {
    SQLite::Statement query(connection, "SELECT json_artifact FROM profiles WHERE candidate_id = ?");
    bindAll(query, id.value());
    if (!query.executeStep()) {
      return Found();
    }
    SWAGE_TRY_ASSIGN(const std::string text, m_impl->artifacts.load(connection, query.getColumn(0).getInt64()));
    SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(text));
    SWAGE_TRY_ASSIGN(domain::Profile profile, domain::profileFromJson(json));
    return Found(std::move(profile));
  });
}

Result<std::vector<Record::KnownBaseline>> Record::knownBaselines(std::string_view taskId, std::string_view deviceUuid,
                                                                  std::string_view torchVersion) const {
  using List = std::vector<KnownBaseline>;
  return m_impl->reading("read earlier baselines", [&](SQLite::Database& connection) -> Result<List> {
    std::map<std::string, KnownBaseline> newest;
    std::map<std::string, std::string> texts;  // what was measured, to the last digit
    SQLite::Statement query(connection,
                            "SELECT baselines.json, runs.id, runs.started_at_ms FROM baselines JOIN runs "
                            "ON runs.id = run_id WHERE task_id = ? AND json_extract(device_json, '$.uuid') = ? "
                            "ORDER BY baselines.id");
    bindAll(query, taskId, deviceUuid);
    while (query.executeStep()) {
      std::string text = query.getColumn(0).getString();
      SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(text));
      SWAGE_TRY_ASSIGN(domain::Baseline baseline, domain::baselineFromJson(json));
      const std::string mode = baseline.mode;
      const bool isUsedAgain = texts[mode] == text;
      if (baseline.failure.empty() && baseline.torchVersion == torchVersion && !isUsedAgain) {
        newest[mode] = {std::move(baseline), domain::RunId(query.getColumn(1).getInt64()),
                        query.getColumn(2).getInt64()};
        texts[mode] = std::move(text);
      }
    }
    List found;
    for (auto& [mode, known] : newest) {
      found.push_back(std::move(known));
    }
    return found;
  });
}

}  // namespace swage::store
