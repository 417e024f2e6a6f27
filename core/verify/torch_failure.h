// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace swage::verify {

// What an exception of libtorch says, without its C++ stack.
struct TorchFailure {
  std::string message;
  bool outOfMemory = false;
  bool poisoned = false;  // the CUDA context is unusable
};

// Runs `action` and turns whatever it throws into a value. libtorch's exceptions end here.
[[nodiscard]] std::optional<TorchFailure> attempt(const std::function<void()>& action);

}  // namespace swage::verify
