// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/device/cache_cleaner.h"
#include "core/device/cuda_capture.h"
#include "core/device/cuda_driver.h"
#include "core/device/cuda_errors.h"
#include "core/device/cuda_facts.h"
#include "core/device/cuda_module.h"
#include "core/device/cuda_resources.h"
#include "core/device/driver_kernel.h"
#include "core/device/flush_count.h"
#include "core/device/multiprocessor_hold.h"
#include "core/device/nvml.h"
#ifdef SWAGE_HAVE_CUPTI_HEADERS
#include "core/device/cupti_activity.h"
#include "core/device/cupti_profiler.h"
#endif

namespace swage::device {
namespace {

constexpr std::int64_t kMinFlushBytes = std::int64_t{256} << 20;
constexpr std::int64_t kMaxCopyBytes = std::int64_t{1} << 30;
// What kernels print goes to the log, which keeps the end of it; the device drops what does not fit here.
constexpr std::size_t kPrintBytes = std::size_t{64} << 10U;
// For malloc in kernels, which no candidate needs: the least that the driver gives.
constexpr std::size_t kHeapBytes = std::size_t{8} << 20U;
constexpr std::size_t kSmokeBytes = 4096;
constexpr unsigned char kSmokePattern = 0xA5;

constexpr int kFillValues = 251;
constexpr int kEmptyCalls = 7;
constexpr double kLeastHostNs = 1.0;  // 0 says that it was not taken

constexpr const char* kEmptyKernel = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry swage_empty() {
  ret;
}
)";

using Clock = std::chrono::steady_clock;

double nanosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const CudaDriver& driver, CUdevice device, CUcontext context, domain::DeviceInfo info, DeviceBlock flushed,
             std::unique_ptr<NvmlSession> nvml)
      : m_driver(driver),
        m_device(device),
        m_context(context),
        m_info(std::move(info)),
        m_flushed(std::move(flushed)),
        m_nvml(std::move(nvml)),
        m_capture(driver, m_stream),
        m_start(driver),
        m_callStart(driver),
        m_callEnd(driver) {}
  ~CudaDevice() override {
    if (m_driver.cuDevicePrimaryCtxRelease(m_device) != CUDA_SUCCESS) {
      log::debug("the CUDA context could not be released");
    }
  }

  [[nodiscard]] const domain::DeviceInfo& info() const override { return m_info; }
  [[nodiscard]] DeviceResult<std::unique_ptr<KernelModule>> loadModule(const std::string& binary) override {
    return CudaModule::load(m_driver, binary, m_info.sharedBytesPerBlock, limitsOf(m_driver, m_device), m_stream);
  }
  void useStream(void* stream) override { m_stream = static_cast<CUstream>(stream); }
  [[nodiscard]] DeviceStatus synchronize() override {
    return m_driver.check(m_driver.cuCtxSynchronize(), "run to the end");
  }
  [[nodiscard]] DeviceStatus callConfined(const Call& call) override;
  [[nodiscard]] DeviceStatus fill(void* address, std::uint8_t value, std::size_t bytes) override {
    const auto target = reinterpret_cast<CUdeviceptr>(address);
    return bytes == 0 ? std::nullopt
                      : m_driver.check(m_driver.cuMemsetD8Async(target, value, bytes, m_stream), "fill a buffer");
  }
  [[nodiscard]] DeviceResult<void*> captureStream() override { return m_capture.ownStream(); }
  [[nodiscard]] DeviceResult<std::unique_ptr<CapturedCall>> capture(const Call& call) override {
    return m_capture.capture(call);
  }
  [[nodiscard]] std::int64_t freeBytes() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    return m_driver.cuMemGetInfo(&free, &total) == CUDA_SUCCESS ? static_cast<std::int64_t>(free) : 0;
  }
  [[nodiscard]] DeviceResult<CallTime> timeColdAfter(const Call& before, const Call& call) override;
  [[nodiscard]] std::string_view clock() const override { return "device events"; }
