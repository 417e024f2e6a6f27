// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/domain/evaluation.h"
#include "core/toolchain/process.h"

namespace swage::toolchain {

// Of an error's hint, in a log of environmentFailure(): the last line.
inline constexpr std::string_view kHintPrefix = "\nhint: ";

[[nodiscard]] domain::CompileFailed environmentFailure(const Error& error);
// Words for module-scope data that survives a call; `name` is one of the variables, or empty.
[[nodiscard]] std::string writableDataRefusal(std::uint64_t bytes, std::string_view name);

// What the checks before and after the compiler found.
[[nodiscard]] domain::CompileFailed refused(std::string_view why);
[[nodiscard]] domain::CompileFailed limitFailure(ProcessEnd end, const ProcessLimits& limits, std::string_view log);

// Why a compiler run is no success, with its log cleaned of `privatePrefix`; empty for a success.
[[nodiscard]] std::optional<domain::CompileFailed> failureOf(const ProcessResult& result, const ProcessLimits& limits,
                                                             std::string_view privatePrefix);

}  // namespace swage::toolchain
