// SPDX-License-Identifier: Apache-2.0
#include "core/device/cell.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/futex.h>
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
#include "core/device/team_placement.h"

namespace swage::device {
namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kAlignment = 64;
constexpr std::byte kCanary{0xA5};
constexpr long kLookEveryNs = 20'000'000;     // whether the cell still lives, while it is waited for
constexpr int kFirstFreeFd = 16;              // above those that a cell is started with
constexpr int kEmptyCellCalls = 101;          // before anything was warm
constexpr std::size_t kFewestEmptyCalls = 3;  // of warm ones, and how many are kept
constexpr std::size_t kKeptEmptyCalls = 31;

std::uint64_t roundUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

DeviceFailure systemFailure(std::string_view what) {
  const int error = errno;
  return {fmt::format("cannot {}: {}", what, systemMessage(error)), false, error == ENOMEM};
}

// Whether the bytes of an instruction that reads the processor's counter of time, rdtsc or rdtscp, stand anywhere in
// what of the object can be executed. Other code may have them by chance, and then its calls only take a little longer.
bool mayReadTime(std::string_view binary) {
  Elf64_Ehdr header{};
  if (binary.size() < sizeof header) {
    return true;
  }
  std::memcpy(&header, binary.data(), sizeof header);
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const std::uint64_t at = header.e_phoff + i * sizeof segment;
    if (header.e_phoff > binary.size() || at > binary.size() - std::min(binary.size(), sizeof segment)) {
      return true;
    }
    std::memcpy(&segment, binary.data() + at, sizeof segment);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) {
      continue;
    }
    const std::string_view code =
        binary.substr(std::min<std::uint64_t>(segment.p_offset, binary.size()), segment.p_filesz);
    if (code.find("\x0F\x31") != std::string_view::npos || code.find("\x0F\x01\xF9") != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

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
  m_control->parent = static_cast<std::uint32_t>(::getpid());
  for (std::size_t i = 0; i < m_pages.size(); ++i) {
    const Pages& pages = m_pages[i];
    m_control->buffer[i] = {pages.offset, pages.bytes, pages.start, pages.size, pages.isReadOnly ? 1U : 0U, 0};
    std::byte* first = pagesOf(pages);
    std::fill_n(first, pages.start, kCanary);
    std::fill(first + pages.start + pages.size, first + pages.bytes, kCanary);
  }
  return {};
}

DeviceStatus KernelCell::spawn(const Options& options, const std::string& binary) {
  m_control->deniesTime = mayReadTime(binary) ? 1 : 0;
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
  // What OpenMP is told in this process, where PyTorch's threads are its threads.
  std::vector<char*> environment;
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("OMP_") || text.starts_with("GOMP_")) {
      environment.push_back(*variable);
    }
  }
  environment.push_back(nullptr);
  const int failed = ::posix_spawn(&m_process, program.c_str(), &actions, nullptr, arguments, environment.data());
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
    return lose({.detail = std::string(message.data(), ::strnlen(message.data(), message.size()))});
  }
  // Read once: the code in it may write there.
  m_gaps = (m_control->gaps & kCellNoLandlock) != 0 ? "Landlock" : "";
  if ((m_control->gaps & kCellNoSeccomp) != 0) {
    m_gaps += m_gaps.empty() ? "seccomp" : ", seccomp";
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

DeviceResult<double> KernelCell::call(int entry, std::span<const Argument> arguments, double limitSeconds,
                                      std::uint32_t place) {
  if (arguments.size() > kCellArguments) {
    return tl::make_unexpected(DeviceFailure{fmt::format("more than {} arguments", kCellArguments)});
  }
  if (DeviceStatus failed = measureEmptyCall()) {
    return tl::make_unexpected(std::move(*failed));
  }
  m_control->number = static_cast<std::uint32_t>(entry);
  m_control->arguments = static_cast<std::uint32_t>(arguments.size());
  m_control->place = place;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<BufferArgument>(&arguments[i]);
    m_control->argument[i] = buffer != nullptr ? CellArgument{buffer->buffer, 1, 0}
                                               : CellArgument{std::get<std::uint64_t>(arguments[i]), 0, 0};
  }
  // Not under the clock: what is left of a call is what an empty one is.
  auto ns = ask(CellCommand::Arrange, m_limitSeconds);
  if (DeviceStatus failed = ns ? checkAnswer() : DeviceStatus(ns.error())) {
    return tl::make_unexpected(std::move(*failed));
  }
  ns = ask(CellCommand::Call, limitSeconds);
  if (DeviceStatus failed = ns ? checkAnswer() : DeviceStatus(ns.error())) {
    return tl::make_unexpected(std::move(*failed));
  }
  return std::max(*ns - m_emptyNs, 0.0);
}