#ifdef SWAGE_HAVE_CUPTI_HEADERS
  [[nodiscard]] bool canTrace() override;
  [[nodiscard]] DeviceResult<double> traceCold(const Call& call) override;
#endif
  [[nodiscard]] ConditionSample conditions() override {
    return m_nvml->sample();
  }
  [[nodiscard]] const Call* emptyLaunch() override;
  [[nodiscard]] DeviceStatus measureHostOverhead();
  [[nodiscard]] ProfilerResult<std::unique_ptr<Profiler>> openProfiler() override;
  [[nodiscard]] DeviceStatus measureCopyBandwidth();

 private:
  [[nodiscard]] DeviceStatus flush();
  [[nodiscard]] DeviceStatus issue(const Call& before, const Call& call);
#ifdef SWAGE_HAVE_CUPTI_HEADERS
  void giveUpTracing(const Error& why);
#endif

  const CudaDriver& m_driver;
  CUdevice m_device;
  CUcontext m_context;
  domain::DeviceInfo m_info;
  DeviceBlock m_flushed;
  std::unique_ptr<NvmlSession> m_nvml;
  CUstream m_stream = kDefaultStream;
  CudaCapture m_capture;
  CudaEvent m_start;
  CudaEvent m_callStart;
  CudaEvent m_callEnd;
  int m_fill = 0;
  FlushCount m_flushCount;
  double m_beforeNs = 0.0;    // of the last timed call, until it began
  double m_overheadNs = 0.0;  // of launching and waiting, by the host's clock
#ifdef SWAGE_HAVE_CUPTI_HEADERS
  std::unique_ptr<CuptiActivity> m_activity;  // from the first trace on
  bool m_traceable = true;
#endif
  std::unique_ptr<CacheCleaner> m_cleaner;     // from the first profile on
  std::unique_ptr<MultiprocessorHold> m_hold;  // from the first confined call on
  bool m_canHold = true;
  std::unique_ptr<DriverKernel> m_emptyKernel;  // from the first empty launch on, as is the next
  Call m_emptyLaunch;
  bool m_hasEmptyKernel = true;
};

// A device that cannot be taken away says nothing about the candidate.
DeviceStatus CudaDevice::callConfined(const Call& call) {
  if (!m_hold && m_canHold) {
    auto hold = MultiprocessorHold::create(m_driver, m_info.multiprocessors, m_info.sharedBytesPerBlock);
    if (hold) {
      m_hold = std::move(*hold);
    } else if (hold.error().poisoned) {
      return hold.error();
    } else {
      m_canHold = false;
      log::info("candidates are not run on one multiprocessor: {}", hold.error().detail);
    }
  }
  if (m_hold) {
    return m_hold->during(call, m_stream);
  }
  DeviceStatus failed = call();
  return failed ? failed : synchronize();
}

// Another value each time: a write of what is there already might be elided.
DeviceStatus CudaDevice::flush() {
  m_fill = (m_fill + 1) % kFillValues;
  const auto value = static_cast<unsigned char>(m_fill);
  return m_driver.check(m_driver.cuMemsetD8Async(m_flushed.address(), value, m_flushed.bytes(), m_stream),
                        "flush the L2 cache");
}

// The device is still busy flushing while the host issues the call, so that launch latency is hidden, as it is in a
// model that keeps its GPU busy (FlushCount).
DeviceStatus CudaDevice::issue(const Call& before, const Call& call) {
  if (DeviceStatus failed = m_start.record(m_stream)) {
    return failed;
  }
  if (DeviceStatus failed = before ? before() : std::nullopt) {
    return failed;
  }
  const auto start = Clock::now();
  DeviceStatus failed;
  for (int left = m_flushCount.next(); left > 0 && !failed; --left) {
    failed = flush();
  }
  failed = failed ? failed : m_callStart.record(m_stream);
  failed = failed ? failed : call();
  failed = failed ? failed : m_callEnd.record(m_stream);
  m_flushCount.add(nanosecondsSince(start));
  return failed;
}

