// SPDX-License-Identifier: Apache-2.0
#include "core/device/multiprocessor_hold.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/base/log.h"
#include "core/device/cuda_resources.h"

namespace swage::device {
namespace {

// By the device's clock, for each block from its start. What a large kernel has not done by then runs on the whole
// device, after the blocks that came first.
constexpr std::uint64_t kLongestNs = 10'000'000;
// Blocks are there within some 10 us, unless another process has the device for a time slice.
constexpr std::chrono::milliseconds kPatience{10};
constexpr unsigned kHoldThreads = 1024;

// Thread 0 of each block says that it is there and looks every now and then whether it may go; the others wait for it.
// The driver compiles it for the device at hand.
constexpr const char* kHolder = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry swage_hold(.param .u64 words, .param .u64 longest) {
  .reg .pred %p<4>;
  .reg .b32 %r<5>;
  .reg .b64 %d<10>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra leave;
  ld.param.u64 %d1, [words];
  ld.param.u64 %d2, [longest];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %d3, %r2, 4;
  add.u64 %d4, %d1, %d3;
  mov.u32 %r3, 1;
  mov.u64 %d5, %globaltimer;
  st.volatile.global.u32 [%d4+4], %r3;
look:
  ld.volatile.global.u32 %r4, [%d1];
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra leave;
  nanosleep.u32 2000;
  mov.u64 %d6, %globaltimer;
  sub.u64 %d7, %d6, %d5;
  setp.lt.u64 %p3, %d7, %d2;
  @%p3 bra look;
leave:
  bar.sync 0;
  ret;
}
)";

}  // namespace

DeviceResult<std::unique_ptr<MultiprocessorHold>> MultiprocessorHold::create(const CudaDriver& driver,
                                                                             int multiprocessors,
                                                                             std::int64_t sharedBytesPerBlock) {
  std::unique_ptr<MultiprocessorHold> hold(
      new MultiprocessorHold(driver, std::max(0, multiprocessors - 1), sharedBytesPerBlock));
  if (DeviceStatus failed = hold->prepare()) {
    return tl::make_unexpected(std::move(*failed));
  }
  return hold;
}

DeviceStatus MultiprocessorHold::prepare() {
  constexpr const char* kAttempted = "prepare to hold multiprocessors";
  auto holder = DriverKernel::load(m_driver, kHolder, "swage_hold");
  if (!holder) {
    return std::move(holder).error();
  }
  m_holder = std::move(*holder);
  DeviceStatus failed = m_holder->allowSharedBytes(static_cast<int>(m_sharedBytes));
  // The default stream waits for all others but those that do not block.
  failed = failed ? failed : m_driver.check(m_driver.cuStreamCreate(&m_stream, CU_STREAM_NON_BLOCKING), kAttempted);
  void* words = nullptr;
  const std::size_t bytes = sizeof(std::uint32_t) * static_cast<std::size_t>(m_blocks + 1);
  failed =
      failed ? failed : m_driver.check(m_driver.cuMemHostAlloc(&words, bytes, CU_MEMHOSTALLOC_DEVICEMAP), kAttempted);
  m_words = static_cast<volatile std::uint32_t*>(words);
  return failed;
}

MultiprocessorHold::~MultiprocessorHold() {
  const bool isFreed =
      (m_words == nullptr || m_driver.cuMemFreeHost(const_cast<std::uint32_t*>(m_words)) == CUDA_SUCCESS) &&
      (m_stream == nullptr || m_driver.cuStreamDestroy(m_stream) == CUDA_SUCCESS);
  if (!isFreed) {
    log::debug("what holds multiprocessors could not be freed");  // the context is gone, which has been reported
  }
}

DeviceStatus MultiprocessorHold::during(const Device::Call& call, CUstream stream) {
  if (DeviceStatus failed = m_driver.check(m_driver.cuCtxSynchronize(), "wait for the device")) {
    return failed;
  }
  if (DeviceStatus failed = take()) {
    return failed;
  }
  DeviceStatus failed = call();
  failed = failed ? failed : m_driver.check(m_driver.cuStreamSynchronize(stream), "run to the end");
  letGo();
  return failed ? failed : m_driver.check(m_driver.cuCtxSynchronize(), "let the multiprocessors go");
}

DeviceStatus MultiprocessorHold::take() {
  const auto end = m_words + m_blocks + 1;
  std::fill(m_words, end, 0U);
  auto words = reinterpret_cast<CUdeviceptr>(m_words);
  std::uint64_t longest = kLongestNs;
  std::array<void*, 2> arguments = {&words, &longest};
  const DriverKernel::Shape shape{.blocks = static_cast<unsigned>(m_blocks),
                                  .threads = kHoldThreads,
                                  .sharedBytes = static_cast<unsigned>(m_sharedBytes),
                                  .stream = m_stream};
  if (DeviceStatus failed = m_holder->launch(shape, arguments.data(), "hold multiprocessors")) {
    return failed;
  }
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const auto isMissing = [](std::uint32_t word) { return word == 0; };
  while (std::any_of(m_words + 1, end, isMissing) && std::chrono::steady_clock::now() < deadline) {
  }
  return std::nullopt;
}

void MultiprocessorHold::letGo() {
  m_words[0] = 1;
}

}  // namespace swage::device
