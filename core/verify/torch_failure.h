// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/device/failure.h"

namespace swage::verify {

// What an exception of libtorch says, without its C++ stack.
struct TorchFailure {
  std::string message;
  bool outOfMemory = false;
  bool poisoned = false;  // the CUDA context is unusable
};

// The same as a failure of the device that libtorch works on.
[[nodiscard]] device::DeviceFailure asDeviceFailure(const TorchFailure& failure);

// Runs `action` and turns whatever it throws into a value. libtorch's exceptions end here.
[[nodiscard]] std::optional<TorchFailure> attempt(const std::function<void()>& action);

}  // namespace swage::verify
