// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QPromise>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/services/doctor_service.h"
#include "core/services/edit_service.h"
#include "core/services/pattern_service.h"
#include "core/services/record_check_service.h"
#include "core/services/record_service.h"
#include "core/services/run_service.h"
#include "core/services/self_test_service.h"
#include "core/services/settings_service.h"
#include "tests/support/slow_answers.h"

// The services of the window without an engine behind them: tests set what they say and read what they were told.
namespace swage::testing {

class FakeRunService : public services::RunService {
 public:
  using services::RunService::RunService;

  void start(const services::RunSpec& newSpec) override {
    ++starts;
    spec = newSpec;
  }
  void pause() override { ++pauses; }
  void resume() override { ++resumes; }
  void stop() override {
    ++stops;
    if (stopsAtOnce) {
      services::RunOutcome outcome;
      outcome.interrupted = true;
      finish(outcome);
    }
  }
  void kill() override { ++kills; }
  [[nodiscard]] services::RunState state() const override { return m_state; }
  [[nodiscard]] domain::RunId currentRun() const override { return m_run; }

  // What an engine would do on its own.
  void enter(services::RunState newState) {
    m_state = newState;
    Q_EMIT stateChanged(newState);
  }
  void create(domain::RunId run) {
    m_run = run;
    Q_EMIT runCreated(run);
  }
  void finish(services::RunOutcome outcome) {
    m_state = outcome.state;
    Q_EMIT stateChanged(outcome.state);
    outcome.run = m_run;
    Q_EMIT finished(outcome);
  }

  int starts = 0;
  int pauses = 0;
  int resumes = 0;
  int stops = 0;
  int kills = 0;
  services::RunSpec spec;
  bool stopsAtOnce = false;  // a replay has nothing to wait for