DeviceStatus KernelCell::measureEmptyCall() {
  if (m_emptyNs >= 0.0) {
    return {};
  }
  const auto empty = timeEmptyCalls(kEmptyCellCalls);
  if (!empty) {
    return empty.error();
  }
  m_emptyNs = *empty;
  return {};
}

DeviceResult<double> KernelCell::zero(std::size_t buffer, std::uint32_t place) {
  if (DeviceStatus failed = measureEmptyCall()) {
    return tl::make_unexpected(std::move(*failed));
  }
  m_control->arguments = 1;
  m_control->argument[0] = {buffer, 1, 0};
  m_control->place = place;
  const auto ns = ask(CellCommand::Zero, m_limitSeconds);
  if (DeviceStatus failed = ns ? checkAnswer() : DeviceStatus(ns.error())) {
    return tl::make_unexpected(std::move(*failed));
  }
  return std::max(*ns - m_emptyNs, 0.0);
}

DeviceStatus KernelCell::checkAnswer() const {
  switch (m_control->answer) {
    case CellAnswer::Ok: return {};
    case CellAnswer::NoMemory: return DeviceFailure{"the cell has no memory for its buffers", false, true};
    case CellAnswer::NotFound:
    case CellAnswer::ArithmeticChanged:
    case CellAnswer::WroteBeside: break;
  }
  return DeviceFailure{"the cell could not do what it was asked"};
}

// In as many turns as the page of control needs.
DeviceStatus KernelCell::command(CellCommand what, std::span<const std::size_t> buffers, std::uint32_t place) {
  do {
    const std::size_t count = std::min(buffers.size(), kCellArguments);
    for (std::size_t i = 0; i < count; ++i) {
      m_control->argument[i] = {buffers[i], 1, 0};
    }
    m_control->arguments = static_cast<std::uint32_t>(count);
    m_control->place = place;
    const auto asked = ask(what, m_limitSeconds);
    if (DeviceStatus failed = asked ? checkAnswer() : DeviceStatus(asked.error())) {
      return failed;
    }
    buffers = buffers.subspan(count);
  } while (!buffers.empty());
  return {};
}

DeviceStatus KernelCell::copyIn(std::span<const std::size_t> buffers, std::uint32_t place) {
  return buffers.empty() ? std::nullopt : command(CellCommand::CopyIn, buffers, place);
}

DeviceStatus KernelCell::copyOut(std::span<const std::size_t> buffers) {
  return buffers.empty() ? std::nullopt : command(CellCommand::CopyOut, buffers, kCellShared + 1);
}

DeviceStatus KernelCell::clear() {
  return command(CellCommand::Clear, {}, kCellShared);
}

DeviceStatus KernelCell::place(std::span<const int> processors) {
  std::fill(m_control->processor.begin(), m_control->processor.end(), -1);
  std::copy_n(processors.begin(), std::min(processors.size(), kCellThreads), m_control->processor.begin());
  return command(CellCommand::Warm, {}, kCellShared);
}

// What an empty call costs is measured here once more, because after this a call is made that counts: with the same in
// the caches, and the second time, because the first one brings the way there and back into them.
DeviceStatus KernelCell::warm(std::span<const int> processors) {
  if (DeviceStatus failed = place(processors)) {
    return failed;
  }
  DeviceResult<double> empty = timeEmptyCalls(1);
  if (empty) {
    empty = timeEmptyCalls(1);
  }
  if (!empty) {
    return empty.error();
  }
  m_lastEmptyNs.push_back(*empty);
  if (m_lastEmptyNs.size() > kKeptEmptyCalls) {
    m_lastEmptyNs.pop_front();
  }
  if (m_lastEmptyNs.size() >= kFewestEmptyCalls) {
    m_emptyNs = medianOf({m_lastEmptyNs.begin(), m_lastEmptyNs.end()});
  }
  return {};
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
  return medianOf(std::move(times));
}

DeviceStatus KernelCell::renew() {
  const auto asked = ask(CellCommand::Renew, m_limitSeconds);
  return asked ? std::nullopt : DeviceStatus(asked.error());
}

