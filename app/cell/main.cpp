// SPDX-License-Identifier: Apache-2.0
// swage-cell: the process in which the code of one candidate for a CPU runs. It has nothing but that code, its buffers
// and the page over which its parent asks for calls (core/device/cell_protocol.h); core/device/cell.h starts it. Links
// neither libtorch nor anything of Swage, so that nothing of a reference, a clock or a verdict can be found in it.
#include <dlfcn.h>
#include <immintrin.h>
#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/cell/enclosure.h"
#include "app/cell/memory.h"
#include "app/cell/slack.h"
#include "app/cell/stacks.h"
#include "core/device/cell_protocol.h"
#include "core/device/team_placement.h"

namespace {

using namespace swage::device;
using swage::cell::CellMemory;

using Entry = void (*)(void**);
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

constexpr std::uint64_t kOwnMemory = std::uint64_t{8} << 30U;  // stacks, arenas and libraries: addresses, not pages
constexpr std::uint32_t kUsualArithmetic = 0x1F80;             // of MXCSR: to nearest, with denormals, no exceptions
constexpr std::uint32_t kModes = 0xFFC0;                       // of MXCSR, without the flags of what has happened
constexpr std::uint16_t kUsualX87 = 0x037F;
constexpr std::uint64_t kWriteFault = 2;  // of what the processor says about a fault

cpu_set_t g_allowed{};  // what processors this process may use
const CellControl* g_control = nullptr;

void doNothing(void** /*arguments*/) {}

// What a thread that is being started is to do. Not from the allocator, which would make an arena for every thread that
// gives something back.
struct ThreadStart {
  std::atomic<bool> isTaken{false};
  void* (*run)(void*) = nullptr;
  void* argument = nullptr;
};
std::array<ThreadStart, kCellThreads> g_starts;

void* runFreely(void* taken) {
  auto& start = *static_cast<ThreadStart*>(taken);
  auto* const run = start.run;
  void* const argument = start.argument;
  start.isTaken.store(false);
  if (g_control->isConfined == 0) {
    ::sched_setaffinity(0, sizeof g_allowed, &g_allowed);
  }
  return run(argument);
}

std::uint16_t x87Control() {
  std::uint16_t word = 0;
  asm volatile("fnstcw %0" : "=m"(word));
  return word;
}

// Where the system has mapped functions that tell the time.
struct ClockPages {
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::array<Range, 8> ranges{};
  std::size_t count = 0;

  void find() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line) && count < ranges.size();) {
      if (line.find("[vdso]") == std::string::npos && line.find("[vvar") == std::string::npos) {
        continue;
      }
      Range& range = ranges.at(count++);
      const std::size_t dash = line.find('-');
      std::from_chars(line.data(), line.data() + dash, range.begin, 16);
      std::from_chars(line.data() + dash + 1, line.data() + line.size(), range.end, 16);
    }
  }
  void unmap() const {
    for (std::size_t i = 0; i < count; ++i) {
      ::munmap(reinterpret_cast<void*>(ranges.at(i).begin), ranges.at(i).end - ranges.at(i).begin);
    }
  }
  [[nodiscard]] bool contain(std::uint64_t address) const {
    return std::any_of(ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(count),
                       [address](const Range& range) { return address >= range.begin && address < range.end; });
  }
};

class CellProgram {
 public:
  explicit CellProgram(CellControl& control) : m_control(control), m_threads(static_cast<int>(control.threads)) {
    s_program = this;
  }

