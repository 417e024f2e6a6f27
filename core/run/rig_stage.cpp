// SPDX-License-Identifier: Apache-2.0
#include "core/run/rig_stage.h"

#include <fmt/format.h>

#include "core/domain/json.h"
#include "core/run/baseline_measurement.h"
#include "core/trust/trust.h"

namespace swage::run {

using services::Notice;

void RigStage::start() {
  Q_EMIT stateChanged(services::RunState::Preparing);
  Q_EMIT doing("starting the worker");
  m_since = m_context.parts.now();
  trust::Rig& rig = m_rigs.startFirst();
  connect(&rig, &trust::Rig::taken, this, &RigStage::handleDevice);
  connect(&rig, &trust::Rig::testing, this, &RigStage::handleSelfTest);
  connect(&rig, &trust::Rig::loading, this, &RigStage::handleLoading);
  connect(&rig, &trust::Rig::ready, this, &RigStage::handleReady);
  connect(&rig, &trust::Rig::refused, this, [this](const Error& error) { finish(error); });
}

void RigStage::handleDevice(const wire::WorkerReady& ready) {
  if (m_context.resumed && m_context.device.uuid != ready.device.uuid) {
    notice(Notice::Severity::Warning,
           fmt::format("this run began on another device ({}); its times are not comparable", m_context.device.name));
  }
  addReadySeconds();
  m_context.device = ready.device;
  m_rigs.nameFirst();
  m_context.torchVersion = plainVersion(ready.torchVersion);
  if (m_context.parts.selfTest) {
    Q_EMIT doing("self-test");
  }
}

void RigStage::handleSelfTest(int done, int total) {
  m_context.step = done;
  m_context.steps = total;
  Q_EMIT doing(fmt::format("self-test {} of {}", done, total));
}

void RigStage::handleLoading() {
  m_since = m_context.parts.now();  // without the self-test
  m_context.steps = 0;
  if (m_rigs.first().ground() == trust::SelfTestGate::Ground::Skipped) {
    notice(Notice::Severity::Warning,
           fmt::format("the self-test of {} was skipped: cheat detection is untested on this device",
                       m_context.device.name),
           "run `swage doctor --self-test` before you trust these results");
  }
  Q_EMIT doing("reference and eager PyTorch");
}

void RigStage::handleReady(const wire::TaskReady& task) {
  addReadySeconds();
  m_context.task = task;
  if (const Result<> kept = keepRun(); !kept) {
    finish(kept.error());
    return;
  }
  Q_EMIT runCreated(m_context.run);
  for (const std::string& doubt : task.doubts) {
    notice(Notice::Severity::Warning, "correctness checks of this task are weak: " + doubt);
  }
  finish();
}

void RigStage::addReadySeconds() {
  m_context.readySeconds += std::chrono::duration<double>(m_context.parts.now() - m_since).count();
}

Result<> RigStage::keepRun() {
  SWAGE_TRY(m_context.resumed ? m_context.keepStatus(store::RunStatus::Running) : createRun());
  SWAGE_TRY(trust::addSandbox(*m_context.record, m_context.run, m_context.parts.programs.sandbox));
  const auto ground = m_rigs.first().ground();
  if (!ground) {
    return {};
  }
  const nlohmann::json detail = {{"ground", name(*ground)}, {"device", m_context.device.uuid}};
  return m_context.record->addEvent(m_context.run, domain::EventKind::SelfTest, detail.dump());
}

Result<> RigStage::createRun() {
  const services::RunSpec& spec = m_context.spec;
  store::NewRun run;
  run.task = m_context.bundle->task;
  run.bundlePath = m_context.bundle->directory.string();
  run.device = m_context.device;
  run.seed = spec.seed;
  run.timeBudgetSeconds = spec.timeBudgetSeconds;
  run.maxEvaluations = spec.maxEvaluations;
  run.optionsJson = optionsJson(spec, m_context.parts.programs.sandbox);
  run.swageVersion = SWAGE_VERSION;
  SWAGE_TRY_ASSIGN(m_context.run, m_context.record->createRun(run));
  return trust::addDoubts(*m_context.record, m_context.run, m_context.task.doubts);
}

}  // namespace swage::run