// Work outside the stream that is timed is still going on when the events are done: only the host's clock sees it,
// because it waits for the whole context. Lines that the call before asked to stay in L2 are given up first.
DeviceResult<CallTime> CudaDevice::timeColdAfter(const Call& before, const Call& call) {
  DeviceStatus failed = m_driver.check(m_driver.cuCtxResetPersistingL2Cache(), "reset the L2 cache");
  failed = failed ? failed : synchronize();
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  const auto start = Clock::now();
  failed = issue(before, call);
  if (!failed) {
    failed = synchronize();
  }
  const double hostNs = nanosecondsSince(start);
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  const auto beforeNs = m_callStart.nanosecondsSince(m_start);
  const auto callNs = m_callEnd.nanosecondsSince(m_callStart);
  if (!beforeNs || !callNs) {
    return tl::make_unexpected(!beforeNs ? beforeNs.error() : callNs.error());
  }
  m_beforeNs = *beforeNs;
  return CallTime{.ns = *callNs, .hostNs = std::max(kLeastHostNs, hostNs - *beforeNs - m_overheadNs)};
}

#ifdef SWAGE_HAVE_CUPTI_HEADERS
bool CudaDevice::canTrace() {
  if (m_traceable && !m_activity) {
    auto opened = CuptiActivity::open();
    if (!opened) {
      giveUpTracing(opened.error());
    } else {
      m_activity = std::move(*opened);
    }
  }
  return m_traceable;
}

void CudaDevice::giveUpTracing(const Error& why) {
  m_traceable = false;
  log::info("times are not compared with CUPTI's: {}", why.message());
}

// The flush has ended before the call begins, so that no record is of anything else. A call without any record (CUPTI
// that is there but blind) gives 0 as well.
DeviceResult<double> CudaDevice::traceCold(const Call& call) {
  if (!canTrace()) {
    return 0.0;
  }
  DeviceStatus failed = m_driver.check(m_driver.cuCtxResetPersistingL2Cache(), "reset the L2 cache");
  failed = failed ? failed : flush();
  failed = failed ? failed : synchronize();
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (const Result<> started = m_activity->start(); !started) {
    giveUpTracing(started.error());
    return 0.0;
  }
  failed = call();
  failed = failed ? failed : synchronize();
  const auto spans = m_activity->stop();
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (!spans) {
    giveUpTracing(spans.error());
  }
  return spans ? busyNanoseconds(*spans) : 0.0;
}
#endif

const Device::Call* CudaDevice::emptyLaunch() {
  if (!m_emptyKernel && std::exchange(m_hasEmptyKernel, false)) {
    auto kernel = DriverKernel::load(m_driver, kEmptyKernel, "swage_empty");
    if (!kernel) {
      log::info("launches are not timed: {}", kernel.error().detail);
      return nullptr;
    }
    m_emptyKernel = std::move(*kernel);
    m_emptyLaunch = [this] { return m_emptyKernel->launch({.stream = m_stream}, nullptr, "launch an empty kernel"); };
  }
  return m_emptyKernel ? &m_emptyLaunch : nullptr;
}

// What the host's clock shows of a call that does nothing, and how long a flush takes.
DeviceStatus CudaDevice::measureHostOverhead() {
  double least = std::numeric_limits<double>::max();
  double flushNs = least;
  for (int round = 0; round < kEmptyCalls; ++round) {
    const auto time = timeCold([] { return std::nullopt; });
    if (!time) {
      return time.error();
    }
    least = std::min(least, time->hostNs - time->ns);
    flushNs = std::min(flushNs, m_beforeNs / m_flushCount.next());
  }
  m_overheadNs = std::max(0.0, least);
  m_flushCount.setFlushNs(flushNs);
  return std::nullopt;
}

