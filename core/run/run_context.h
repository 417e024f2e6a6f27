// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/domain/baseline.h"
#include "core/domain/device_info.h"
#include "core/domain/speedup.h"
#include "core/run/search_clock.h"
#include "core/run/session_parts.h"
#include "core/run/winner_choice.h"
#include "core/search/searcher.h"
#include "core/services/types.h"
#include "core/stats/roofline.h"
#include "core/store/record.h"
#include "core/store/task_bundle.h"
#include "core/wire/messages.h"

namespace swage::run {

// What the stages of one run pass on: what an earlier one has found is there for the later ones.
struct RunContext {
  explicit RunContext(SessionParts what) : parts(std::move(what)), clock(parts.now) {}

  SessionParts parts;
  services::RunSpec spec;
  std::optional<store::Record> record;  // open until the run has ended
  domain::RunId run;                    // of the resumed run, or invalid until the record has it
  bool resumed = false;
  SearchClock clock;

  std::optional<store::TaskBundle> bundle;
  domain::DeviceKind kind = domain::DeviceKind::Cpu;  // of device to use
  domain::DeviceInfo device;                          // of the first worker; of the resumed run until that is there
  std::string torchVersion;                           // of the worker
  wire::TaskReady task;
  double readySeconds = 0.0;  // that the worker took to start and to load the task
  std::vector<domain::Baseline> baselines;
  std::string baselineMode;      // the fastest
  domain::Speedup eagerSpeedup;  // of eager against it
  stats::Roofline roof;
  search::Searcher* searcher = nullptr;  // the search's, which outlives the stages behind it
  domain::CandidateId identity;          // every node an ATen step
  RemeasuredCandidates measured;         // at the end

  services::RunState state = services::RunState::Idle;
  std::string doing;  // in a person's words; empty: the search says it
  int step = 0;       // of the self-test
  int steps = 0;
  bool finishing = false;   // the search is over
  bool lostElites = false;  // the sanitizer has rejected some
  services::RunOutcome outcome;

  [[nodiscard]] bool isTimeOver() const {
    return spec.timeBudgetSeconds > 0.0 && clock.elapsedSeconds() >= spec.timeBudgetSeconds;
  }
  // In the record, with the time that the search has taken.
  [[nodiscard]] Result<> keepStatus(store::RunStatus status);
};

// For writing; with what a run that is to be resumed was about.
[[nodiscard]] Result<> openRecord(RunContext& context);

// The most that one evaluation may take on a task whose eager run takes so long; `leastSeconds` is the least it may.
[[nodiscard]] double evaluationLimit(double leastSeconds, double eagerMedianNs);

// The specification as stored with the run, with what compilers were to be kept in.
[[nodiscard]] std::string optionsJson(const services::RunSpec& spec, const std::string& sandbox);

}  // namespace swage::run
