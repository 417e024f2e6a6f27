// SPDX-License-Identifier: Apache-2.0
#include "core/process/device_lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include "core/base/system_message.h"

namespace swage::process {
namespace {

namespace fs = std::filesystem;

std::string fileName(const domain::DeviceInfo& device) {
  std::string name = device.host + "-" + device.uuid + ".lock";
  for (char& c : name) {
    c = c == '/' || c == '\0' ? '_' : c;
  }
  return name;
}

std::string holderIn(int fd) {
  std::array<char, 32> buffer{};
  const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), 0);
  const std::string text(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::string pid = text.substr(0, text.find('\n'));
  return pid.empty() ? std::string("another process") : "process " + pid;
}

Error cannot(std::string_view action, const fs::path& what) {
  return {ErrorKind::Environment, fmt::format("cannot {} '{}': {}", action, what.string(), systemMessage(errno)),
          "set XDG_RUNTIME_DIR to a folder of your own"};
}

}  // namespace

Result<fs::path> leaseFolder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::error_code ignored;
  const fs::path folder = runtime != nullptr && fs::is_directory(runtime, ignored)
                              ? fs::path(runtime) / "swage"
                              : fs::path(fmt::format("/tmp/swage-{}", ::getuid()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return cannot("make the folder", folder);
  }
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) {
    return cannot("look at the folder", folder);
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::getuid()) {
    return Error(ErrorKind::Environment, fmt::format("'{}' is not a folder of yours", folder.string()),
                 "set XDG_RUNTIME_DIR to a folder of your own");
  }
  return folder;
}

Result<DeviceLease> DeviceLease::take(const domain::DeviceInfo& device) {
  if (device.kind != domain::DeviceKind::Cuda) {
    return DeviceLease(Fd());
  }
  SWAGE_TRY_ASSIGN(const fs::path folder, leaseFolder());
  const fs::path file = folder / fileName(device);
  Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.isOpen()) {
    return cannot("open the lock", file);
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK
               ? Error(ErrorKind::Locked,
                       fmt::format("{} is measuring on {} ({}) already", holderIn(fd.get()), device.name, device.uuid),
                       "wait until it has finished, or take another GPU by CUDA_VISIBLE_DEVICES: two measurements at "
                       "once on one device would both be wrong")
               : cannot("lock", file);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) != 0 || ::pwrite(fd.get(), pid.data(), pid.size(), 0) != std::ssize(pid)) {
    return cannot("write the lock", file);
  }
  return DeviceLease(std::move(fd));
}

}  // namespace swage::process