#ifdef SWAGE_HAVE_CUPTI_HEADERS
ProfilerResult<std::unique_ptr<Profiler>> CudaDevice::openProfiler() {
  const Result<const CuptiLibrary*> library = CuptiLibrary::load();
  if (!library) {
    return tl::make_unexpected(ProfilerFailure{library.error().message(), library.error().hint()});
  }
  if (!m_cleaner) {
    auto cleaner = CacheCleaner::create(m_driver, static_cast<std::size_t>(m_info.cacheBytes));
    if (!cleaner) {
      return tl::make_unexpected(ProfilerFailure{cleaner.error().detail, "", cleaner.error().poisoned});
    }
    m_cleaner = std::move(*cleaner);
  }
  MeasuringHooks hooks{[this] { return m_cleaner->clean(); }, [this] { return synchronize(); }};
  return std::make_unique<CuptiProfiler>(**library, m_context, m_info.ordinal, std::move(hooks));
}
#else
ProfilerResult<std::unique_ptr<Profiler>> CudaDevice::openProfiler() {
  return tl::make_unexpected(ProfilerFailure{"this swage-worker was built without the headers of CUPTI",
                                             "Build it where a Python environment or toolkit has cupti.h."});
}
#endif

DeviceStatus CudaDevice::measureCopyBandwidth() {
  const auto bytes = static_cast<std::size_t>(std::min(kMaxCopyBytes, freeBytes() / 8));
  auto source = DeviceBlock::allocate(m_driver, bytes);
  auto target = DeviceBlock::allocate(m_driver, bytes);
  if (!source || !target) {
    return (!source ? source : target).error();
  }
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 5; ++round) {
    const auto ns = timeCold([&] {
      return m_driver.check(m_driver.cuMemcpyDtoDAsync(target->address(), source->address(), bytes, m_stream), "copy");
    });
    if (!ns) {
      return ns.error();
    }
    best = std::min(best, ns->ns);
  }
  m_info.copyBytesPerSecond = best > 0.0 ? 2.0 * static_cast<double>(bytes) / (best * 1e-9) : 0.0;
  return std::nullopt;
}

Error unusable(int ordinal, const std::string& why, std::string_view advice) {
  return Error(ErrorKind::Environment, fmt::format("cannot open CUDA device {}: {}", ordinal, why),
               std::string(advice));
}

Error unusable(int ordinal, const std::string& why) {
  return unusable(ordinal, why, adviceOn(0));
}

Result<CUdevice> findDevice(const CudaDriver& driver, int ordinal) {
  CUdevice device = 0;
  if (const CUresult code = driver.cuDeviceGet(&device, ordinal); code != CUDA_SUCCESS) {
    return unusable(ordinal, driver.describe(code), adviceOn(static_cast<int>(code)));
  }
  if (attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_PROHIBITED) {
    return unusable(ordinal, "its compute mode is 'prohibited'", "Allow programs on it: nvidia-smi -c DEFAULT");
  }
  // Under the multi-process service a fault of one program ends all others: wrong kernels are Swage's daily bread.
  if (attributeOf(driver, device, CU_DEVICE_ATTRIBUTE_MPS_ENABLED) != 0) {
    return unusable(
        ordinal, "it is shared by the multi-process service (MPS)",
        "Stop the service, or unset CUDA_MPS_PIPE_DIRECTORY: a candidate that fails would end every program "
        "on the device.");
  }
  return device;
}

// A context in which kernels ran keeps its limits and takes no others: when a device is opened a second time in one
// process, they were set the first time.
DeviceStatus limitKernels(const CudaDriver& driver) {
  const CUresult print = driver.cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, kPrintBytes);
  if (print == CUDA_ERROR_INVALID_VALUE) {
    return std::nullopt;
  }
  if (DeviceStatus failed = driver.check(print, "limit what kernels may print")) {
    return failed;
  }
  return driver.check(driver.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, kHeapBytes), "limit what kernels may allocate");
}

