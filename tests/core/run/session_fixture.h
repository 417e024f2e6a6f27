// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/run/run_session.h"
#include "core/store/record.h"
#include "tests/core/process/fakes.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::testing {

// Sessions over a real record, with the fake worker and compiler and a fake space of genomes.
class SessionFixture : public ::testing::Test {
 protected:
  SessionFixture();

  void start(std::unique_ptr<run::RunSession>& session);
  // Runs to the end; every signal is kept.
  services::RunOutcome run();
  [[nodiscard]] bool waitUntilFinished() const;
  [[nodiscard]] store::Record record() const;
  [[nodiscard]] store::RunRow onlyRun() const;
  [[nodiscard]] std::vector<store::CandidateRecord> history() const;
  // Standard error is quiet about a worker that is replaced on purpose.
  void forgetSignals();

  TempDir m_folder;
  run::SessionParts m_parts;
  services::RunSpec m_spec;
  std::unique_ptr<run::RunSession> m_session;
  std::vector<services::RunState> m_states;
  std::vector<services::CandidateRow> m_rows;
  std::vector<services::Notice> m_notices;
  std::vector<services::Progress> m_progress;
  std::vector<domain::Baseline> m_baselines;
  std::vector<std::vector<services::CellSummary>> m_archives;
  std::vector<std::vector<services::LaneStatus>> m_lanes;
  std::vector<services::ProposerReport> m_proposers;
  std::vector<services::RunOutcome> m_outcomes;
  int m_spaceSize = 30;
};

}  // namespace swage::testing
