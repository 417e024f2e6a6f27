// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/domain/target.h"

namespace swage::toolchain {

// What of a source proves that it tries to leave the kernel, in words for the compile log ("line 3: #include <fstream>
// is not allowed …"); empty for a source that may be compiled.
//
// Refused on both targets: headers that are not on the allow-list, computed includes, raw strings (they can hide a
// directive from this check). Refused on cpu: inline assembly, token pasting that can spell "asm", attributes and
// pragmas that run code at load time, place data among code or bring fast math back.
// This is a filter, not a proof: what a cpu candidate calls is checked again in the linked file
// (shared_object_check.h).
[[nodiscard]] std::optional<std::string> findRefusal(domain::Target target, std::string_view source);

}  // namespace swage::toolchain
