// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "core/process/programs.h"
#include "core/trust/rig.h"

namespace swage::trust {

// Evaluates one recorded candidate again in a fresh worker, from the record and its task bundle alone. Changes nothing.
// Emits finished() exactly once, when the worker is gone.
class Verification : public QObject {
  Q_OBJECT

 public:
  Verification(const process::Programs& programs, std::filesystem::path project, domain::CandidateId candidate,
               QObject* parent = nullptr);

  void start();
  void cancel();

 Q_SIGNALS:
  void finished(const swage::Result<swage::domain::Evaluation>& evaluation);

 private:
  [[nodiscard]] Result<> prepare();
  void startRig();
  void conclude(Result<domain::Evaluation> outcome);

  process::Programs m_programs;
  std::filesystem::path m_project;
  domain::CandidateId m_candidate;
  wire::LoadTask m_load;
  wire::Evaluate m_evaluate;
  domain::DeviceKind m_device = domain::DeviceKind::Cpu;
  std::unique_ptr<Rig> m_rig;
  std::optional<Result<domain::Evaluation>> m_outcome;
  bool m_cancelled = false;
};

}  // namespace swage::trust
