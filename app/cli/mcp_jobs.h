// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/engine/edit_service_impl.h"
#include "core/engine/run_service_impl.h"
#include "core/run/profile_job.h"

namespace swage::cli {

// Something that an agent asked for and that takes seconds to minutes. Started once; finished() comes once, when
// nothing of it runs any more, also after cancel(). Lives on one thread; nothing here waits.
class McpJob : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  virtual void start() = 0;
  virtual void cancel() = 0;

 Q_SIGNALS:
  void progressed(const std::string& stage);
  // It was cancelled, or failed for this reason; what it gave otherwise is a signal of its own.
  void failed(const swage::Error& error);
};

// Begins a run: imports the task, measures PyTorch's own ways to run it, and ends before the search has tried anything
// of its own.
class McpRunJob final : public McpJob {
  Q_OBJECT

 public:
  McpRunJob(run::SessionParts parts, services::RunSpec spec, QObject* parent = nullptr);
  void start() override { m_service.start(m_spec); }
  void cancel() override { m_service.kill(); }

 Q_SIGNALS:
  void opened(swage::domain::RunId run);

 private:
  void handleFinished(const services::RunOutcome& outcome);

  services::RunSpec m_spec;
  engine::RunServiceImpl m_service;
  std::string m_stage;
};

// Takes a submitted program the way of every candidate, and profiles it if it is right.
class McpSubmission final : public McpJob {
  Q_OBJECT

 public:
  McpSubmission(run::SessionParts parts, std::filesystem::path patterns, services::EditSpec spec, bool profiles,
                QObject* parent = nullptr);
  void start() override { m_service.evaluate(m_spec); }
  void cancel() override;

 Q_SIGNALS:
  // `note` says why there are no counters; empty: there are, or none were wanted.
  void evaluated(const swage::services::EditOutcome& outcome, const std::string& note);

 private:
  void handleEvaluated(const Result<services::EditOutcome>& outcome);

  process::Programs m_programs;
  services::EditSpec m_spec;
  bool m_profiles;
  engine::EditServiceImpl m_service;
  services::EditOutcome m_outcome;
  std::unique_ptr<run::ProfileJob> m_profile;
};

}  // namespace swage::cli
