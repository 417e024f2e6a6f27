// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/toolchain/compiler.h"
#include "core/wire/exit_code.h"

namespace swage::compiler {

// Serves one connection to its end: greets, then answers one Compile after the other.
// Ends with Ok at end of file or Shutdown, with ProtocolFailed when the other side breaks the protocol.
[[nodiscard]] wire::ExitCode serve(toolchain::Compiler& compiler, int input, int output);

}  // namespace swage::compiler
