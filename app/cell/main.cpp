// SPDX-License-Identifier: Apache-2.0
// swage-cell: the process in which the code of one candidate for a CPU runs. It has nothing but that code, its buffers
// and the page over which its parent asks for calls (core/device/cell_protocol.h); core/device/cell.h starts it. Links
// neither libtorch nor anything of Swage, so that nothing of a reference, a clock or a verdict can be found in it.
#include <dlfcn.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "app/cell/enclosure.h"
#include "core/device/cell_protocol.h"
#include "core/device/thread_stack.h"

namespace {

using namespace swage::device;

using Entry = void (*)(void**);

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kOwnMemory = std::uint64_t{8} << 30U;  // stacks, arenas and libraries: addresses, not pages
constexpr std::uint32_t kUsualArithmetic = 0x1F80;             // of MXCSR: to nearest, with denormals, no exceptions
constexpr std::uint32_t kModes = 0xFFC0;                       // of MXCSR, without the flags of what has happened
constexpr std::uint64_t kNearStack = 4 * kPageBytes;           // more than giveBackStack() leaves
constexpr std::uint16_t kUsualX87 = 0x037F;

void doNothing(void** /*arguments*/) {}

// One thread's stack, from its lowest address.
struct Stack {
  std::uint64_t low = 0;
};

Stack stackOfThisThread() {
  return {lowestStackAddress()};
}

std::uint16_t x87Control() {
  std::uint16_t word = 0;
  asm volatile("fnstcw %0" : "=m"(word));
  return word;
}

// Everything more than a page or two below this frame becomes zeros. What this frame calls keeps its own frames in
// those pages.
[[gnu::noinline]] void giveBackStack(Stack stack) {
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  const std::uint64_t end = (here - kPageBytes) / kPageBytes * kPageBytes;
  if (stack.low != 0 && stack.low < end) {
    ::madvise(reinterpret_cast<void*>(stack.low), end - stack.low, MADV_DONTNEED);
  }
}

// The pages that giveBackStack() leaves get all bits set.
[[gnu::noinline]] void scrubNearStack() {
  std::array<volatile std::uint64_t, kNearStack / sizeof(std::uint64_t)> frame{};
  for (volatile std::uint64_t& word : frame) {
    word = ~std::uint64_t{0};
  }
}

class CellProgram {
 public:
  explicit CellProgram(CellControl& control) : m_control(control) {}

  // Empty: ready. The order matters: nothing of the candidate runs before the first filter.
  [[nodiscard]] std::string start() {
    omp_set_num_threads(static_cast<int>(m_control.threads));
    if (std::string trouble = mapBuffers(); !trouble.empty()) {
      return trouble;
    }
    m_mainStack = stackOfThisThread();  // reads /proc
    std::thread([] {}).join();          // with the first thread the library sets signals up
    for (std::string (*step)() : {&limits, &swage::cell::closeFiles, &swage::cell::allowLoadingOnly}) {
      if (std::string trouble = step(); !trouble.empty()) {
        return trouble;
      }
    }
    const std::string path = "/proc/self/fd/" + std::to_string(kCellBinaryFd);
    m_object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (m_object == nullptr) {
      const char* reason = ::dlerror();
      return std::string("the shared object cannot be loaded: ") + (reason != nullptr ? reason : "unknown");
    }
    ::close_range(0, ~0U, 0);
    ::prctl(PR_SET_DUMPABLE, 0);          // not before: the object's path is then closed to its owner
    ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV);  // no clock; threads inherit it
    if (std::string trouble = swage::cell::allowComputingOnly(); !trouble.empty()) {
      return trouble;
    }
    m_entries.push_back(doNothing);
    renew();  // also starts the team
    return {};
  }

