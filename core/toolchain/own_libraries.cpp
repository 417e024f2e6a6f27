// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/own_libraries.h"

#include <link.h>

#include <string_view>

namespace swage::toolchain {
namespace {

// The sandbox has /usr of the host, into which /lib and /lib64 are links.
bool isOutsideUsr(std::string_view path) {
  return path.starts_with('/') && !path.starts_with("/usr/") && !path.starts_with("/lib");
}

// The program itself has no name here, and what the kernel maps has no path.
int take(dl_phdr_info* info, std::size_t /*size*/, void* into) {
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (isOutsideUsr(path)) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(path);
  }
  return 0;
}

}  // namespace

std::vector<std::string> librariesOutsideUsr() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(take, &paths);
  return paths;
}

}  // namespace swage::toolchain
