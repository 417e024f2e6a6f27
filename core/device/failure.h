// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include <optional>
#include <string>

namespace swage::device {

// A device, or code that ran on it, refused or failed. This is what happened to a candidate (a value of
// domain::Evaluation in the end), so it is kept apart from swage::Error.
struct DeviceFailure {
  std::string detail;
  bool poisoned = false;     // the device context cannot be used any more: report, exit, be replaced
  bool outOfMemory = false;  // of the device; the context still works
};

template <class T>
using DeviceResult = tl::expected<T, DeviceFailure>;
using DeviceStatus = std::optional<DeviceFailure>;  // no value: it worked

}  // namespace swage::device
