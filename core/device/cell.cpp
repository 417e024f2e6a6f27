// SPDX-License-Identifier: Apache-2.0
#include "core/device/cell.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/system_message.h"

namespace swage::device {
namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kAlignment = 64;
constexpr std::byte kCanary{0xA5};
constexpr long kLookEveryNs = 20'000'000;  // whether the cell still lives, while it is waited for
constexpr int kFirstFreeFd = 16;           // above those that a cell is started with
constexpr int kEmptyCellCalls = 101;

std::uint64_t roundUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

DeviceFailure systemFailure(std::string_view what) {
  return {fmt::format("cannot {}: {}", what, systemMessage(errno))};
}

// A call goes to the cell and comes back on one processor: another one would have to be woken, which takes longer and
// not always equally long. Threads of the cell's team are not bound. Put back at the end.
class OneProcessor {
 public:
  explicit OneProcessor(pid_t other) : m_other(other) {
    cpu_set_t one;
    CPU_ZERO(&one);
    const int here = ::sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof m_own, &m_own) != 0 ||
        ::sched_getaffinity(other, sizeof m_others, &m_others) != 0) {
      return;
    }
    CPU_SET(static_cast<unsigned>(here), &one);
    m_isBound = ::sched_setaffinity(0, sizeof one, &one) == 0;
    static_cast<void>(::sched_setaffinity(other, sizeof one, &one));
  }
  ~OneProcessor() {
    if (m_isBound) {
      static_cast<void>(::sched_setaffinity(0, sizeof m_own, &m_own));
      static_cast<void>(::sched_setaffinity(m_other, sizeof m_others, &m_others));
    }
  }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  pid_t m_other;
  cpu_set_t m_own{};
  cpu_set_t m_others{};
  bool m_isBound = false;
};

}  // namespace

class KernelCell::SharedPages {
 public:
  [[nodiscard]] static DeviceResult<std::unique_ptr<SharedPages>> make(const char* name, std::uint64_t bytes) {
    auto pages = std::make_unique<SharedPages>();
    pages->m_bytes = std::max(roundUp(bytes, kPageBytes), kPageBytes);
    pages->m_file = Fd(::memfd_create(name, MFD_CLOEXEC));
    if (!pages->m_file.isOpen() || ::ftruncate(pages->m_file.get(), static_cast<off_t>(pages->m_bytes)) != 0) {
      return tl::make_unexpected(systemFailure("make memory for a cell"));
    }
    void* mapped = ::mmap(nullptr, pages->m_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pages->m_file.get(), 0);
    if (mapped == MAP_FAILED) {
      return tl::make_unexpected(systemFailure("map the memory of a cell"));
    }
    pages->m_first = static_cast<std::byte*>(mapped);
    return pages;
  }
  SharedPages() = default;
  ~SharedPages() {
    if (m_first != nullptr) {
      ::munmap(m_first, m_bytes);
    }
  }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  [[nodiscard]] std::byte* first() const { return m_first; }
  [[nodiscard]] const Fd& file() const { return m_file; }

 private:
  Fd m_file;
  std::byte* m_first = nullptr;
  std::uint64_t m_bytes = 0;
};

DeviceResult<std::unique_ptr<KernelCell>> KernelCell::start(const Options& options, const std::string& binary) {
  if (options.buffers.size() > kCellBuffers) {
    return tl::make_unexpected(DeviceFailure{fmt::format("more than {} buffers", kCellBuffers)});
  }
  auto cell = std::unique_ptr<KernelCell>(new KernelCell(options));
  if (DeviceStatus failed = cell->share(options)) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (DeviceStatus failed = cell->spawn(options, binary)) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (DeviceStatus failed = cell->awaitStart()) {
    return tl::make_unexpected(std::move(*failed));
  }
  return cell;
}

KernelCell::KernelCell(const Options& options) : m_limitSeconds(options.limitSeconds) {}

