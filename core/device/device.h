// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/conditions.h"
#include "core/device/failure.h"
#include "core/device/occupancy.h"
#include "core/device/profiler.h"
#include "core/domain/device_info.h"
#include "core/domain/launch_plan.h"

namespace swage::device {

// What the compiled code of a kernel takes, and how many of its blocks fit.
struct KernelResources {
  int registers = 0;            // per thread
  std::int64_t localBytes = 0;  // per thread: spilled registers and arrays
  std::int64_t staticSharedBytes = 0;
  std::int64_t dynamicSharedBytes = 0;
  Occupancy occupancy;
};

// One kernel step with everything about its launch worked out beforehand. Lives no longer than its module.
class Kernel {
 public:
  Kernel() = default;
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // `arguments[i]` points at the value of argument i, as for cuLaunchKernel; of a tensor map, at the address of its
  // buffer, for which the kernel encodes the map. Asynchronous on a GPU.
  [[nodiscard]] virtual DeviceStatus launch(void** arguments) = 0;
  // No value where the device does not know: on a CPU.
  [[nodiscard]] virtual std::optional<KernelResources> resources() const { return std::nullopt; }
};

// The binary of a candidate, loaded into this process. Unloaded at destruction.
class KernelModule {
 public:
  KernelModule() = default;
  virtual ~KernelModule() = default;
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;

  // Fails when the entry is missing, its parameters do not fit the step's arguments, or its resources do not fit the
  // device.
  [[nodiscard]] virtual DeviceResult<std::unique_ptr<Kernel>> bind(const domain::KernelStep& step) = 0;
};

// What a call issued, to be issued again as one. Lives no longer than the kernels that it launches and the memory that
// they use.
class CapturedCall {
 public:
  CapturedCall() = default;
  virtual ~CapturedCall() = default;
  CapturedCall(const CapturedCall&) = delete;
  CapturedCall& operator=(const CapturedCall&) = delete;

  // On the stream in use. Asynchronous.
  [[nodiscard]] virtual DeviceStatus launch() = 0;
};

// How long one call took. Both in nanoseconds.
struct CallTime {
  double ns = 0.0;      // by the device's clock()
  double hostNs = 0.0;  // by the host's, until the device had nothing left to do, without what launching and waiting
                        // cost every call; 0: the device has no other clock
};

// Where candidates run. Everything is issued to one stream at a time: the one libtorch uses by default, until
// useStream() says another. Not thread-safe.
class Device {
 public:
  using Call = std::function<DeviceStatus()>;

  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] virtual const domain::DeviceInfo& info() const = 0;
  [[nodiscard]] virtual DeviceResult<std::unique_ptr<KernelModule>> loadModule(const std::string& binary) = 0;
  // Waits for everything issued before and reports what went wrong in it.
  [[nodiscard]] virtual DeviceStatus synchronize() = 0;
  // Everything is issued to this stream from now on, a CUstream; nullptr: to the default one again. What was issued
  // before is not waited for. Without effect where there are no streams.
  virtual void useStream(void* /*stream*/) {}
  // Every byte becomes `value`. Asynchronous on a GPU.
  [[nodiscard]] virtual DeviceStatus fill(void* address, std::uint8_t value, std::size_t bytes) = 0;
  // Overwrites what earlier calls left where a kernel keeps what it has not initialised, so that it does not find zeros
  // there, or the right values. Of a CPU: the stacks of the threads; their rounding modes and their number become what
  // they were, because a kernel could have changed them for whatever runs after it.
  virtual void scrub() {}
  // Issues a call and waits for it, with most of the device taken away from it: on a GPU every multiprocessor but one
  // is busy with something else for a few milliseconds, on a CPU all threads share one core. Blocks and threads that
  // usually run side by side run one after the other then: who is right only because another one comes first or last is
  // not right any more.
  [[nodiscard]] virtual DeviceStatus callConfined(const Call& call) = 0;
  // How many threads a CPU may have elsewhere: one, and one more than here. None where kernels bring their own.
  [[nodiscard]] virtual std::vector<int> otherThreadCounts() const { return {}; }
  // Issues a call with so many threads instead of the usual ones, and waits for it.
  [[nodiscard]] virtual DeviceStatus callWithThreads(int /*threads*/, const Call& call) { return call(); }
  // A stream of this device's own, on which nothing runs that was not captured: a CUstream for useStream(). nullptr:
  // there are no streams.
  [[nodiscard]] virtual DeviceResult<void*> captureStream() { return nullptr; }
  // Records what the call issues to the stream in use instead of running it. Fails where the device cannot, and where
  // the call waits for the device or issues to the default stream.
  [[nodiscard]] virtual DeviceResult<std::unique_ptr<CapturedCall>> capture(const Call& /*call*/) {
    return tl::make_unexpected(DeviceFailure{"this device captures no calls"});
  }
  // Bytes that could be allocated now, without what caches of libtorch hold.
  [[nodiscard]] virtual std::int64_t freeBytes() const = 0;

  // One call with cold caches. It has finished when this returns.
  [[nodiscard]] DeviceResult<CallTime> timeCold(const Call& call) { return timeColdAfter({}, call); }
  // The same after something else, which is not timed and is not waited for: whoever has to look at the last call's
  // results gives the device that work here, where the flush follows at once, instead of letting it wait for the host.
  [[nodiscard]] virtual DeviceResult<CallTime> timeColdAfter(const Call& before, const Call& call) = 0;
  // What gives CallTime::ns: "device events", "host clock".
  [[nodiscard]] virtual std::string_view clock() const = 0;
  // Whether traceCold() may have an answer.
  [[nodiscard]] virtual bool canTrace() { return false; }
  // Nanoseconds for which the device was busy with one call, on whatever stream, from activity records. Recording costs
  // time, so no call is timed and traced at once. 0: the records cannot be had, and whether the call
  // was run is not said.
  [[nodiscard]] virtual DeviceResult<double> traceCold(const Call& /*call*/) { return 0.0; }
  // Launches a kernel that does nothing: what a launch costs differs by a tenth of a microsecond from process to
  // process on a GPU, and stays within one. nullptr: nothing is launched on this device, or the kernel could not be
  // loaded.
  [[nodiscard]] virtual const Call* emptyLaunch() { return nullptr; }
  // Asked between timed calls, never during one.
  [[nodiscard]] virtual ConditionSample conditions() { return {}; }

  // For one profile at a time. Fails where nothing can look into kernels.
  [[nodiscard]] virtual ProfilerResult<std::unique_ptr<Profiler>> openProfiler() {
    return tl::make_unexpected(ProfilerFailure{"this device has no hardware counters that Swage can read", ""});
  }
};

}  // namespace swage::device
