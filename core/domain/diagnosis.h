// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/profile.h"

// What a profile means: what bounds a candidate and what to look at first.
namespace swage::domain {

// Where a kernel stands on the roofline. The roofs are what the chip can sustain at the clocks of the profile, as
// Nsight Compute draws them; operations are those of float32 outside tensor cores, a fused multiply-add being two.
struct RooflinePosition {
  double bytesPerSecond = 0.0;  // read from and written to device memory
  double memoryRoof = 0.0;      // bytes/s
  double flopsPerSecond = 0.0;
  double computeRoof = 0.0;  // flop/s
  double flopsPerByte = 0.0;
};

// Unknown: the counters for it are missing. Latency: neither memory nor arithmetic is busy, so warps wait. Launches:
// most of the time passes outside the candidate's own kernels.
enum class Bound : std::uint8_t { Unknown, Memory, Compute, Latency, Launches };
[[nodiscard]] std::string_view name(Bound bound);

// What a device is busy with ("speed of light"). Of a CPU: DeviceMemory against the bandwidth of a copy, and Threads.
enum class HardwareUnit : std::uint8_t { Compute, Memory, Fp32, Tensor, L1, L2, DeviceMemory, Threads };
struct UnitUse {
  HardwareUnit unit = HardwareUnit::Compute;
  double share = 0.0;  // of the most it can do, 0 to 1
  friend bool operator==(const UnitUse&, const UnitUse&) = default;
};

// Bytes between the caches and device memory in one launch, and how much the caches keep from going there.
struct MemoryTraffic {
  std::optional<double> bytesRead;
  std::optional<double> bytesWritten;
  std::optional<double> l1HitRate;      // 0 to 1
  std::optional<double> l2HitRate;      // 0 to 1
  std::optional<double> usedOfSectors;  // of the bytes that loads fetch, 0 to 1
};

// What a CPU did in one launch of a kernel. No value: it was not counted.
struct ProcessorUse {
  std::optional<int> vectorBits;  // of the widest vector instructions in its loops; 0: there are none
  std::optional<double> instructionsPerCycle;
  std::optional<double> clockHz;           // of the threads while they ran
  std::optional<double> stalledShare;      // of cycles in which the back end could take no instruction
  std::optional<double> branchMissShare;   // of branches
  std::optional<double> l1MissShare;       // of loads
  std::optional<double> memoryBytes;       // cache misses, a line of 64 bytes each
  std::optional<double> missesPerElement;  // cache misses by elements of the task's inputs and outputs
  std::optional<double> pageFaults;
  std::optional<double> threadsBusy;   // in the kernel at a time, by samples
  std::optional<double> waitingShare;  // of samples in which threads waited for others or for work
};

struct HotLine {
  int line = 0;        // of the candidate's source, 1-based
  double share = 0.0;  // of the kernel's samples
  std::string reason;  // what its samples waited for most
};

struct KernelDiagnosis {
  std::string entry;
  double totalNs = 0.0;  // of all its launches in one call; 0: not measured
  double share = 0.0;    // of the candidate's time, or of all kernels' where that is longer
  Bound bound = Bound::Unknown;
  std::optional<RooflinePosition> roofline;
  std::vector<UnitUse> units;         // those that were counted
  std::vector<ProfileMetric> stalls;  // share of warp cycles by reason, most first
  std::optional<double> achievedOccupancy;
  MemoryTraffic traffic;
  std::optional<ProcessorUse> processor;  // of a CPU
  std::vector<HotLine> lines;             // most samples first
};

enum class FindingKind : std::uint8_t {
  Stall,           // warps wait for `detail`
  ExtraTraffic,    // more bytes are moved than the task needs
  PartialSectors,  // loads use a part of what they fetch
  Occupancy,       // few warps are resident; `detail` limits them
  Divergence,      // threads of a warp go different ways
  Spills,          // registers are kept in memory
  OutsideKernels,  // PyTorch's operators, launches and gaps between them
  NarrowVectors,   // `measured` bits wide, 0: scalar; `detail`: what the processor has
  IdleThreads,     // `measured` threads are at work; `detail`: of how many
  ThreadWaits,     // threads wait for others
  CacheMisses,     // loads miss the first-level cache
  BranchMisses,    // branches are mispredicted
};
[[nodiscard]] std::string_view name(FindingKind kind);

struct Finding {
  FindingKind kind = FindingKind::Stall;
  std::string entry;  // of the kernel; empty: of the whole candidate
  std::string detail;
  double measured = 0.0;       // the share, or the bytes spilled, that gave rise to it
  std::optional<double> gain;  // the part of the candidate's time that it can cost at most, 0 to 1
  int line = 0;                // of the source, 1-based; 0: not known
};

// The roofs of a device. Zero: not known.
struct Roofs {
  double measuredBytesPerSecond = 0.0;     // by a copy when the worker started
  double theoreticalBytesPerSecond = 0.0;  // by the counters
  double flopsPerSecond = 0.0;             // float32 outside tensor cores, by the counters
  double matrixFlopsPerSecond = 0.0;       // of the matrix units for the task's type, by the architecture
};

struct Diagnosis {
  Bound bound = Bound::Unknown;  // of the kernel with the largest share, or Launches
  std::vector<KernelDiagnosis> kernels;
  std::vector<Finding> findings;  // largest gain first, at most three
  double candidateNs = 0.0;       // the time as measured without a profiler; 0: not known
  double kernelsNs = 0.0;         // of all kernels together; 0: not all were measured
  double taskBytes = 0.0;         // what any program has to read and write
  double taskOperations = 0.0;    // of the task's products
  // taskBytes in the candidate's time, over the measured bandwidth of a copy. Above 1 where a part of the data comes
  // out of the caches.
  std::optional<double> copyShare;
  Roofs roofs;
};

}  // namespace swage::domain
