// SPDX-License-Identifier: Apache-2.0
#include "app/cli/mcp_jobs.h"

#include <utility>

namespace swage::cli {

McpRunJob::McpRunJob(run::SessionParts parts, services::RunSpec spec, QObject* parent)
    : McpJob(parent), m_spec(std::move(spec)), m_service(std::move(parts)) {
  m_spec.maxEvaluations = 1;  // PyTorch's own operators
  m_spec.timeBudgetSeconds = 0.0;
  m_spec.judge = false;
  connect(&m_service, &services::RunService::progressed, this, [this](const services::Progress& progress) {
    std::string stage = progress.stage.empty() ? std::string(services::title(progress.state)) : progress.stage;
    if (stage != std::exchange(m_stage, stage)) {
      Q_EMIT progressed(stage);
    }
  });
  connect(&m_service, &services::RunService::finished, this, &McpRunJob::handleFinished);
}

void McpRunJob::handleFinished(const services::RunOutcome& outcome) {
  if (outcome.error) {
    Q_EMIT failed(*outcome.error);
  } else if (outcome.interrupted || !outcome.run.isValid()) {
    Q_EMIT failed(Error(ErrorKind::Cancelled, "the run was stopped"));
  } else {
    Q_EMIT opened(outcome.run);
  }
}

McpSubmission::McpSubmission(run::SessionParts parts, std::filesystem::path patterns, services::EditSpec spec,
                             bool profiles, QObject* parent)
    : McpJob(parent),
      m_programs(parts.programs),
      m_spec(std::move(spec)),
      m_profiles(profiles),
      m_service(std::move(parts), std::move(patterns)) {
  connect(&m_service, &services::EditService::stageChanged, this, &McpJob::progressed);
  connect(&m_service, &services::EditService::finished, this, &McpSubmission::handleEvaluated);
}

void McpSubmission::cancel() {
  if (m_profile) {
    m_profile->cancel();
  } else {
    m_service.cancel();
  }
}

void McpSubmission::handleEvaluated(const Result<services::EditOutcome>& outcome) {
  if (!outcome) {
    Q_EMIT failed(outcome.error());
    return;
  }
  m_outcome = *outcome;
  if (!m_profiles || m_outcome.detail.row.status != domain::CandidateStatus::Correct) {
    Q_EMIT evaluated(m_outcome, {});
    return;
  }
  m_profile = std::make_unique<run::ProfileJob>(m_programs, m_spec.project, m_outcome.detail.row.id);
  connect(m_profile.get(), &run::ProfileJob::finished, this, [this](const Result<domain::Profile>& profile) {
    Q_EMIT evaluated(m_outcome, profile ? std::string() : profile.error().message());
  });
  Q_EMIT progressed("profiling");
  m_profile->start();
}

}  // namespace swage::cli
