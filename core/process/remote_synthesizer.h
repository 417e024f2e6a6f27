// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "core/process/launch_command.h"
#include "core/synth/synthesizer.h"

namespace swage::process {

struct RemoteSynthesis {
  LaunchCommand command;           // `swage-compiler --synthesis`
  std::filesystem::path patterns;  // as that program sees them
  std::chrono::milliseconds startLimit{20000};
  std::chrono::milliseconds callLimit{30000};  // most calls take less than a millisecond, seeds of large models seconds
};

// A synthesiser in a process of its own, which lives as long as the result. A call that ends the process, or that takes
// longer than its limit, fails alone: realise() returns an Error of kind Internal that says how the process ended, the
// other calls return nothing and leave a warning in the log; the next call has a new process. Calls wait for their
// answers, and may come from any one thread at a time; the process dies with the thread that made the first call.
// Fails with kind Environment when the program cannot be started, and with Internal when it cannot cope with the graph.
[[nodiscard]] Result<std::unique_ptr<synth::Synthesizer>> makeRemoteSynthesizer(const RemoteSynthesis& options,
                                                                                const domain::Graph& graph,
                                                                                const domain::DeviceInfo& device);

}  // namespace swage::process
