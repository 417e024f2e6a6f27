// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/device/device.h"
#include "core/wire/messages.h"

namespace swage::testing {

// A device that says it has little memory left. What it stands for outlives it.
class SmallDevice final : public device::Device {
 public:
  SmallDevice(device::Device& real, std::int64_t freeBytes) : m_real(real), m_freeBytes(freeBytes) {}

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
  [[nodiscard]] std::int64_t freeBytes() const override { return m_freeBytes; }
  [[nodiscard]] device::DeviceResult<device::CallTime> timeColdAfter(const Call& before, const Call& call) override {
    return m_real.timeColdAfter(before, call);
  }
  [[nodiscard]] std::string_view clock() const override { return m_real.clock(); }
  [[nodiscard]] bool canTrace() override { return m_real.canTrace(); }
  [[nodiscard]] device::DeviceResult<double> traceCold(const Call& call) override { return m_real.traceCold(call); }
  [[nodiscard]] const Call* emptyLaunch() override { return m_real.emptyLaunch(); }
  [[nodiscard]] device::ConditionSample conditions() override { return m_real.conditions(); }

 private:
  device::Device& m_real;
  std::int64_t m_freeBytes;
};

// The least free memory with which the results of so many checks are kept and the reference is computed in float64.
[[nodiscard]] std::int64_t bytesToKeep(int checks, const wire::LoadTask& loading);

}  // namespace swage::testing
