// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace swage::engine {

// The compiler that made a candidate, as it wrote itself into what it made: NVRTC into the head of its PTX, GCC and
// Clang into a section of the shared object. "Cuda compilation tools, release 13.0, V13.0.88", "GCC: (Debian 12.2.0-14)
// 12.2.0"; empty where there is no such note.
[[nodiscard]] std::string compilerNote(std::string_view assembly, std::string_view binary);

}  // namespace swage::engine