DeviceStatus KernelCell::inspect() {
  if (const auto asked = ask(CellCommand::Inspect, m_limitSeconds); !asked) {
    return asked.error();
  }
  switch (m_control->answer) {
    case CellAnswer::ArithmeticChanged:
      return DeviceFailure{.detail = "a thread was left with another rounding mode, or flushing denormals",
                           .kind = FailureKind::Arithmetic};
    case CellAnswer::WroteBeside:
      return DeviceFailure{.detail = "a kernel wrote beside a buffer", .kind = FailureKind::BesideBuffer};
    case CellAnswer::Ok:
    case CellAnswer::NotFound:
    case CellAnswer::NoMemory: break;
  }
  return {};
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
  if (m_lost) {
    return tl::make_unexpected(*m_lost);
  }
  m_control->command = command;
  wakeBeside();
  const std::uint32_t before = m_request++;
  const auto start = steady_clock::now();
  m_control->request.store(m_request, std::memory_order_release);
  ::syscall(SYS_futex, &m_control->request, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  DeviceStatus failed = waitWhile(m_control->done, before, limitSeconds);
  const auto end = steady_clock::now();
  if (!failed && m_control->done.load(std::memory_order_acquire) != m_request) {
    failed = lose({.detail = "the cell answered what it was not asked", .kind = FailureKind::Forbidden});
  }
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  return std::chrono::duration<double, std::nano>(end - start).count();
}

// A call that goes there and comes back need not wake another processor, which takes longer and not always equally
// long.
void KernelCell::wakeBeside() {
  if (m_isResting) {
    ::kill(m_process, SIGCONT);
    m_isResting = false;
  }
  const int here = ::sched_getcpu();
  if (here == m_processor || here < 0 || here >= CPU_SETSIZE || isTeamBound()) {
    return;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(here), &one);
  m_processor = ::sched_setaffinity(m_process, sizeof one, &one) == 0 ? here : -1;
}

void KernelCell::rest() {
  if (m_process > 0 && !m_isResting) {
    m_isResting = ::kill(m_process, SIGSTOP) == 0;
  }
}

void KernelCell::setConfined(bool isConfined) {
  m_control->isConfined = isConfined ? 1 : 0;
}

DeviceStatus KernelCell::waitWhile(const std::atomic<std::uint32_t>& word, std::uint32_t value, double limitSeconds) {
  const auto deadline = steady_clock::now() + std::chrono::duration<double>(limitSeconds);
  const timespec slice{0, kLookEveryNs};
  while (word.load(std::memory_order_acquire) == value) {
    const long woken = ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &slice, nullptr, 0);
    if (woken == 0 || errno != ETIMEDOUT) {
      continue;
    }
    if (const std::optional<DeviceFailure> end = howItEnded()) {
      return lose(*end);
    }
    if (steady_clock::now() > deadline) {
      return lose({.detail = fmt::format("it did not end within {:g} s", limitSeconds),
                   .kind = FailureKind::TimedOut,
                   .limitSeconds = limitSeconds});
    }
  }
  return {};
}

std::optional<DeviceFailure> KernelCell::howItEnded() {
  int status = 0;
  if (::waitpid(m_process, &status, WNOHANG) != m_process) {
    return std::nullopt;
  }
  m_process = -1;
  if (!WIFSIGNALED(status)) {
    return DeviceFailure{.detail = fmt::format("the kernel ended its process with code {}", WEXITSTATUS(status)),
                         .kind = FailureKind::Crashed};
  }
  switch (const int signal = WTERMSIG(status)) {
    case SIGSYS:
      return DeviceFailure{.detail = "the kernel made a system call that kernels may not make",
                           .kind = FailureKind::Forbidden};
    case SIGSEGV:
    case SIGBUS: return describeFault(signal);
    default:
      return DeviceFailure{.detail = fmt::format("the kernel's process ended by signal {}", signal),
                           .kind = FailureKind::Crashed,
                           .signal = signal};
  }
}

DeviceFailure KernelCell::describeFault(int signal) const {
  const char* did = m_control->faultWrites != 0 ? "wrote to" : "read from";
  const std::uint32_t buffer = m_control->faultBuffer;
  DeviceFailure failure;
  failure.kind = FailureKind::Crashed;
  failure.signal = signal;
  switch (static_cast<CellFault>(m_control->fault.load())) {
    case CellFault::WroteInput:
      failure.detail =
          fmt::format("the kernel wrote to memory that it was not given to write: input buffer {}", buffer);
      failure.kind = FailureKind::WroteInput;
      break;
    case CellFault::BesideBuffer:
      failure.detail = fmt::format("the kernel {} memory that it was not given, beside buffer {}", did, buffer);
      failure.kind = FailureKind::BesideBuffer;
      break;
    case CellFault::Clock:
      failure.detail = "the kernel asked for the time, which no kernel may have";
      failure.kind = FailureKind::Forbidden;
      break;
    case CellFault::None:
    case CellFault::Elsewhere: failure.detail = fmt::format("the kernel {} memory that it was not given", did); break;
  }
  return failure;
}

DeviceStatus KernelCell::lose(DeviceFailure why) {
  m_lost = std::move(why);
  if (m_process > 0) {
    ::kill(m_process, SIGKILL);
    while (::waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {
    }
    m_process = -1;
  }
  return m_lost;
}

}  // namespace swage::device
