// SPDX-License-Identifier: Apache-2.0
#include "tests/support/full_disk.h"

#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace swage::testing {
namespace {

struct Call {
  const char* name;
  sqlite3_syscall_ptr replacement;
};

ssize_t failToWrite(int, const void*, size_t) {
  errno = ENOSPC;
  return -1;
}

ssize_t failToWriteAt(int, const void*, size_t, off_t) {
  errno = ENOSPC;
  return -1;
}

// Which of them SQLite uses depends on how it was built.
std::array<Call, 3> calls() {
  return {{{"write", reinterpret_cast<sqlite3_syscall_ptr>(&failToWrite)},
           {"pwrite", reinterpret_cast<sqlite3_syscall_ptr>(&failToWriteAt)},
           {"pwrite64", reinterpret_cast<sqlite3_syscall_ptr>(&failToWriteAt)}}};
}

}  // namespace

FullDisk::FullDisk() {
  sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
  for (const Call& call : calls()) {
    vfs->xSetSystemCall(vfs, call.name, call.replacement);
  }
}

FullDisk::~FullDisk() {
  sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
  for (const Call& call : calls()) {
    vfs->xSetSystemCall(vfs, call.name, nullptr);
  }
}

}  // namespace swage::testing
