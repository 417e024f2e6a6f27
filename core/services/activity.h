// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/services/types.h"

// What a run is doing and who earns what by it. Immutable snapshots; the engine publishes a few a second.
namespace swage::services {

// One process that works for a run: the worker of a device, or one compiler. Its replacements count as the same lane.
struct LaneStatus {
  enum class Kind : std::uint8_t { Worker, Compiler };
  Kind kind = Kind::Worker;
  std::string name;   // "GPU 0, NVIDIA H200", "compiler 3"
  std::string doing;  // "timing", "compiling", "restarting"
  bool isBusy = false;
  bool isLost = false;            // given up: it does nothing more in this run
  std::string lastEnd;            // why it was replaced last, or is lost
  domain::CandidateId candidate;  // in work
  double sinceSeconds = 0.0;      // that it has been doing this
  double busySeconds = 0.0;
  double lifeSeconds = 0.0;  // since it first started; 0: not known
  std::int64_t done = 0;
  int replaced = 0;

  // Of its life; negative: not known.
  [[nodiscard]] double busyShare() const { return lifeSeconds > 0.0 ? busySeconds / lifeSeconds : -1.0; }
};

// Whoever proposes candidates: an operator of the search, a person, a language model. The window knows no more of one
// than is written here.
struct ProposerStanding {
  std::string name;           // "pattern swap"
  double credit = 0.0;        // of what it proposed lately, how much entered the archive: 0 to 1
  double share = 0.0;         // of all proposals, that it gets now
  std::int64_t improved = 0;  // how often something of its entered the archive
  double seconds = 0.0;       // that it took to make its candidates, and compilers and workers to try them
  double cents = 0.0;         // that they cost
  std::int64_t tokens = 0;    // of a language model

  // How often it improved the archive for what it spent; negative: it spent nothing of the kind.
  [[nodiscard]] double improvedPerSecond() const { return improvedFor(seconds); }
  [[nodiscard]] double improvedPerCent() const { return improvedFor(cents); }
  [[nodiscard]] double improvedFor(double spent) const {
    return spent > 0.0 ? static_cast<double>(improved) / spent : -1.0;
  }
};

// What one proposer has done on one island.
struct ProposerTally {
  std::string proposer;
  int island = 0;
  std::int64_t proposed = 0;
  std::int64_t correct = 0;
  std::int64_t improved = 0;  // entered the archive
  int elites = 0;             // cells of the island that what it proposed holds now
  domain::CandidateId last;   // what it proposed last, and what has become of it
  std::string lastStatus;     // as CandidateRow::status
};

// How the islands exchange their best, and for how long nothing has improved.
struct IslandExchange {
  std::int64_t migrations = 0;         // how often each island gave its best to the next one
  std::int64_t adopted = 0;            // how many of those took a cell there
  std::int64_t sinceImprovement = -1;  // evaluations since something entered the archive; negative: not known
  friend bool operator==(const IslandExchange&, const IslandExchange&) = default;
};

struct ProposerReport {
  double elapsedSeconds = 0.0;
  std::vector<ProposerStanding> proposers;
  std::vector<ProposerTally> tallies;
  int filledCells = 0;
  std::int64_t improvements = 0;  // how often something entered the archive
  IslandExchange exchange;
};

// How a search stood at one moment.
struct ActivitySample {
  double elapsedSeconds = 0.0;
  int filledCells = 0;
  std::int64_t improvements = 0;
  std::vector<ProposerStanding> proposers;  // none: nobody wrote it down
  IslandExchange exchange{};
};

// What the record has of all that, about a run that is over or was begun in an earlier sitting.
struct RunActivity {
  std::vector<LaneStatus> lanes;
  ProposerReport report;
  std::vector<ActivitySample> timeline;
};

// How long a search still takes, and which of its budgets says so.
struct TimeLeft {
  enum class Limit : std::uint8_t { None, Time, Evaluations };
  Limit limit = Limit::None;  // None: it has no budget, or its speed is not known yet
  double seconds = 0.0;
};
[[nodiscard]] TimeLeft timeLeft(const Progress& progress);

[[nodiscard]] ActivitySample sampleOf(const ProposerReport& report);

}  // namespace swage::services
