// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace swage::toolchain {

// The shared libraries of this process that a sandbox does not show by itself: all that lie outside of /usr, by the
// paths that the loader found them under. Without this the program starts on the host and not inside, where neither
// $ORIGIN nor LD_LIBRARY_PATH mean what they mean outside.
[[nodiscard]] std::vector<std::string> librariesOutsideUsr();

}  // namespace swage::toolchain
