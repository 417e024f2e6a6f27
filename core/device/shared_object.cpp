// SPDX-License-Identifier: Apache-2.0
#include "core/device/shared_object.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include <fmt/format.h>

#include "core/base/fd.h"
#include "core/base/system_message.h"

namespace swage::device {
namespace {

// The loader recognises an object it already has by its path, and an object with unique symbols is never unloaded.
// Descriptor numbers are reused, so each load spells the path of its descriptor in another way: one "/." or "//" for
// each bit of a counter.
constexpr std::string_view kDescriptors = "/proc/self/fd";

std::string uniquePathOf(int fd) {
  static std::atomic<std::uint32_t> counter = 0;
  std::string path(kDescriptors);
  for (std::uint32_t bits = ++counter; bits != 0; bits >>= 1U) {
    path += (bits & 1U) != 0 ? "/." : "//";
  }
  return path + "/" + std::to_string(fd);
}

DeviceResult<Fd> memoryFile(const std::string& bytes) {
  Fd fd(::memfd_create("swage-kernel", MFD_CLOEXEC));
  if (!fd.isOpen()) {
    return tl::make_unexpected(
        DeviceFailure{fmt::format("cannot create a memory file for the kernel: {}", systemMessage(errno))});
  }
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return tl::make_unexpected(
          DeviceFailure{fmt::format("cannot write the kernel to memory: {}", systemMessage(errno))});
    }
    done += static_cast<std::size_t>(written);
  }
  return fd;
}

}  // namespace

DeviceResult<SharedObject> SharedObject::load(const std::string& bytes) {
  auto fd = memoryFile(bytes);
  if (!fd) {
    return tl::make_unexpected(std::move(fd).error());
  }
  void* handle = ::dlopen(uniquePathOf(fd->get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return tl::make_unexpected(
        DeviceFailure{fmt::format("the shared object cannot be loaded: {}", reason != nullptr ? reason : "unknown")});
  }
  return SharedObject(handle);
}

bool SharedObject::isItsPath(std::string_view path) {
  return path.starts_with(kDescriptors);
}

void* SharedObject::find(const std::string& symbol) const {
  return ::dlsym(m_handle.get(), symbol.c_str());
}

void SharedObject::Closer::operator()(void* handle) const {
  ::dlclose(handle);
}

}  // namespace swage::device
