// SPDX-License-Identifier: Apache-2.0
#include "core/device/local_kernels.h"

#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/device/shared_object.h"
#include "core/device/thread_stack.h"

namespace swage::device {
namespace {

using LocalEntry = void (*)(void**);

constexpr std::size_t kNearStackBytes = std::size_t{64} << 10U;  // kernels keep a few hundred bytes on the stack
constexpr std::size_t kStackPagesAtOnce = 512;                   // that the system is asked about
constexpr unsigned kLocalArithmetic = 0x1F80;                    // of MXCSR: to nearest, with denormals, no exceptions

// Not inlined: its frame must end before the next call, whose own will lie there. All bits set are NaN.
[[gnu::noinline]] void scrubNearStack() {
  std::array<volatile std::uint64_t, kNearStackBytes / sizeof(std::uint64_t)> frame{};
  for (volatile std::uint64_t& word : frame) {
    word = ~std::uint64_t{0};
  }
}

// What lies deeper, as far down as anything was ever written. Pages that nobody has touched stay so.
void scrubDeepStack() {
  thread_local const std::uintptr_t low = lowestStackAddress();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::array<unsigned char, kStackPagesAtOnce> isThere{};
  std::size_t pages = kStackPagesAtOnce;
  std::uintptr_t end = (here - kNearStackBytes / 2) / kStackPageBytes * kStackPageBytes;
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

class LocalKernel final : public Kernel {
 public:
  explicit LocalKernel(LocalEntry entry) : m_entry(entry) {}
  [[nodiscard]] DeviceStatus launch(void** arguments) override {
    m_entry(arguments);
    return {};
  }

 private:
  LocalEntry m_entry;
};

class LocalModule final : public KernelModule {
 public:
  explicit LocalModule(SharedObject object) : m_object(std::move(object)) {}
  [[nodiscard]] DeviceResult<std::unique_ptr<Kernel>> bind(const domain::KernelStep& step) override {
    void* symbol = m_object.find(step.entry);
    if (symbol == nullptr) {
      return tl::make_unexpected(DeviceFailure{fmt::format("the shared object has no entry '{}'", step.entry)});
    }
    for (const domain::KernelArgument& argument : step.arguments) {
      if (std::holds_alternative<domain::TensorMap>(argument)) {
        return tl::make_unexpected(
            DeviceFailure{fmt::format("'{}' takes a tensor map, which a CPU has not", step.entry)});
      }
    }
    return std::make_unique<LocalKernel>(reinterpret_cast<LocalEntry>(symbol));
  }

 private:
  SharedObject m_object;
};

}  // namespace

bool areKernelsLocal() {
  const char* wanted = ::secure_getenv("SWAGE_CELL");
  return wanted != nullptr && std::string_view(wanted) == "off";
}

DeviceResult<std::unique_ptr<KernelModule>> loadLocalKernels(const std::string& binary) {
  auto object = SharedObject::load(binary);
  if (!object) {
    return tl::make_unexpected(std::move(object).error());
  }
  return std::make_unique<LocalModule>(std::move(*object));
}

void renewLocalTeam(int threads) {
  omp_set_num_threads(threads);  // eager's as well as the kernels'
#pragma omp parallel
  {
    _mm_setcsr(kLocalArithmetic);
    scrubNearStack();
    scrubDeepStack();
  }
}

// The team keeps its threads from one parallel region to the next.
std::vector<pid_t> localTeam() {
  std::vector<pid_t> threads(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  threads[static_cast<std::size_t>(omp_get_thread_num())] = ::gettid();
  std::erase(threads, 0);
  return threads;
}

}  // namespace swage::device