  [[noreturn]] void serve() {
    std::uint32_t last = 0;
    while (true) {
      ::syscall(SYS_futex, &m_control.request, FUTEX_WAIT, last, nullptr, nullptr, 0);
      const std::uint32_t asked = m_control.request.load(std::memory_order_acquire);
      if (asked == last) {
        continue;
      }
      last = asked;
      m_control.answer = answer();
      m_control.done.store(asked, std::memory_order_release);
      ::syscall(SYS_futex, &m_control.done, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    }
  }

 private:
  static std::string limits() { return swage::cell::limitResources(s_mappedBytes + kOwnMemory); }

  // Each between pages that nobody may touch.
  [[nodiscard]] std::string mapBuffers() {
    for (std::uint32_t i = 0; i < m_control.buffers; ++i) {
      const CellBuffer& buffer = m_control.buffer[i];
      const std::uint64_t span = buffer.pageBytes + 2 * kPageBytes;
      void* reserved = ::mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (reserved == MAP_FAILED) {
        return "no room for the buffers";
      }
      char* first = static_cast<char*>(reserved) + kPageBytes;
      const bool isInput = buffer.isReadOnly != 0;
      if (buffer.pageBytes > 0 &&
          ::mmap(first, buffer.pageBytes, isInput ? PROT_READ : PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_POPULATE, isInput ? kCellInputsFd : kCellOutputsFd,
                 static_cast<off_t>(buffer.pageOffset)) == MAP_FAILED) {
        return "a buffer cannot be mapped";
      }
      m_addresses.push_back(first + buffer.start);
      s_mappedBytes += span;
    }
    return {};
  }

  [[nodiscard]] CellAnswer answer() {
    switch (m_control.command) {
      case CellCommand::Bind: return bind();
      case CellCommand::Call: call(); return CellAnswer::Ok;
      case CellCommand::Renew: renew(); return CellAnswer::Ok;
      case CellCommand::Inspect: return isArithmeticUsual() ? CellAnswer::Ok : CellAnswer::ArithmeticChanged;
    }
    return CellAnswer::NotFound;
  }

  [[nodiscard]] CellAnswer bind() {
    void* symbol = ::dlsym(m_object, m_control.entry.data());
    if (symbol == nullptr || m_entries.size() >= kCellEntries) {
      return CellAnswer::NotFound;
    }
    m_entries.push_back(reinterpret_cast<Entry>(symbol));
    return CellAnswer::Ok;
  }

  void call() {
    std::array<std::uint64_t, kCellArguments> values{};
    std::array<void*, kCellArguments> pointers{};
    for (std::uint32_t i = 0; i < m_control.arguments; ++i) {
      const CellArgument& argument = m_control.argument[i];
      values[i] =
          argument.isBuffer != 0 ? reinterpret_cast<std::uint64_t>(m_addresses[argument.value]) : argument.value;
      pointers[i] = &values[i];
    }
    m_entries[m_control.number](pointers.data());
  }

  void renew() {
    omp_set_num_threads(static_cast<int>(m_control.threads));
#pragma omp parallel
    {
      _mm_setcsr(kUsualArithmetic);
      asm volatile("fldcw %0" : : "m"(kUsualX87));
      const bool isMain = omp_get_thread_num() == 0;
      giveBackStack(isMain ? m_mainStack : stackOfThisThread());
      scrubNearStack();
    }
  }

  [[nodiscard]] static bool isArithmeticUsual() {
    bool isUsual = true;
#pragma omp parallel reduction(&& : isUsual)
    isUsual = (_mm_getcsr() & kModes) == kUsualArithmetic && x87Control() == kUsualX87;
    return isUsual;
  }

  static inline std::uint64_t s_mappedBytes = 0;
  CellControl& m_control;
  void* m_object = nullptr;
  Stack m_mainStack;
  std::vector<char*> m_addresses;
  std::vector<Entry> m_entries;
};

}  // namespace

int main() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::close_range(kCellOutputsFd + 1, ~0U, 0);
  void* page = ::mmap(nullptr, sizeof(CellControl), PROT_READ | PROT_WRITE, MAP_SHARED, kCellControlFd, 0);
  if (page == MAP_FAILED || static_cast<CellControl*>(page)->version != kCellVersion) {
    return 2;  // not started by Swage
  }
  auto& control = *static_cast<CellControl*>(page);
  CellProgram program(control);
  const std::string trouble = program.start();
  std::memcpy(control.message.data(), trouble.data(), std::min(trouble.size(), control.message.size() - 1));
  control.state.store(static_cast<std::uint32_t>(trouble.empty() ? CellState::Ready : CellState::Failed));
  ::syscall(SYS_futex, &control.state, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  if (!trouble.empty()) {
    ::_exit(1);
  }
  program.serve();
}
