// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/device/failure.h"
#include "core/domain/profile.h"

namespace swage::device {

// What kept hardware counters or samples from being read, and what the user can do about it.
struct ProfilerFailure {
  std::string cause;
  std::string fix;
  bool poisoned = false;  // the device context cannot be used any more
};

template <class T>
using ProfilerResult = tl::expected<T, ProfilerFailure>;

// Values of one kernel launch, under the profiler's own names.
struct CounterReport {
  std::vector<domain::ProfileMetric> values;
  std::vector<std::string> unknown;          // metrics that this chip does not have
  int passes = 0;                            // how often the kernel ran
  std::optional<ProfilerFailure> missing{};  // why the hardware's counters are not among the values
};

struct SampleReport {
  std::vector<domain::InstructionSamples> instructions;  // by offset; without text
  std::int64_t samples = 0;                              // of all instructions
  std::int64_t dropped = 0;                              // by the hardware
  std::vector<domain::ProfileMetric> values{};           // what they say of the kernel as a whole
};

// Looks into one kernel at a time by running the program around it again and again: a device has fewer counters than
// there are metrics. Not thread-safe.
class Profiler {
 public:
  using Launch = std::function<DeviceStatus()>;
  // Runs the launch it is given, measured.
  using Bracket = std::function<DeviceStatus(const Launch&)>;
  // Everything before the kernel, the kernel within the bracket, everything after it: the same work each time.
  using Program = std::function<DeviceStatus(const Bracket&)>;

  Profiler() = default;
  virtual ~Profiler() = default;
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Whether what it hooked into the process stays there: then nothing may be timed in it any more.
  [[nodiscard]] virtual bool staysInProcess() const { return true; }

  // Before the module is loaded that samples() will look at: the profiler must see it come. All sampling must come
  // before the first counters().
  [[nodiscard]] virtual ProfilerResult<void> beginSampling() = 0;

  // Where warps of `entry` stood, and why. `binary` is the module's; its line table gives the lines.
  [[nodiscard]] virtual ProfilerResult<SampleReport> samples(const Program& program, const std::string& entry,
                                                             const std::string& binary) = 0;

  // Caches hold nothing of the kernel's data when it starts.
  [[nodiscard]] virtual ProfilerResult<CounterReport> counters(const Program& program) = 0;
};

}  // namespace swage::device