// After a fault the device may still be there and do nothing, or do it wrong.
DeviceStatus smokeTest(const CudaDriver& driver) {
  auto block = DeviceBlock::allocate(driver, kSmokeBytes);
  if (!block) {
    return std::move(block).error();
  }
  std::array<unsigned char, kSmokeBytes> back{};
  const CUresult set = driver.cuMemsetD8Async(block->address(), kSmokePattern, kSmokeBytes, kDefaultStream);
  if (DeviceStatus failed = driver.check(set, "write to the device")) {
    return failed;
  }
  if (DeviceStatus failed =
          driver.check(driver.cuMemcpyDtoH(back.data(), block->address(), kSmokeBytes), "read from the device")) {
    return failed;
  }
  const bool same = std::all_of(back.begin(), back.end(), [](unsigned char byte) { return byte == kSmokePattern; });
  return same ? std::nullopt : DeviceStatus(DeviceFailure{"its memory does not hold what is written to it"});
}

}  // namespace

Result<std::unique_ptr<Device>> openCudaDevice(int ordinal) {
  SWAGE_TRY_ASSIGN(const CudaDriver* driver, CudaDriver::load());
  SWAGE_TRY_ASSIGN(const CUdevice device, findDevice(*driver, ordinal));
  CUcontext context = nullptr;
  if (const CUresult code = driver->cuDevicePrimaryCtxRetain(&context, device); code != CUDA_SUCCESS) {
    return unusable(ordinal, "cannot create its context: " + driver->describe(code), adviceOn(static_cast<int>(code)));
  }
  if (const DeviceStatus failed = driver->check(driver->cuCtxSetCurrent(context), "use its context")) {
    return unusable(ordinal, failed->detail);
  }
  for (const auto step : {limitKernels, smokeTest}) {
    if (const DeviceStatus failed = step(*driver)) {
      return unusable(ordinal, failed->detail);
    }
  }
  const std::string uuid = uuidOf(*driver, device);
  auto nvml = NvmlSession::open(uuid);
  const NvmlFacts facts = nvml->facts();
  if (facts.isInstance) {
    log::info(
        "device {} is an instance of a GPU (MIG): clocks and power are the whole GPU's, and its neighbours share "
        "them",
        ordinal);
  }
  domain::DeviceInfo info = describeDevice(*driver, device, ordinal, uuid, facts);
  auto flushed =
      DeviceBlock::allocate(*driver, static_cast<std::size_t>(std::max(2 * info.cacheBytes, kMinFlushBytes)));
  if (!flushed) {
    return unusable(ordinal, flushed.error().detail);
  }
  auto opened =
      std::make_unique<CudaDevice>(*driver, device, context, std::move(info), std::move(*flushed), std::move(nvml));
  if (const DeviceStatus failed = opened->measureHostOverhead()) {
    return unusable(ordinal, failed->detail);
  }
  if (const DeviceStatus failed = opened->measureCopyBandwidth()) {
    return unusable(ordinal, failed->detail);
  }
  return std::unique_ptr<Device>(std::move(opened));
}

Result<> checkCudaDevice(int ordinal) {
  SWAGE_TRY_ASSIGN(const CudaDriver* driver, CudaDriver::load());
  SWAGE_TRY(findDevice(*driver, ordinal));
  return {};
}

Result<int> countCudaDevices() {
  SWAGE_TRY_ASSIGN(const CudaDriver* driver, CudaDriver::load());
  int count = 0;
  if (const CUresult code = driver->cuDeviceGetCount(&count); code != CUDA_SUCCESS) {
    return Error(ErrorKind::Environment, "cannot count the CUDA devices: " + driver->describe(code),
                 std::string(adviceOn(static_cast<int>(code))));
  }
  return count;
}

Result<domain::DeviceInfo> describeCudaDevice(int ordinal) {
  SWAGE_TRY_ASSIGN(const CudaDriver* driver, CudaDriver::load());
  CUdevice device = 0;
  if (const CUresult code = driver->cuDeviceGet(&device, ordinal); code != CUDA_SUCCESS) {
    return unusable(ordinal, driver->describe(code), adviceOn(static_cast<int>(code)));
  }
  const std::string uuid = uuidOf(*driver, device);
  return describeDevice(*driver, device, ordinal, uuid, NvmlSession::open(uuid)->facts());
}

}  // namespace swage::device
