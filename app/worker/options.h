// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/domain/device_kind.h"

namespace swage::worker {

struct WorkerOptions {
  domain::DeviceKind target = domain::DeviceKind::Cpu;
  int ordinal = 0;       // of a GPU
  int threads = 0;       // 0: as many as PyTorch takes by default
  bool standBy = false;  // takes the device with the first request
  bool check = false;    // opens the device, says what it is, and ends
  bool list = false;     // says in JSON what devices there are, and ends
  bool help = false;
};

inline constexpr std::string_view kUsage =
    "usage: swage-worker [--device cpu|cuda|cuda:N] [--threads N] [--stand-by | --check | --list]\n"
    "Evaluates kernels for the engine that started it; speaks frames on standard input and output.\n"
    "  --stand-by  keeps off the device until the first request\n"
    "  --check     says in one line whether the device works, and ends\n"
    "  --list      says in JSON which devices there are, without using one, and ends\n";

// `arguments` without the program's name. Fails with kind Usage.
[[nodiscard]] Result<WorkerOptions> parseOptions(std::span<const char* const> arguments);

}  // namespace swage::worker
