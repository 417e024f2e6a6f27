// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace swage::testing {

// While it lives, the system calls by which SQLite writes in this process fail as on a full disk (ENOSPC). Reading and
// everything else go on. One at a time.
class FullDisk {
 public:
  FullDisk();
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
};

}  // namespace swage::testing
