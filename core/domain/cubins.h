// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

// The binary of a CUDA program is a cubin, or several, one behind the other, where its kernels were compiled one by
// one.
namespace swage::domain {

// Each of them; views into `binary`. What is no ELF file, or is cut off, is the last one.
[[nodiscard]] std::vector<std::string_view> cubinsIn(std::string_view binary);

// The one that has the code of `entry`; the first where none has it.
[[nodiscard]] std::string_view cubinOf(std::string_view binary, std::string_view entry);

}  // namespace swage::domain
