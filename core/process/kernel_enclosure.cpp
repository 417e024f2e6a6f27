// SPDX-License-Identifier: Apache-2.0
#include "core/process/kernel_enclosure.h"

#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QByteArray>

namespace swage::process {

std::string missingAroundKernels() {
  if (qgetenv("SWAGE_CELL") == "off") {
    return "a process of their own";
  }
  std::string missing;
  if (::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1) {
    missing = "Landlock";
  }
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) {
    missing += missing.empty() ? "seccomp" : " and seccomp";
  }
  return missing;
}

}  // namespace swage::process