  // Empty: ready. The order matters: nothing of the candidate runs before the first filter.
  [[nodiscard]] std::string start() {
    omp_set_num_threads(m_threads);
    if (std::string trouble = m_memory.map(m_control); !trouble.empty()) {
      return trouble;
    }
    swage::cell::scrubStack();  // reads /proc
    m_clock.find();
    ::sched_getaffinity(0, sizeof g_allowed, &g_allowed);
    g_control = &m_control;
    explainFaults();
    std::thread([] {}).join();  // with the first thread the library sets signals up
    if (std::string trouble = encloseForLoading(); !trouble.empty()) {
      return trouble;
    }
    const std::string path = "/proc/self/fd/" + std::to_string(kCellBinaryFd);
    m_object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (m_object == nullptr) {
      const char* reason = ::dlerror();
      return std::string("the shared object cannot be loaded: ") + (reason != nullptr ? reason : "unknown");
    }
    ::close_range(0, ~0U, 0);
    m_slack.remember();  // also looks at the object that is gone then
    m_clock.unmap();
    if (m_control.deniesTime != 0) {
      ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV);  // threads inherit it
    }
    if (m_control.gaps == 0 || (m_control.gaps & kCellNoSeccomp) == 0) {
      if (std::string trouble = swage::cell::allowComputingOnly(); !trouble.empty()) {
        return trouble;
      }
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
  [[nodiscard]] std::string encloseForLoading() {
    if (std::string trouble = swage::cell::limitResources(m_memory.addressBytes() + kOwnMemory); !trouble.empty()) {
      return trouble;
    }
    std::string trouble = swage::cell::closeFiles(m_control.gaps);
    return trouble.empty() ? swage::cell::allowLoadingOnly(m_control.gaps) : trouble;
  }

  // What the parent is told of a fault before the process ends by it.
  static void explainFaults() {
    struct sigaction action {};
    action.sa_sigaction = explainFault;
    action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER;  // the second time it ends the process
    for (const int signal : {SIGSEGV, SIGBUS}) {
      ::sigaction(signal, &action, nullptr);
    }
  }
  static void explainFault(int /*signal*/, siginfo_t* info, void* context) {
    CellControl& control = s_program->m_control;
    const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
    const auto instruction = static_cast<std::uint64_t>(registers[REG_RIP]);
    control.faultWrites = (static_cast<std::uint64_t>(registers[REG_ERR]) & kWriteFault) != 0 ? 1 : 0;
    auto fault = CellFault::Elsewhere;
    if (s_program->m_clock.contain(address) || s_program->m_clock.contain(instruction)) {
      fault = CellFault::Clock;
    } else if (const auto place = s_program->m_memory.find(address)) {
      control.faultBuffer = place->buffer;
      fault = place->isInside && place->isReadOnly ? CellFault::WroteInput : CellFault::BesideBuffer;
    } else if (info->si_code == SI_KERNEL && readsTime(reinterpret_cast<const unsigned char*>(instruction))) {
      fault = CellFault::Clock;
    }
    control.fault.store(static_cast<std::uint32_t>(fault), std::memory_order_release);
  }
  static bool readsTime(const unsigned char* code) {
    return code[0] == 0x0F && (code[1] == 0x31 || (code[1] == 0x01 && code[2] == 0xF9));
  }

  [[nodiscard]] CellAnswer answer() {
    switch (m_control.command) {
      case CellCommand::Bind: return bind();
      case CellCommand::Arrange: return arrange();
      case CellCommand::Call: m_entries[m_control.number](m_pointers.data()); return CellAnswer::Ok;
      case CellCommand::Zero:
      case CellCommand::CopyIn:
      case CellCommand::CopyOut: return forEachBuffer(m_control.command);
      case CellCommand::Clear: m_memory.clear(); return CellAnswer::Ok;
      case CellCommand::Warm: wake(); return CellAnswer::Ok;
      case CellCommand::Renew: renew(); return CellAnswer::Ok;
      case CellCommand::Inspect:
        return !isArithmeticUsual()                           ? CellAnswer::ArithmeticChanged
               : m_memory.isIntact() && m_slack.isUnchanged() ? CellAnswer::Ok
                                                              : CellAnswer::WroteBeside;
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

  [[nodiscard]] CellAnswer arrange() {
    if (m_control.number >= m_entries.size()) {
      return CellAnswer::NotFound;
    }
    const std::size_t count = std::min<std::size_t>(m_control.arguments, kCellArguments);
    for (std::size_t i = 0; i < count; ++i) {
      const CellArgument& argument = m_control.argument[i];
      m_values[i] = argument.value;
      if (argument.isBuffer != 0) {
        m_values[i] = reinterpret_cast<std::uint64_t>(m_memory.address(argument.value, m_control.place));
        if (m_values[i] == 0) {
          return CellAnswer::NoMemory;
        }
      }
      m_pointers[i] = &m_values[i];
    }
    return CellAnswer::Ok;
  }

  [[nodiscard]] CellAnswer forEachBuffer(CellCommand command) {
    const std::size_t count = std::min<std::size_t>(m_control.arguments, kCellArguments);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t buffer = m_control.argument[i].value;
      const bool isDone = command == CellCommand::Zero     ? m_memory.zero(buffer, m_control.place)
                          : command == CellCommand::CopyIn ? m_memory.copyIn(buffer, m_control.place)
                                                           : m_memory.copyOut(buffer, m_control.place);
      if (!isDone) {
        return CellAnswer::NoMemory;
      }
    }
    return CellAnswer::Ok;
  }

  // As the worker's threads are when PyTorch is timed: awake, and each on the processor where one of those was.
  void wake() const {
    const bool isPlaced = m_control.isConfined == 0 && !isTeamBound();
#pragma omp parallel num_threads(m_threads)
    {
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      const int wanted = thread < kCellThreads ? m_control.processor[thread] : -1;
      if (isPlaced && thread > 0 && wanted >= 0 && wanted < CPU_SETSIZE && wanted != processorHere()) {
        goTo(wanted, g_allowed);
      }
    }
  }

  void renew() const {
    omp_set_num_threads(m_threads);
#pragma omp parallel
    {
      _mm_setcsr(kUsualArithmetic);
      asm volatile("fldcw %0" : : "m"(kUsualX87));
      swage::cell::scrubStack();
    }
  }

  [[nodiscard]] static bool isArithmeticUsual() {
    bool isUsual = true;
#pragma omp parallel reduction(&& : isUsual)
    isUsual = (_mm_getcsr() & kModes) == kUsualArithmetic && x87Control() == kUsualX87;
    return isUsual;
  }

  static inline CellProgram* s_program = nullptr;
  CellControl& m_control;
  int m_threads;
  CellMemory m_memory;
  swage::cell::PageSlack m_slack;
  ClockPages m_clock;
  void* m_object = nullptr;
  std::vector<Entry> m_entries;
  std::array<std::uint64_t, kCellArguments> m_values{};
  std::array<void*, kCellArguments> m_pointers{};
};

}  // namespace

// In the place of the library's own. The thread that calls kernels is kept on its parent's processor, and those that a
// kernel's team starts would inherit that. Where OpenMP binds threads to places, it says so in their attributes.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                             void* (*run)(void*), void* argument) noexcept {
  static const auto original = reinterpret_cast<CreateThread>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (g_control == nullptr || isTeamBound()) {
    return original(thread, attributes, run, argument);
  }
  const auto start =
      std::find_if(g_starts.begin(), g_starts.end(), [](ThreadStart& at) { return !at.isTaken.exchange(true); });
  if (start == g_starts.end()) {
    return EAGAIN;
  }
  start->run = run;
  start->argument = argument;
  const int failed = original(thread, attributes, runFreely, &*start);
  if (failed != 0) {
    start->isTaken.store(false);
  }
  return failed;
}

int main() {
  *::environ = nullptr;  // libgomp has read what is meant for it
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::close_range(kCellOutputsFd + 1, ~0U, 0);
  void* page = ::mmap(nullptr, sizeof(CellControl), PROT_READ | PROT_WRITE, MAP_SHARED, kCellControlFd, 0);
  if (page == MAP_FAILED || static_cast<CellControl*>(page)->version != kCellVersion) {
    return 2;  // not started by Swage
  }
  auto& control = *static_cast<CellControl*>(page);
  if (static_cast<std::uint32_t>(::getppid()) != control.parent) {
    return 2;  // who started it has ended meanwhile
  }
  static CellProgram program(control);
  const std::string trouble = program.start();
  std::memcpy(control.message.data(), trouble.data(), std::min(trouble.size(), control.message.size() - 1));
  control.state.store(static_cast<std::uint32_t>(trouble.empty() ? CellState::Ready : CellState::Failed));
  ::syscall(SYS_futex, &control.state, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  if (!trouble.empty()) {
    ::_exit(1);
  }
  program.serve();
}
