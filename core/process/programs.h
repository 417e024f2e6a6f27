// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/domain/device_info.h"
#include "core/domain/graph.h"
#include "core/process/bridge_call.h"
#include "core/process/launch_command.h"
#include "core/process/locations.h"
#include "core/process/target_choice.h"
#include "core/synth/synthesizer.h"

namespace swage::process {

// A choice of Programs::sandbox.
inline constexpr std::string_view kNoSandbox = "none";

// The programs that work for the engine, and how they are started; tests replace some.
struct Programs {
  BridgeEnvironment bridge;
  std::function<LaunchCommand(domain::DeviceKind)> workerCommand;
  LaunchCommand compilerCommand;
  std::string sandbox = "auto";  // what compilerCommand asks for: "auto", "bwrap", "landlock" or kNoSandbox
  std::string sanitizer;         // compute-sanitizer; empty: not installed
  std::string replay;
  std::function<Result<std::unique_ptr<synth::Synthesizer>>(const domain::Graph&, const domain::DeviceInfo&)>
      makeSynthesizer;
  std::function<DriverState()> driver = nvidiaDriver;
  int compilers = 0;  // 0: as many as compilersFor()
  std::chrono::milliseconds stopGrace{2000};
  bool deviceIsLeased = false;  // by whoever starts them

  [[nodiscard]] static Programs standard(const Locations& locations);
  // How many compilers run at once: one for each core. On a GPU they work while kernels are measured, and the thread
  // that launches those and this process keep a core each where there are more than four.
  [[nodiscard]] int compilersFor(domain::DeviceKind target) const;
};

}  // namespace swage::process
