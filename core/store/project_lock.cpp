// SPDX-License-Identifier: Apache-2.0
#include "core/store/project_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include <fmt/format.h>

#include "core/base/system_message.h"

namespace swage::store {
namespace {

constexpr std::size_t kMaxPidText = 32;

std::string readPid(int fd) {
  std::array<char, kMaxPidText> buffer{};
  const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), 0);
  std::string text(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

Error lockedError(const std::filesystem::path& file, const std::string& pid) {
  const std::string holder = pid.empty() ? std::string("another process") : "process " + pid;
  return Error(ErrorKind::Locked,
               fmt::format("cannot write the project '{}': {} is writing it", file.parent_path().string(), holder),
               fmt::format("Wait until it has finished, or stop it{}; reading is possible meanwhile.",
                           pid.empty() ? std::string() : " (kill " + pid + ")"));
}

Error systemError(std::string_view action, const std::filesystem::path& file, int code) {
  return Error(ErrorKind::Storage, fmt::format("cannot {} '{}': {}", action, file.string(), systemMessage(code)),
               "Choose a project directory that you may write to.");
}

}  // namespace

Result<ProjectLock> ProjectLock::take(const std::filesystem::path& file) {
  Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.isOpen()) {
    return systemError("open the lock file", file, errno);
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    return code == EWOULDBLOCK ? lockedError(file, readPid(fd.get())) : systemError("lock", file, code);
  }
  const LastWriter lastWriter = readPid(fd.get()).empty() ? LastWriter::Closed : LastWriter::Killed;
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) != std::ssize(pid)) {
    return systemError("write the lock file", file, errno);
  }
  return ProjectLock(std::move(fd), lastWriter);
}

void ProjectLock::release() {
  if (m_fd.isOpen() && ::ftruncate(m_fd.get(), 0) == 0) {
    m_fd.reset();
  }
}

}  // namespace swage::store