 private:
  services::RunState m_state = services::RunState::Idle;
  domain::RunId m_run;
};

class FakeRecordService : public services::RecordService, public SlowAnswers {
 public:
  [[nodiscard]] Result<> open(const std::filesystem::path& project) override {
    opened = project;
    return failure ? Result<>(*failure) : Result<>();
  }
  [[nodiscard]] Result<std::vector<services::RunSummary>> runs() const override { return answer(runRows); }
  [[nodiscard]] Result<services::RunSummary> run(domain::RunId id) const override {
    const auto found = std::find_if(runRows.begin(), runRows.end(), [id](const auto& row) { return row.id == id; });
    if (found == runRows.end()) {
      return Error(ErrorKind::NotFound, "there is no such run");
    }
    return answer(*found);
  }
  [[nodiscard]] Result<std::int64_t> candidateCount(const services::CandidateQuery& page) const override {
    ++queries;
    return answer(static_cast<std::int64_t>(select(page).size()));
  }
  // Answers at once, or with answerAll() while isSlow.
  [[nodiscard]] QFuture<Result<services::CandidateIds>> candidateIds(
      const services::CandidateQuery& page) const override {
    ++queries;
    return later<services::CandidateIds>([this, page] {
      auto ids = std::make_shared<std::vector<domain::CandidateId>>();
      for (const services::CandidateRow& row : sorted(page)) {
        ids->push_back(row.id);
      }
      return answer(services::CandidateIds(std::move(ids)));
    });
  }
  [[nodiscard]] Result<std::vector<services::CandidateRow>> candidates(
      std::span<const domain::CandidateId> ids) const override {
    ++queries;
    std::vector<services::CandidateRow> found;
    for (const domain::CandidateId id : ids) {
      const auto row = std::find_if(rows.begin(), rows.end(), [id](const auto& one) { return one.id == id; });
      if (row == rows.end()) {
        return Error(ErrorKind::NotFound, "there is no such candidate");
      }
      found.push_back(*row);
    }
    return answer(std::move(found));
  }
  [[nodiscard]] Result<services::Lineage> lineage(domain::CandidateId id,
                                                  const services::LineageReach& reach) const override {
    lastReach = reach;
    services::Lineage family;
    std::set<std::int64_t> seen;
    const auto add = [&](domain::CandidateId one) {
      const auto row = std::find_if(rows.begin(), rows.end(), [one](const auto& other) { return other.id == one; });
      if (row != rows.end() && seen.insert(one.value()).second) {
        family.rows.push_back(*row);
      }
    };
    add(id);
    for (std::size_t i = 0; i < family.rows.size() && static_cast<int>(i) < reach.generationsUp; ++i) {
      const std::vector<domain::CandidateId> parents = family.rows[i].parents;
      std::for_each(parents.begin(), parents.end(), add);
    }
    for (const services::CandidateRow& row : rows) {
      if (std::find(row.parents.begin(), row.parents.end(), id) != row.parents.end()) {
        add(row.id);
      }
    }
    family.hasMoreAncestors = hasMoreAncestors;
    return answer(std::move(family));
  }
  [[nodiscard]] QFuture<Result<domain::AnnotationEdit>> annotate(const domain::AnnotationEdit& edit) override {
    edits.push_back(edit);
    return later<domain::AnnotationEdit>([this, edit] { return answer(applied(edit)); });
  }
  [[nodiscard]] Result<std::vector<services::CandidateRow>> candidates(
      const services::CandidateQuery& page) const override {
    ++queries;
    const std::vector<services::CandidateRow> selected = sorted(page);
    const auto count = static_cast<std::int64_t>(selected.size());
    const auto first = std::min(page.offset, count);
    const auto last = std::min(first + page.limit, count);
    return answer(std::vector<services::CandidateRow>(selected.begin() + first, selected.begin() + last));
  }
  [[nodiscard]] Result<services::CandidateDetail> candidate(domain::CandidateId id) const override {
    const auto row = std::find_if(rows.begin(), rows.end(), [id](const auto& one) { return one.id == id; });
    if (row == rows.end()) {
      return Error(ErrorKind::NotFound, "there is no such candidate");
    }
    services::CandidateDetail detail;
    detail.row = *row;
    return answer(makeDetail ? makeDetail(*row) : detail);
  }
  [[nodiscard]] Result<std::vector<services::CellSummary>> cells(domain::RunId,
                                                                 std::optional<int> island) const override {
    return answer(island ? gather(island, std::numeric_limits<double>::infinity()) : cellRows);
  }
  [[nodiscard]] Result<std::vector<services::CellSummary>> cellsAt(domain::RunId, std::optional<int> island,
                                                                   double seconds) const override {
    return answer(gather(island, seconds));
  }
  [[nodiscard]] Result<int> islandCount(domain::RunId) const override {
    int count = 0;
    for (const services::CandidateRow& row : rows) {
      count = std::max(count, row.island + 1);
    }
    return answer(count);
  }
  // What `rows` of an island, or of all, put into the cells up to a moment; what is not reachable stays so.
  [[nodiscard]] std::vector<services::CellSummary> gather(std::optional<int> island, double seconds) const {
    using State = services::CellSummary::State;
    std::vector<services::CellSummary> cells(domain::kCellCount);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i].cell = domain::Cell::fromIndex(static_cast<int>(i));
      const bool isUnavailable = i < cellRows.size() && cellRows[i].state == State::Unavailable;
      cells[i].state = isUnavailable ? State::Unavailable : State::Empty;
    }
    services::CellSummary* best = nullptr;
    for (const services::CandidateRow& row : rows) {
      if (!row.cell || (island && row.island != *island) || row.elapsedSeconds > seconds) {
        continue;
      }
      services::CellSummary& cell = cells[static_cast<std::size_t>(row.cell->index())];
      add(cell, row);
      best = best == nullptr || domain::ranksBefore(cell.speedup, best->speedup) ? &cell : best;
    }
    if (best != nullptr && best->state == State::Filled) {
      best->isOverallBest = true;
    }
    return cells;
  }
  [[nodiscard]] Result<std::vector<services::HistoryPoint>> history(domain::RunId) const override {
    return answer(points);
  }
  [[nodiscard]] Result<std::vector<domain::Baseline>> baselines(domain::RunId) const override {
    return answer(baselineRows);
  }

  [[nodiscard]] QFuture<Result<services::RunActivity>> activity(domain::RunId) const override {
    ++activityQueries;
    return later<services::RunActivity>([this] { return answer(runActivity); });
  }
  [[nodiscard]] Result<std::optional<domain::Profile>> profile(domain::CandidateId id) const override {
    return answer(makeProfile ? makeProfile(id) : std::optional<domain::Profile>());
  }

  std::filesystem::path opened;
  std::optional<Error> failure;  // of every question
  bool hasMoreAncestors = false;
  mutable int queries = 0;
  mutable int activityQueries = 0;
  services::RunActivity runActivity;
  mutable services::LineageReach lastReach;
  std::vector<domain::AnnotationEdit> edits;
  std::vector<services::RunSummary> runRows;
  std::vector<services::CandidateRow> rows;
  std::vector<services::CellSummary> cellRows;
  std::vector<services::HistoryPoint> points;
  std::vector<domain::Baseline> baselineRows;
  std::function<services::CandidateDetail(const services::CandidateRow&)> makeDetail;
  std::function<std::optional<domain::Profile>(domain::CandidateId)> makeProfile;

 private:
  static void add(services::CellSummary& cell, const services::CandidateRow& row) {
    using State = services::CellSummary::State;
    ++cell.tried;
    cell.correct += row.status == domain::CandidateStatus::Correct ? 1 : 0;
    cell.state = cell.correct > 0 ? State::Filled : State::FailedOnly;
    if (domain::ranksBefore(row.speedup, cell.speedup)) {
      cell.speedup = row.speedup;
      cell.bestTimeNs = row.timeNs;
      cell.best = row.id;
      cell.roofShare = row.roofShare;
      cell.relativeError = row.relativeError;
      cell.registers = row.registers;
      cell.foundSeconds = row.elapsedSeconds;
    }
  }
  template <class T>
  [[nodiscard]] Result<T> answer(T value) const {
    return failure ? Result<T>(*failure) : Result<T>(std::move(value));
  }
  [[nodiscard]] std::vector<services::CandidateRow> select(const services::CandidateQuery& page) const {
    std::vector<services::CandidateRow> selected;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(selected), [&page](const auto& row) {
      return row.run == page.run && (!page.cell || row.cell == page.cell) &&
             (!page.status || row.status == *page.status) && matches(page.filter, row);
    });
    return selected;
  }
  [[nodiscard]] std::vector<services::CandidateRow> sorted(const services::CandidateQuery& page) const {
    std::vector<services::CandidateRow> selected = select(page);
    std::stable_sort(selected.begin(), selected.end(), [&page](const auto& a, const auto& b) {
      return page.descending ? key(b, page.sort) < key(a, page.sort) : key(a, page.sort) < key(b, page.sort);
    });
    return selected;
  }
  // As far as tests of the window need the language: the record has all of it.
  [[nodiscard]] static bool matches(const domain::Filter& filter, const services::CandidateRow& row) {
    return (filter.mentions("trashed") || !row.annotation.trashed) &&
           std::all_of(filter.terms.begin(), filter.terms.end(),
                       [&row](const domain::FilterTerm& term) { return holds(term, row) != term.negated; });
  }
  [[nodiscard]] static bool holds(const domain::FilterTerm& term, const services::CandidateRow& row) {
    if (term.key == "pinned" || term.key == "trashed") {
      return term.key == "pinned" ? row.annotation.pinned : row.annotation.trashed;
    }
    if (term.key == "failed" || term.key == "first") {
      return term.key == "first" ? row.parents.empty() : domain::hasFailed(row.status);
    }
    return std::any_of(term.values.begin(), term.values.end(), [&](const domain::FilterValue& value) {
      const auto* range = std::get_if<domain::FilterRange>(&value);
      if (range != nullptr) {
        return (term.key == "speedup" && row.speedup.isKnown() && range->contains(row.speedup.value)) ||
               (term.key == "id" && range->contains(static_cast<double>(row.id.value())));
      }
      const auto& text = std::get<std::string>(value);
      const auto& tags = row.annotation.tags;
      return (term.key == "status" && text == domain::name(row.status)) ||
             (term.key == "tag" && std::find(tags.begin(), tags.end(), text) != tags.end()) ||
             (term.key.empty() && domain::containsText(row.summary, text));
    });
  }
  // Changes the rows; the inverse of what changed.
  [[nodiscard]] domain::AnnotationEdit applied(const domain::AnnotationEdit& edit) {
    domain::AnnotationEdit undo;
    for (services::CandidateRow& row : rows) {
      domain::Annotation& now = row.annotation;
      const auto has = [&row](const auto& list) { return std::find(list.begin(), list.end(), row.id) != list.end(); };
      const auto change = [&row](bool wanted, bool& value, bool target, std::vector<domain::CandidateId>& inverse) {
        if (wanted && value != target) {
          value = target;
          inverse.push_back(row.id);
        }
      };
      change(has(edit.pin), now.pinned, true, undo.unpin);
      change(has(edit.unpin), now.pinned, false, undo.pin);
      change(has(edit.trash), now.trashed, true, undo.restore);
      change(has(edit.restore), now.trashed, false, undo.trash);
      for (const domain::AnnotationEdit::Tagging& one : edit.tag) {
        if (one.candidate == row.id && std::find(now.tags.begin(), now.tags.end(), one.tag) == now.tags.end()) {
          now.tags.push_back(one.tag);
          undo.untag.push_back(one);
        }
      }
      for (const domain::AnnotationEdit::Tagging& one : edit.untag) {
        if (one.candidate == row.id && std::erase(now.tags, one.tag) > 0) {
          undo.tag.push_back(one);
        }
      }
      for (const domain::AnnotationEdit::Noting& one : edit.note) {
        if (one.candidate == row.id) {
          undo.note.push_back({row.id, std::exchange(now.note, one.note)});
        }
      }
    }
    return undo;
  }
  [[nodiscard]] static std::pair<double, std::string> key(const services::CandidateRow& row,
                                                          services::CandidateColumn column) {
    switch (column) {
      case services::CandidateColumn::Id: return {static_cast<double>(row.id.value()), {}};
      case services::CandidateColumn::Cell: return {row.cell ? static_cast<double>(row.cell->index()) : -1.0, {}};
      case services::CandidateColumn::Island: return {static_cast<double>(row.island), {}};
      case services::CandidateColumn::Operator: return {0.0, std::string(domain::name(row.madeBy))};
      case services::CandidateColumn::Status: return {0.0, std::string(domain::name(row.status))};
      case services::CandidateColumn::Time: return {row.timeNs, {}};
      case services::CandidateColumn::Speedup: return {row.speedup.low, {}};
      case services::CandidateColumn::Error: return {row.relativeError, {}};
      case services::CandidateColumn::Registers: return {static_cast<double>(row.registers), {}};
      case services::CandidateColumn::Found: return {row.elapsedSeconds, {}};
    }
    return {};
  }
};

