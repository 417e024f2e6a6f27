// SPDX-License-Identifier: Apache-2.0
#include "app/cell/stacks.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "core/device/thread_stack.h"

namespace swage::cell {
namespace {

constexpr std::size_t kNearBytes = std::size_t{64} << 10U;  // kernels keep a few hundred bytes on the stack
using device::kStackPageBytes;
constexpr std::size_t kPagesAtOnce = 512;  // that the system is asked about

// Not inlined: its frame must end before the next call, whose own will lie there. All bits set are NaN.
[[gnu::noinline]] void scrubNear() {
  std::array<volatile std::uint64_t, kNearBytes / sizeof(std::uint64_t)> frame{};
  for (volatile std::uint64_t& word : frame) {
    word = ~std::uint64_t{0};
  }
}

// What lies deeper than scrubNear() reaches: a kernel may write there without a frame.
void scrubDeep(std::uintptr_t low) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::array<unsigned char, kPagesAtOnce> isThere{};
  std::size_t pages = kPagesAtOnce;
  std::uintptr_t end = (here - kNearBytes / 2) / kStackPageBytes * kStackPageBytes;
  while (low != 0 && end >= low + kStackPageBytes) {
    pages = std::min<std::size_t>(pages, (end - low) / kStackPageBytes);
    const std::uintptr_t begin = end - pages * kStackPageBytes;
    if (::mincore(reinterpret_cast<void*>(begin), pages * kStackPageBytes, isThere.data()) != 0) {
      if (pages == 1) {
        return;  // the stack has not grown further
      }
      pages = 1;
      continue;
    }
    for (std::size_t page = 0; page < pages; ++page) {
      if ((isThere.at(page) & 1U) != 0) {
        std::memset(reinterpret_cast<void*>(begin + page * kStackPageBytes), 0xFF, kStackPageBytes);
      }
    }
    end = begin;
  }
}

}  // namespace

void scrubStack() {
  thread_local const std::uintptr_t low = device::lowestStackAddress();
  scrubNear();
  scrubDeep(low);
}

}  // namespace swage::cell
