// SPDX-License-Identifier: Apache-2.0
#include "core/trust/rig.h"

#include <utility>

namespace swage::trust {

using process::WorkerSupervisor;

Rig::Rig(Options options, QObject* parent)
    : QObject(parent), m_options(std::move(options)), m_worker(m_options.worker) {
  connect(&m_worker, &WorkerSupervisor::deviceReady, this, &Rig::handleDevice);
  connect(&m_worker, &WorkerSupervisor::loaded, this, &Rig::handleLoaded);
  connect(&m_worker, &WorkerSupervisor::failed, this, &Rig::lost);
  connect(&m_worker, &WorkerSupervisor::stopped, this, [this] {
    if (!std::exchange(m_workerGone, true)) {
      stopWhenGone();
    }
  });
}

Rig::~Rig() = default;

void Rig::start() {
  m_workerGone = false;
  m_worker.start();
}

void Rig::handleDevice(const wire::WorkerReady& found) {
  m_device = found.device;
  if (m_ending) {
    return;
  }
  if (const Result<> mine = takeDevice(); !mine) {
    Q_EMIT refused(mine.error());
    return;
  }
  Q_EMIT taken(found);
  if (m_ending) {
    return;
  }
  if (m_options.selfTest) {
    test(found.torchVersion);
  } else {
    load();
  }
}

Result<> Rig::takeDevice() {
  if (m_options.admit) {
    SWAGE_TRY(m_options.admit(m_device));
  }
  if (m_options.takesLease) {
    SWAGE_TRY_ASSIGN(m_lease, process::DeviceLease::take(m_device));
  }
  return {};
}

// Nothing is recorded on a device where a planted cheat passes.
void Rig::test(const std::string& torchVersion) {
  m_gateOpen = false;
  m_gate = std::make_unique<SelfTestGate>(*m_options.selfTest, m_options.selfTestOptions, m_device, torchVersion);
  connect(m_gate.get(), &SelfTestGate::progressed, this, &Rig::testing);
  connect(m_gate.get(), &SelfTestGate::finished, this, &Rig::handleGate);
  m_gate->start();
}

void Rig::handleGate(const Result<SelfTestGate::Ground>& ground) {
  m_gateOpen = true;
  if (m_ending) {
    stopWhenGone();
  } else if (!ground) {
    Q_EMIT refused(ground.error());
  } else {
    m_ground = *ground;
    load();
  }
}

void Rig::load() {
  m_worker.load(m_options.task(m_device));
  Q_EMIT loading();  // last: whoever hears it may stop the rig
}

void Rig::handleLoaded(const Result<wire::TaskReady>& task) {
  if (m_ending) {
    return;
  }
  if (task) {
    Q_EMIT ready(*task);
  } else {
    Q_EMIT refused(task.error());
  }
}

void Rig::stop() {
  end(&WorkerSupervisor::stop);
}

void Rig::kill() {
  end(&WorkerSupervisor::kill);
}

void Rig::end(void (WorkerSupervisor::*how)()) {
  m_ending = true;
  if (!m_gateOpen) {
    m_gate->cancel();
  }
  if (!m_workerGone) {
    (m_worker.*how)();
  }
}

void Rig::stopWhenGone() {
  if (isGone()) {
    Q_EMIT stopped();
  }
}

}  // namespace swage::trust
