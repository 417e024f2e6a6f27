// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <functional>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "core/domain/device_info.h"
#include "core/process/device_lease.h"
#include "core/process/worker_supervisor.h"
#include "core/trust/self_test_gate.h"

namespace swage::trust {

// A worker whose word counts: its device will do and is nobody else's, has passed the self-test, and the task is
// loaded. After start() comes one ready() or one refused(), unless stop() or lost() comes before; lost() means, at any
// time, that the worker cannot be kept. Who hears one of the two stops the rig. stopped() comes exactly once, when
// worker and self-test are gone; the device stays leased until giveBackDevice() or the end of the rig. One thread only;
// nothing here waits.
//
//   starting -admitted, leased-> taken() -self-test-> loading() -task-> ready()
class Rig : public QObject {
  Q_OBJECT

 public:
  struct Options {
    process::WorkerSupervisor::Options worker;
    // Whether the device will do; asked as soon as it is known. Empty: any will.
    std::function<Result<>(const domain::DeviceInfo&)> admit{};
    bool takesLease = true;                    // false: the caller has the device's, or times nothing
    std::optional<SelfTestPolicy> selfTest{};  // none: nobody asks whether the device can be trusted
    SelfTest::Options selfTestOptions{};
    std::function<wire::LoadTask(const domain::DeviceInfo&)> task;
  };

  explicit Rig(Options options, QObject* parent = nullptr);
  ~Rig() override;

  void start();
  void stop();
  void kill();
  // Somebody else may time on it.
  void giveBackDevice() { m_lease.reset(); }

  [[nodiscard]] process::WorkerSupervisor& worker() { return m_worker; }
  [[nodiscard]] const process::WorkerSupervisor& worker() const { return m_worker; }
  [[nodiscard]] const domain::DeviceInfo& device() const { return m_device; }  // as soon as it is known
  // Why the device is trusted; no value: nobody asked, or not yet.
  [[nodiscard]] std::optional<SelfTestGate::Ground> ground() const { return m_ground; }
  // Nothing that it started runs.
  [[nodiscard]] bool isGone() const { return m_workerGone && m_gateOpen; }

 Q_SIGNALS:
  void taken(const swage::wire::WorkerReady& ready);
  void testing(int done, int total);
  void loading();
  void ready(const swage::wire::TaskReady& task);
  void refused(const swage::Error& error);
  void lost(const swage::Error& error);
  void stopped();

 private:
  void handleDevice(const wire::WorkerReady& found);
  [[nodiscard]] Result<> takeDevice();
  void test(const std::string& torchVersion);
  void handleGate(const Result<SelfTestGate::Ground>& ground);
  void load();
  void handleLoaded(const Result<wire::TaskReady>& task);
  void end(void (process::WorkerSupervisor::*how)());
  void stopWhenGone();

  Options m_options;
  process::WorkerSupervisor m_worker;
  domain::DeviceInfo m_device;
  std::optional<process::DeviceLease> m_lease;
  std::unique_ptr<SelfTestGate> m_gate;
  std::optional<SelfTestGate::Ground> m_ground;
  bool m_workerGone = true;
  bool m_gateOpen = true;  // no self-test is running
  bool m_ending = false;
};

}  // namespace swage::trust
