// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/job_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/base/system_message.h"

namespace swage::toolchain {
namespace {

constexpr std::string_view kJobPrefix = "swage-compile-";
constexpr std::chrono::seconds kJobAge{10};  // whoever makes a directory has locked it by then

Fd openFolder(const std::filesystem::path& folder) {
  return Fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool isAbandoned(const std::filesystem::path& folder) {
  std::error_code failure;
  const auto made = std::filesystem::last_write_time(folder, failure);
  if (failure || std::filesystem::file_time_type::clock::now() - made < kJobAge) {
    return false;
  }
  const Fd lock = openFolder(folder);
  struct stat info {};
  return lock.isOpen() && ::fstat(lock.get(), &info) == 0 && info.st_uid == ::geteuid() &&
         ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

void JobDirectory::removeAbandoned() {
  std::error_code failure;
  const std::filesystem::path base = std::filesystem::temp_directory_path(failure);
  std::filesystem::directory_iterator at(base, failure);
  for (; !failure && at != std::filesystem::directory_iterator(); at.increment(failure)) {
    const std::filesystem::path folder = at->path();
    if (folder.filename().string().starts_with(kJobPrefix) && isAbandoned(folder)) {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
  }
}

Result<JobDirectory> JobDirectory::create() {
  std::error_code error;
  const std::filesystem::path base = std::filesystem::temp_directory_path(error);
  if (error) {
    return Error(ErrorKind::Io, "there is no directory for temporary files: " + error.message(), "set TMPDIR");
  }
  std::string pattern = (base / fmt::format("{}XXXXXX", kJobPrefix)).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return Error(ErrorKind::Io,
                 fmt::format("cannot make a directory in '{}' to compile in: {}", base.string(), systemMessage(errno)),
                 "free some space there or set TMPDIR");
  }
  JobDirectory job{std::filesystem::path(pattern)};
  job.m_lock = openFolder(job.m_root);
  static_cast<void>(::flock(job.m_lock.get(), LOCK_SH | LOCK_NB));
  for (const std::filesystem::path& folder : {job.in(), job.out()}) {
    if (!std::filesystem::create_directory(folder, error)) {
      return Error(ErrorKind::Io, fmt::format("cannot make '{}': {}", folder.string(), error.message()));
    }
  }
  return job;
}

JobDirectory::JobDirectory(JobDirectory&& other) noexcept
    : m_root(std::move(other.m_root)), m_lock(std::move(other.m_lock)) {
  other.m_root.clear();
}

JobDirectory::~JobDirectory() {
  if (!m_root.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(m_root, ignored);
  }
}

Result<std::string> readUntrustedFile(const std::filesystem::path& path, std::size_t maxBytes) {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd.isOpen() || ::fstat(fd.get(), &info) != 0) {
    return Error(errno == ENOENT ? ErrorKind::NotFound : ErrorKind::Io,
                 fmt::format("cannot read '{}': {}", path.filename().string(), systemMessage(errno)));
  }
  if (!S_ISREG(info.st_mode) || info.st_size < 0 || static_cast<std::size_t>(info.st_size) > maxBytes) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("'{}' is not a file of at most {} MiB", path.filename().string(), maxBytes >> 20U));
  }
  std::string content(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t count = ::read(fd.get(), content.data() + done, content.size() - done);
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return Error(ErrorKind::Io, fmt::format("cannot read all of '{}'", path.filename().string()));
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0U;
  }
  return content;
}

}  // namespace swage::toolchain