class FakeEditService : public services::EditService {
 public:
  using services::EditService::EditService;

  void evaluate(const services::EditSpec& newSpec) override {
    active = true;
    ++evaluations;
    spec = newSpec;
  }
  void cancel() override { ++cancels; }
  [[nodiscard]] bool isActive() const override { return active; }
  [[nodiscard]] Result<std::vector<services::RegionParameters>> regions(domain::Language,
                                                                        const domain::Genome& genome) const override {
    lastGenome = genome;
    return regionRows;
  }
  // What an engine would do on its own.
  void finish(const Result<services::EditOutcome>& outcome) {
    active = false;
    Q_EMIT finished(outcome);
  }

  bool active = false;
  int evaluations = 0;
  int cancels = 0;
  services::EditSpec spec;
  mutable domain::Genome lastGenome;  // whose regions were asked for
  std::vector<services::RegionParameters> regionRows;
};

class FakePatternService : public services::PatternService {
 public:
  [[nodiscard]] Result<std::vector<services::PatternInfo>> patterns() const override {
    return failure ? Result<std::vector<services::PatternInfo>>(*failure) : rows;
  }

  std::vector<services::PatternInfo> rows;
  std::optional<Error> failure;
};

class FakeDoctorService : public services::DoctorService {
 public:
  using services::DoctorService::DoctorService;
  void start() override {
    ++starts;
    Q_EMIT finished(checks);
  }