KernelCell::~KernelCell() {
  if (m_process > 0) {
    ::kill(m_process, SIGKILL);
    while (::waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

DeviceStatus KernelCell::share(const Options& options) {
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;
  for (const BufferSize& buffer : options.buffers) {
    const std::uint64_t used = roundUp(buffer.bytes, kAlignment);
    const std::uint64_t bytes = roundUp(used, kPageBytes);
    std::uint64_t& end = buffer.isReadOnly ? inputs : outputs;
    m_pages.push_back({end, bytes, bytes - used, buffer.bytes, buffer.isReadOnly});
    end += bytes;
  }
  const std::pair<std::unique_ptr<SharedPages>*, std::pair<const char*, std::uint64_t>> wanted[] = {
      {&m_controlPages, {"swage-cell", sizeof(CellControl)}},
      {&m_inputs, {"swage-inputs", inputs}},
      {&m_outputs, {"swage-outputs", outputs}}};
  for (const auto& [pages, what] : wanted) {
    auto made = SharedPages::make(what.first, what.second);
    if (!made) {
      return std::move(made).error();
    }
    *pages = std::move(*made);
  }
  m_control = new (m_controlPages->first()) CellControl();
  m_control->threads = static_cast<std::uint32_t>(std::max(options.threads, 1));
  m_control->buffers = static_cast<std::uint32_t>(m_pages.size());
  for (std::size_t i = 0; i < m_pages.size(); ++i) {
    const Pages& pages = m_pages[i];
    m_control->buffer[i] = {pages.offset, pages.bytes, pages.start, pages.isReadOnly ? 1U : 0U, 0};
    std::fill_n(pagesOf(pages), pages.bytes, kCanary);
  }
  return {};
}

DeviceStatus KernelCell::spawn(const Options& options, const std::string& binary) {
  Fd object(::memfd_create("swage-kernel", MFD_CLOEXEC));
  for (std::size_t done = 0; object.isOpen() && done < binary.size();) {
    const ssize_t written = ::write(object.get(), binary.data() + done, binary.size() - done);
    if (written <= 0 && errno != EINTR) {
      return systemFailure("write the kernel to memory");
    }
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
  const Fd inputs(::open(fmt::format("/proc/self/fd/{}", m_inputs->file().get()).c_str(), O_RDONLY | O_CLOEXEC));
  const int given[] = {m_controlPages->file().get(), object.get(), inputs.get(), m_outputs->file().get()};
  std::vector<Fd> high;  // so that giving one its number does not close another
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (std::size_t i = 0; i < std::size(given); ++i) {
    high.emplace_back(::fcntl(given[i], F_DUPFD_CLOEXEC, kFirstFreeFd));
    ::posix_spawn_file_actions_adddup2(&actions, high.back().get(), kCellControlFd + static_cast<int>(i));
  }
  const std::string program = options.program.string();
  char* const arguments[] = {const_cast<char*>("swage-cell"), nullptr};
  char* const environment[] = {nullptr};
  const int failed = ::posix_spawn(&m_process, program.c_str(), &actions, nullptr, arguments, environment);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    m_process = -1;
    return DeviceFailure{fmt::format("cannot start {}: {}", program, systemMessage(failed))};
  }
  return {};
}

DeviceStatus KernelCell::awaitStart() {
  if (DeviceStatus failed =
          waitWhile(m_control->state, static_cast<std::uint32_t>(CellState::Starting), m_limitSeconds)) {
    return failed;
  }
  if (m_control->state.load() != static_cast<std::uint32_t>(CellState::Ready)) {
    const auto& message = m_control->message;
    return lose(std::string(message.data(), ::strnlen(message.data(), message.size())));
  }
  return {};
}

std::byte* KernelCell::pagesOf(const Pages& pages) const {
  return (pages.isReadOnly ? m_inputs : m_outputs)->first() + pages.offset;
}

std::span<std::byte> KernelCell::buffer(std::size_t index) const {
  const Pages& pages = m_pages.at(index);
  return {pagesOf(pages) + pages.start, pages.size};
}

DeviceResult<int> KernelCell::bind(const std::string& entry) {
  if (entry.size() >= m_control->entry.size() || m_entries >= static_cast<int>(kCellEntries)) {
    return tl::make_unexpected(DeviceFailure{fmt::format("'{}' is too long, or one entry too many", entry)});
  }
  m_control->entry = {};
  std::copy(entry.begin(), entry.end(), m_control->entry.begin());
  if (const auto asked = ask(CellCommand::Bind, m_limitSeconds); !asked) {
    return tl::make_unexpected(asked.error());
  }
  if (m_control->answer != CellAnswer::Ok) {
    return tl::make_unexpected(DeviceFailure{fmt::format("the shared object has no entry '{}'", entry)});
  }
  return m_entries++;
}

DeviceResult<double> KernelCell::call(int entry, std::span<const Argument> arguments, double limitSeconds) {
  if (arguments.size() > kCellArguments) {
    return tl::make_unexpected(DeviceFailure{fmt::format("more than {} arguments", kCellArguments)});
  }
  if (m_emptyNs < 0.0) {
    const auto empty = timeEmptyCalls(kEmptyCellCalls);
    if (!empty) {
      return empty;
    }
    m_emptyNs = *empty;
  }
  m_control->number = static_cast<std::uint32_t>(entry);
  m_control->arguments = static_cast<std::uint32_t>(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<BufferArgument>(&arguments[i]);
    m_control->argument[i] = buffer != nullptr ? CellArgument{buffer->buffer, 1, 0}
                                               : CellArgument{std::get<std::uint64_t>(arguments[i]), 0, 0};
  }
  const auto ns = ask(CellCommand::Call, limitSeconds);
  return ns ? DeviceResult<double>(std::max(*ns - m_emptyNs, 0.0)) : ns;
}

DeviceResult<double> KernelCell::timeEmptyCalls(int calls) {
  m_control->number = 0;
  m_control->arguments = 0;
  std::vector<double> times;
  for (int call = 0; call < std::max(calls, 1); ++call) {
    const auto ns = ask(CellCommand::Call, m_limitSeconds);
    if (!ns) {
      return ns;
    }
    times.push_back(*ns);
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

DeviceStatus KernelCell::renew() {
  const auto asked = ask(CellCommand::Renew, m_limitSeconds);
  return asked ? std::nullopt : DeviceStatus(asked.error());
}

DeviceStatus KernelCell::checkArithmetic() {
  if (const auto asked = ask(CellCommand::Inspect, m_limitSeconds); !asked) {
    return asked.error();
  }
  return m_control->answer == CellAnswer::Ok
             ? std::nullopt
             : DeviceStatus(DeviceFailure{"a thread was left with another rounding mode, or flushing denormals"});
}

std::optional<std::size_t> KernelCell::findOverrun() const {
  const auto isCanary = [](std::byte byte) { return byte == kCanary; };
  for (std::size_t i = 0; i < m_pages.size(); ++i) {
    const std::byte* first = pagesOf(m_pages[i]);
    const std::byte* data = first + m_pages[i].start;
    if (!std::all_of(first, data, isCanary) ||
        !std::all_of(data + m_pages[i].size, first + m_pages[i].bytes, isCanary)) {
      return i;
    }
  }
  return std::nullopt;
}

DeviceResult<double> KernelCell::ask(CellCommand command, double limitSeconds) {
  if (!m_lost.empty()) {
    return tl::make_unexpected(DeviceFailure{m_lost});
  }
  m_control->command = command;
  const OneProcessor together(m_process);
  const std::uint32_t before = m_request++;
  const auto start = steady_clock::now();
  m_control->request.store(m_request, std::memory_order_release);
  ::syscall(SYS_futex, &m_control->request, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  DeviceStatus failed = waitWhile(m_control->done, before, limitSeconds);
  const auto end = steady_clock::now();
  if (!failed && m_control->done.load(std::memory_order_acquire) != m_request) {
    failed = lose("the cell answered what it was not asked");
  }
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  return std::chrono::duration<double, std::nano>(end - start).count();
}

DeviceStatus KernelCell::waitWhile(const std::atomic<std::uint32_t>& word, std::uint32_t value, double limitSeconds) {
  const auto deadline = steady_clock::now() + std::chrono::duration<double>(limitSeconds);
  const timespec slice{0, kLookEveryNs};
  while (word.load(std::memory_order_acquire) == value) {
    const long woken = ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &slice, nullptr, 0);
    if (woken == 0 || errno != ETIMEDOUT) {
      continue;
    }
    if (const std::optional<std::string> end = howItEnded()) {
      return lose(*end);
    }
    if (steady_clock::now() > deadline) {
      return lose(fmt::format("it did not end within {:g} s", limitSeconds));
    }
  }
  return {};
}

std::optional<std::string> KernelCell::howItEnded() {
  int status = 0;
  if (::waitpid(m_process, &status, WNOHANG) != m_process) {
    return std::nullopt;
  }
  m_process = -1;
  if (!WIFSIGNALED(status)) {
    return fmt::format("the kernel ended its process with code {}", WEXITSTATUS(status));
  }
  switch (const int signal = WTERMSIG(status)) {
    case SIGSYS: return "the kernel made a system call that kernels may not make";
    case SIGSEGV:
    case SIGBUS: return "the kernel touched memory that it was not given, or asked for the time";
    default: return fmt::format("the kernel's process ended by signal {}", signal);
  }
}

DeviceStatus KernelCell::lose(std::string why) {
  m_lost = std::move(why);
  if (m_process > 0) {
    ::kill(m_process, SIGKILL);
    while (::waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {
    }
    m_process = -1;
  }
  return DeviceFailure{m_lost};
}

}  // namespace swage::device
