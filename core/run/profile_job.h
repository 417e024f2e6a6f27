// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <memory>
#include <optional>

#include "core/process/programs.h"
#include "core/run/profiling.h"

namespace swage::run {

// Profiles one recorded candidate and keeps the profile in the record. The project is locked meanwhile, so that no run
// of it measures times. Emits finished() exactly once, when the worker is gone and the record is closed.
class ProfileJob : public QObject {
  Q_OBJECT

 public:
  ProfileJob(const process::Programs& programs, std::filesystem::path project, domain::CandidateId candidate,
             QObject* parent = nullptr);

  void start();
  void cancel();

 Q_SIGNALS:
  void stageChanged(swage::services::ProfileProgress::Stage stage);
  void finished(const swage::Result<swage::domain::Profile>& profile);

 private:
  [[nodiscard]] Result<> prepare();
  void handleProfile(const Result<domain::Profile>& profile);

  process::Programs m_programs;
  std::filesystem::path m_project;
  domain::CandidateId m_candidate;
  std::optional<store::Record> m_record;
  std::unique_ptr<Profiling> m_profiling;
  bool m_cancelled = false;
};

}  // namespace swage::run
