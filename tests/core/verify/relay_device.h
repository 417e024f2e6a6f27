// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/device/device.h"

namespace swage::testing {

// Another device, of which a test changes something. What it stands for outlives it.
class RelayDevice : public device::Device {
 public:
  explicit RelayDevice(device::Device& real) : m_real(real) {}

  [[nodiscard]] const domain::DeviceInfo& info() const override { return m_real.info(); }
  [[nodiscard]] device::DeviceResult<std::unique_ptr<device::KernelModule>> loadModule(
      const std::string& binary) override {
    return m_real.loadModule(binary);
  }
  [[nodiscard]] device::DeviceStatus synchronize() override { return m_real.synchronize(); }
  [[nodiscard]] device::DeviceStatus fill(void* address, std::uint8_t value, std::size_t bytes) override {
    return m_real.fill(address, value, bytes);
  }
  void useStream(void* stream) override { m_real.useStream(stream); }
  void scrub() override { m_real.scrub(); }
  [[nodiscard]] device::DeviceStatus callConfined(const Call& call) override { return m_real.callConfined(call); }
  [[nodiscard]] std::vector<int> otherThreadCounts() const override { return m_real.otherThreadCounts(); }
  [[nodiscard]] device::DeviceStatus callWithThreads(int threads, const Call& call) override {
    return m_real.callWithThreads(threads, call);
  }
  [[nodiscard]] device::DeviceResult<void*> captureStream() override { return m_real.captureStream(); }
  [[nodiscard]] device::DeviceResult<std::unique_ptr<device::CapturedCall>> capture(const Call& call) override {
    return m_real.capture(call);
  }
  [[nodiscard]] std::int64_t freeBytes() const override { return m_real.freeBytes(); }
  [[nodiscard]] device::DeviceResult<device::CallTime> timeColdAfter(const Call& before, const Call& call) override {
    return m_real.timeColdAfter(before, call);
  }
  [[nodiscard]] std::string_view clock() const override { return m_real.clock(); }
  [[nodiscard]] bool canTrace() override { return m_real.canTrace(); }
  [[nodiscard]] device::DeviceResult<double> traceCold(const Call& call) override { return m_real.traceCold(call); }
  [[nodiscard]] const Call* emptyLaunch() override { return m_real.emptyLaunch(); }
  [[nodiscard]] device::ConditionSample conditions() override { return m_real.conditions(); }
  [[nodiscard]] device::ProfilerResult<std::unique_ptr<device::Profiler>> openProfiler() override {
    return m_real.openProfiler();
  }

 private:
  device::Device& m_real;
};

}  // namespace swage::testing
