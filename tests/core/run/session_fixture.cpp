// SPDX-License-Identifier: Apache-2.0
#include "tests/core/run/session_fixture.h"

#include "tests/support/result_matchers.h"

namespace swage::testing {

using run::RunSession;

SessionFixture::SessionFixture() {
  m_parts.programs.bridge = {"/nonexistent/python", "/nonexistent"};
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("ok"); };
  m_parts.programs.compilerCommand = fakeCompiler("ok");
  m_parts.programs.makeSynthesizer =
      [this](const domain::Graph&, const domain::DeviceInfo& device) -> Result<std::unique_ptr<synth::Synthesizer>> {
    return std::make_unique<FakeSynthesizer>(m_spaceSize, device.kind);
  };
  m_parts.programs.driver = [] { return process::DriverState::Absent; };
  m_parts.programs.compilers = 2;
  m_parts.programs.stopGrace = std::chrono::milliseconds(200);
  m_spec.task = writeTinyBundle(m_folder.path()).string();
  m_spec.project = m_folder / "project";
  m_spec.timeBudgetSeconds = 0.0;
  m_spec.maxEvaluations = 20;
  m_spec.compileBaselines = false;
}

void SessionFixture::start(std::unique_ptr<RunSession>& session) {
  session = std::make_unique<RunSession>(m_parts);
  QObject* context = session.get();
  const auto keepState = [this](services::RunState state) { m_states.push_back(state); };
  QObject::connect(session.get(), &RunSession::stateChanged, context, keepState);
  QObject::connect(session.get(), &RunSession::candidateEvaluated, context,
                   [this](const services::CandidateRow& row) { m_rows.push_back(row); });
  QObject::connect(session.get(), &RunSession::noticed, context,
                   [this](const services::Notice& notice) { m_notices.push_back(notice); });
  QObject::connect(session.get(), &RunSession::progressed, context,
                   [this](const services::Progress& progress) { m_progress.push_back(progress); });
  QObject::connect(session.get(), &RunSession::baselineMeasured, context,
                   [this](const domain::Baseline& baseline) { m_baselines.push_back(baseline); });
  QObject::connect(session.get(), &RunSession::archiveChanged, context,
                   [this](const std::vector<services::CellSummary>& cells) { m_archives.push_back(cells); });
  QObject::connect(session.get(), &RunSession::lanesChanged, context,
                   [this](const std::vector<services::LaneStatus>& lanes) { m_lanes.push_back(lanes); });
  QObject::connect(session.get(), &RunSession::proposersChanged, context,
                   [this](const services::ProposerReport& report) { m_proposers.push_back(report); });
  QObject::connect(session.get(), &RunSession::finished, context,
                   [this](const services::RunOutcome& outcome) { m_outcomes.push_back(outcome); });
  session->start(m_spec);
}

bool SessionFixture::waitUntilFinished() const {
  return waitFor([this] { return !m_outcomes.empty(); });
}

services::RunOutcome SessionFixture::run() {
  forgetSignals();
  start(m_session);
  EXPECT_TRUE(waitUntilFinished());
  EXPECT_EQ(m_outcomes.size(), 1U);
  m_session.reset();
  return m_outcomes.empty() ? services::RunOutcome() : m_outcomes.front();
}

void SessionFixture::forgetSignals() {
  m_states.clear();
  m_rows.clear();
  m_notices.clear();
  m_progress.clear();
  m_baselines.clear();
  m_archives.clear();
  m_lanes.clear();
  m_proposers.clear();
  m_outcomes.clear();
}

store::Record SessionFixture::record() const {
  auto opened = store::Record::open(m_spec.project, store::Record::Mode::ReadOnly);
  EXPECT_THAT(opened, IsOk());
  return std::move(*opened);
}

store::RunRow SessionFixture::onlyRun() const {
  const auto runs = record().runs();
  EXPECT_THAT(runs, IsOk());
  EXPECT_EQ(runs->size(), 1U);
  return runs->at(0);
}

std::vector<store::CandidateRecord> SessionFixture::history() const {
  auto history = record().history(onlyRun().id);
  EXPECT_THAT(history, IsOk());
  return *history;
}

}  // namespace swage::testing
