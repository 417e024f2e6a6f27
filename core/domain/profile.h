// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/evaluation.h"

// Why a candidate is as fast as it is.
namespace swage::domain {

// Best first: hardware counters, durations of kernels alone, what the compiler reported.
enum class ProfileSource : std::uint8_t { Counters, Activity, Compiler };
[[nodiscard]] std::string_view name(ProfileSource source);
[[nodiscard]] std::optional<ProfileSource> parseProfileSource(std::string_view text);

// One of the profiler's metrics under its own name, for example "dram__bytes_read.sum".
struct ProfileMetric {
  std::string name;
  double value = 0.0;
  friend bool operator==(const ProfileMetric&, const ProfileMetric&) = default;
};

// Samples of the program counter at one instruction.
struct InstructionSamples {
  std::int64_t offset = 0;  // in the kernel's code, bytes
  std::string text;         // SASS; empty when no disassembler was found
  int line = 0;             // of the candidate's source, 1-based; 0: not known
  std::int64_t samples = 0;
  std::vector<ProfileMetric> stalls;  // samples by stall reason
  // The bits for the scheduler (domain/control_code.h); nothing where the disassembler did not print them.
  std::optional<std::uint32_t> control = std::nullopt;
  friend bool operator==(const InstructionSamples&, const InstructionSamples&) = default;
};

struct KernelProfile {
  std::string entry;
  int launches = 1;
  double durationNs = 0.0;  // of one launch; 0: not measured
  int registers = 0;        // per thread
  int spillBytes = 0;
  std::int64_t sharedBytes = 0;       // per block, static and dynamic
  double theoreticalOccupancy = 0.0;  // resident warps over the most a multiprocessor holds
  std::string occupancyLimiter;       // "registers", "shared memory", "blocks", "warps"
  std::vector<ProfileMetric> metrics;
  std::vector<InstructionSamples> instructions;
  friend bool operator==(const KernelProfile&, const KernelProfile&) = default;
};

struct Profile {
  ProfileSource source = ProfileSource::Compiler;
  std::string limitation;  // why there is nothing better and what to do about it; empty: nothing is missing
  std::vector<KernelProfile> kernels;
  DeviceConditions conditions;
};

}  // namespace swage::domain
