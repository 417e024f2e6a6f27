// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/crash_handler.h"

#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "core/base/files.h"
#include "core/base/system_message.h"

// A handler of a crash may only use what it finds: open files, fixed arrays and write(). backtrace() allocates at its
// first call, when it loads libgcc, so that call is made at the installation.
namespace swage::workbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t kStackBytes = std::size_t{256} << 10U;
constexpr std::size_t kLogBytes = std::size_t{16} << 10U;
constexpr int kFrames = 64;
constexpr std::size_t kReportsKept = 5;
constexpr std::size_t kMaxNoteBytes = std::size_t{1} << 20U;
constexpr const char* kRunning = ".running";
constexpr const char* kReport = ".txt";

std::atomic<int> noteFd{-1};
std::array<char, kLogBytes> logRing{};
std::atomic<std::size_t> logWritten{0};
std::array<char, 96> buildText{};

void put(int fd, const char* text, std::size_t size) {
  [[maybe_unused]] const ssize_t written = ::write(fd, text, size);
}
void put(int fd, const char* text) {
  put(fd, text, std::strlen(text));
}

void putLog(int fd) {
  const std::size_t end = logWritten.load();
  if (end <= kLogBytes) {
    put(fd, logRing.data(), end);
    return;
  }
  const std::size_t split = end % kLogBytes;
  put(fd, logRing.data() + split, kLogBytes - split);
  put(fd, logRing.data(), split);
}

const char* nameOf(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV (it touched memory that is not its own)";
    case SIGBUS: return "SIGBUS (memory that could not be read, a full disk perhaps)";
    case SIGFPE: return "SIGFPE (arithmetic that has no result)";
    case SIGILL: return "SIGILL (an instruction this processor does not have)";
    case SIGABRT: return "SIGABRT (a check of its own failed)";
    default: return "a signal";
  }
}

extern "C" void writeNote(int signal) {
  // Another thread that crashes meanwhile has nothing to add.
  const int fd = noteFd.exchange(-1);
  if (fd >= 0) {
    put(fd, "swage-workbench ended by ");
    put(fd, nameOf(signal));
    put(fd, "\n");
    put(fd, buildText.data());
    put(fd, "\n\nWhere:\n");
    std::array<void*, kFrames> frames{};
    ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), kFrames), fd);
    put(fd, "\nLast lines of the log:\n");
    putLog(fd);
    ::fsync(fd);
  }
  // SA_RESETHAND has brought back what the system does: a core file, and an exit status that tells.
  ::raise(signal);
}

// Parts of a note begin at multiples of four bytes.
std::size_t padded(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

// The linker's mark of this build, by which symbols are found again.
int findBuildId(dl_phdr_info* info, std::size_t, void* into) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) {
      continue;
    }
    const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    const char* end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* content = name + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && content + note.n_descsz <= end) {
        static_cast<std::string*>(into)->assign(content, note.n_descsz);
        return 1;
      }
      at = content + padded(note.n_descsz);
    }
  }
  return 1;  // the program itself is the first: no library is looked at
}

void describeBuild() {
  std::string id;
  ::dl_iterate_phdr(findBuildId, &id);
  std::string text = "version " SWAGE_VERSION ", build ";
  for (const char byte : id) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  text += id.empty() ? "without an id" : "";
  text.copy(buildText.data(), buildText.size() - 1);
}

void catchSignals(std::vector<char>& stack) {
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = writeNote;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  for (const int signal : kSignals) {
    ::sigaction(signal, &action, nullptr);
  }
}

// Nobody holds the file any more.
bool isLeftBehind(const fs::path& file) {
  const Fd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  return fd.get() >= 0 && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

std::vector<fs::path> filesWith(const fs::path& folder, const char* extension) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == extension) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    std::error_code error;
    return fs::last_write_time(a, error) > fs::last_write_time(b, error);
  });
  return files;
}

}  // namespace

Result<std::unique_ptr<CrashHandler>> CrashHandler::install(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) {
    return Error(ErrorKind::Io, "cannot create '" + folder.string() + "': " + failure.message());
  }
  const fs::path file = folder / (std::to_string(::getpid()) + kRunning);
  Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd.get() < 0 || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error(ErrorKind::Io, "cannot prepare '" + file.string() + "' for a crash: " + systemMessage(errno));
  }
  return std::unique_ptr<CrashHandler>(new CrashHandler(file, std::move(fd)));
}

CrashHandler::CrashHandler(fs::path file, Fd fd) : m_file(std::move(file)), m_fd(std::move(fd)), m_stack(kStackBytes) {
  describeBuild();
  std::array<void*, 1> frame{};
  ::backtrace(frame.data(), static_cast<int>(frame.size()));
  noteFd = m_fd.get();
  catchSignals(m_stack);
}

CrashHandler::~CrashHandler() {
  for (const int signal : kSignals) {
    std::signal(signal, SIG_DFL);
  }
  noteFd = -1;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  std::error_code ignored;
  fs::remove(m_file, ignored);
}

void CrashHandler::remember(std::string_view line) {
  // Lines of two threads may mix; a note that is read by a person can bear it.
  std::size_t at = logWritten.fetch_add(line.size() + 1);
  for (const char character : line) {
    logRing[at++ % kLogBytes] = character;
  }
  logRing[at % kLogBytes] = '\n';
}

std::vector<CrashNote> takeCrashNotes(const fs::path& folder) {
  std::vector<CrashNote> notes;
  for (const fs::path& file : filesWith(folder, kRunning)) {
    if (!isLeftBehind(file)) {
      continue;
    }
    fs::path report = file;
    report.replace_extension(kReport);
    std::error_code failure;
    fs::rename(file, report, failure);
    if (!failure) {
      notes.push_back({report, readTextFile(report, kMaxNoteBytes).value_or(std::string())});
    }
  }
  const std::vector<fs::path> reports = filesWith(folder, kReport);
  for (std::size_t i = kReportsKept; i < reports.size(); ++i) {
    std::error_code ignored;
    fs::remove(reports[i], ignored);
  }
  return notes;
}

}  // namespace swage::workbench