  int starts = 0;
  std::vector<services::DoctorCheck> checks;
};

class FakeRecordCheckService : public services::RecordCheckService {
 public:
  using services::RecordCheckService::RecordCheckService;
  void start(const std::filesystem::path& project) override { checked = project; }

  std::filesystem::path checked;
};

class FakeSettingsService : public services::SettingsService {
 public:
  [[nodiscard]] Result<services::Settings> load() const override {
    return failure ? Result<services::Settings>(*failure) : settings;
  }
  [[nodiscard]] Result<> save(const services::Settings& newSettings) const override {
    ++saves;
    settings = newSettings;
    return {};
  }
  [[nodiscard]] std::filesystem::path file() const override { return "config.toml"; }
  [[nodiscard]] services::Settings above() const override { return aboveUser; }
  [[nodiscard]] services::Settings below() const override { return belowUser; }

  mutable services::Settings settings;
  services::Settings aboveUser;
  services::Settings belowUser;
  mutable int saves = 0;
  std::optional<Error> failure;
};

class FakeSelfTestService : public services::SelfTestService {
 public:
  using services::SelfTestService::SelfTestService;
  void start() override { ++starts; }
  void cancel() override { ++cancels; }
  [[nodiscard]] std::vector<services::StoredVerdict> storedVerdicts() const override { return stored; }

  std::vector<services::StoredVerdict> stored;
  int starts = 0;
  int cancels = 0;
};

}  // namespace swage::testing
