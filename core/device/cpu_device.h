// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/device/processor_contention.h"

namespace swage::device {

// The processor this runs on. Kernels are shared objects; they run on the calling thread and its OpenMP team.
class CpuDevice final : public Device {
 public:
  // Measures the copy bandwidth, which takes a fraction of a second.
  [[nodiscard]] static std::unique_ptr<CpuDevice> create(int threads);
  // All but what has to be measured.
  [[nodiscard]] static domain::DeviceInfo describe(int threads);

  [[nodiscard]] const domain::DeviceInfo& info() const override { return m_info; }
  [[nodiscard]] DeviceResult<std::unique_ptr<KernelModule>> loadModule(const std::string& binary) override;
  [[nodiscard]] DeviceStatus synchronize() override { return {}; }
  void scrub() override;
  [[nodiscard]] DeviceStatus callConfined(const Call& call) override;
  [[nodiscard]] std::vector<int> otherThreadCounts() const override;
  [[nodiscard]] DeviceStatus callWithThreads(int threads, const Call& call) override;
  [[nodiscard]] DeviceStatus fill(void* address, std::uint8_t value, std::size_t bytes) override;
  [[nodiscard]] std::int64_t freeBytes() const override;
  [[nodiscard]] DeviceResult<CallTime> timeColdAfter(const Call& before, const Call& call) override;
  [[nodiscard]] std::string_view clock() const override { return "host clock"; }
  [[nodiscard]] ConditionSample conditions() override;
  [[nodiscard]] ProfilerResult<std::unique_ptr<Profiler>> openProfiler() override;

 private:
  explicit CpuDevice(domain::DeviceInfo info);
  void flushCaches();

  domain::DeviceInfo m_info;
  std::vector<unsigned char> m_flushed;  // touched before each timed call
  ProcessorContention m_contention;
};

}  // namespace swage::device
