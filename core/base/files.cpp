// SPDX-License-Identifier: Apache-2.0
#include "core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/base/scope_exit.h"
#include "core/base/system_message.h"

namespace swage {
namespace {

Error ioError(std::string_view action, const std::filesystem::path& path, int code) {
  const ErrorKind kind = code == ENOENT ? ErrorKind::NotFound : ErrorKind::Io;
  return Error(kind, fmt::format("cannot {} '{}': {}", action, path.string(), systemMessage(code)));
}

template <class Container>
Result<Container> readWhole(const std::filesystem::path& path, std::size_t maxBytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.isOpen()) {
    return ioError("open", path, errno);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return ioError("inspect", path, errno);
  }
  if (S_ISDIR(status.st_mode)) {
    return ioError("read", path, EISDIR);
  }
  Container content;
  std::size_t used = 0;
  while (true) {
    content.resize(used + 65536 + (used == 0 ? static_cast<std::size_t>(status.st_size) : used / 2));
    const ssize_t got = ::read(fd.get(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return ioError("read", path, errno);
    }
    used += static_cast<std::size_t>(got);
    if (used > maxBytes) {
      return Error(ErrorKind::InvalidInput,
                   fmt::format("cannot read '{}': it is larger than {} bytes", path.string(), maxBytes));
    }
    if (got == 0) {
      break;
    }
  }
  content.resize(used);
  return content;
}

Result<> writeAll(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return ioError("write", path, errno);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::string> readTextFile(const std::filesystem::path& path, std::size_t maxBytes) {
  return readWhole<std::string>(path, maxBytes);
}

Result<std::vector<std::byte>> readBinaryFile(const std::filesystem::path& path, std::size_t maxBytes) {
  return readWhole<std::vector<std::byte>>(path, maxBytes);
}

Result<> writeFileAtomically(const std::filesystem::path& path, std::string_view content) {
  std::string temporary = path.string() + ".XXXXXX";
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.isOpen()) {
    return ioError("create a temporary file beside", path, errno);
  }
  ScopeExit removeTemporary([&temporary] { ::unlink(temporary.c_str()); });
  SWAGE_TRY(writeAll(fd.get(), content, path));
  if (::fchmod(fd.get(), 0644) != 0 || ::fsync(fd.get()) != 0) {
    return ioError("sync", path, errno);
  }
  fd.reset();
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return ioError("rename the new file over", path, errno);
  }
  removeTemporary.release();
  return {};
}

}  // namespace swage
