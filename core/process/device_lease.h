// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/domain/device_info.h"

namespace swage::process {

// The right to time on one GPU, among all Swage processes of this user on this machine: two timings at once on one
// device would both be wrong. A lock on a file named after host and UUID under $XDG_RUNTIME_DIR/swage (else
// /tmp/swage-<uid>), held as long as the object lives and freed by the kernel when the process dies. A CPU needs none.
class DeviceLease {
 public:
  // Does not wait. ErrorKind::Locked, naming the holder, when another process has it.
  [[nodiscard]] static Result<DeviceLease> take(const domain::DeviceInfo& device);

 private:
  explicit DeviceLease(Fd fd) : m_fd(std::move(fd)) {}

  Fd m_fd;
};

// Where the lock files are: made when it is not there, and refused when it is somebody else's.
[[nodiscard]] Result<std::filesystem::path> leaseFolder();

}  // namespace swage::process
