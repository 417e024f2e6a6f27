// SPDX-License-Identifier: Apache-2.0
#include "core/device/cache_cleaner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/log.h"

namespace swage::device {
namespace {

constexpr std::size_t kMinBytes = std::size_t{64} << 20U;
constexpr unsigned kBlocks = 1024;
constexpr unsigned kThreads = 256;

// Every thread reads words of 16 bytes, a grid apart. The buffer is zero, so that the store, without which nothing
// would have to be read, never happens. The driver compiles it for the device at hand.
constexpr const char* kReader = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry swage_read_all(.param .u64 buffer, .param .u64 words) {
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [buffer];
  ld.param.u64 %d2, [words];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %d3, %r1, %r2;
  cvt.u64.u32 %d4, %r3;
  add.u64 %d3, %d3, %d4;
  mul.wide.u32 %d5, %r4, %r2;
  mov.u32 %r5, 0;
next:
  setp.ge.u64 %p1, %d3, %d2;
  @%p1 bra done;
  shl.b64 %d6, %d3, 4;
  add.u64 %d7, %d1, %d6;
  ld.global.cg.v4.u32 {%r6, %r7, %r8, %r9}, [%d7];
  or.b32 %r5, %r5, %r6;
  or.b32 %r5, %r5, %r7;
  or.b32 %r5, %r5, %r8;
  or.b32 %r5, %r5, %r9;
  add.u64 %d3, %d3, %d5;
  bra next;
done:
  setp.eq.u32 %p2, %r5, 0;
  @%p2 bra end;
  st.global.u32 [%d1], %r5;
end:
  ret;
}
)";

}  // namespace

DeviceResult<std::unique_ptr<CacheCleaner>> CacheCleaner::create(const CudaDriver& driver, std::size_t cacheBytes) {
  std::unique_ptr<CacheCleaner> cleaner(new CacheCleaner(driver));
  if (DeviceStatus failed = cleaner->prepare(std::max(4 * cacheBytes, kMinBytes))) {
    return tl::make_unexpected(std::move(*failed));
  }
  return cleaner;
}

DeviceStatus CacheCleaner::prepare(std::size_t bytes) {
  auto reader = DriverKernel::load(m_driver, kReader, "swage_read_all");
  if (!reader) {
    return std::move(reader).error();
  }
  m_reader = std::move(*reader);
  if (DeviceStatus failed = m_driver.check(m_driver.cuMemAlloc(&m_buffer, bytes), "allocate device memory")) {
    return failed;
  }
  m_bytes = bytes;
  return m_driver.check(m_driver.cuMemsetD8Async(m_buffer, 0, bytes, nullptr), "zero a buffer");
}

CacheCleaner::~CacheCleaner() {
  if (m_buffer != 0 && m_driver.cuMemFree(m_buffer) != CUDA_SUCCESS) {
    log::debug("device memory could not be freed");  // the context is gone, which has been reported
  }
}

DeviceStatus CacheCleaner::clean() {
  CUdeviceptr buffer = m_buffer;
  std::uint64_t words = m_bytes / 16;
  std::array<void*, 2> arguments = {&buffer, &words};
  if (DeviceStatus failed =
          m_reader->launch({.blocks = kBlocks, .threads = kThreads}, arguments.data(), "clean the cache")) {
    return failed;
  }
  return m_driver.check(m_driver.cuCtxSynchronize(), "clean the cache");
}

}  // namespace swage::device
