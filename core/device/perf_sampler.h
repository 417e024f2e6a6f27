// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/device/perf_system.h"

namespace swage::device {

// Where threads were, several thousand times a second of their own time: at cycles of the processor
// where it has counters, else by the system's clock. One thread only.
class PerfSampler {
 public:
  // Samples of one thread by instruction address.
  using Addresses = std::map<std::uint64_t, std::int64_t>;

  // Fails when no thread can be sampled.
  [[nodiscard]] static ProfilerResult<PerfSampler> open(PerfSystem& system, const std::vector<pid_t>& threads);
  ~PerfSampler();
  PerfSampler(PerfSampler&& other) noexcept = default;
  PerfSampler& operator=(PerfSampler&&) = delete;
  PerfSampler(const PerfSampler&) = delete;
  PerfSampler& operator=(const PerfSampler&) = delete;

  void start();
  void stop();
  // Adds what the ring buffers have, to be called at least as often as they fill; by thread, in the order of open().
  void drain(std::vector<Addresses>& samples);
  [[nodiscard]] std::int64_t lost() const { return m_lost; }

 private:
  struct Ring {
    PerfEventFd event;
    void* memory = nullptr;
  };

  explicit PerfSampler(PerfSystem& system) : m_system(&system) {}
  [[nodiscard]] int openThread(pid_t thread);
  void drain(const Ring& ring, Addresses& samples);

  PerfSystem* m_system;
  std::vector<Ring> m_rings;
  std::int64_t m_lost = 0;
};

}  // namespace swage::device
