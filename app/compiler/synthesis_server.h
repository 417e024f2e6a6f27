// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "core/wire/exit_code.h"
#include "core/wire/messages.h"

namespace swage::compiler {

// Called with each request before it is worked on: where tests let something go wrong.
using SynthesisObserver = std::function<void(const wire::Message& request)>;

// Serves one connection to its end: greets, then answers OpenSynthesis and Synthesise one after the other. A fault of
// the synthesiser ends the process, which is why it is one of its own.
[[nodiscard]] wire::ExitCode serveSynthesis(int input, int output, const SynthesisObserver& observer = {});

}  // namespace swage::compiler
