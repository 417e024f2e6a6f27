// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace swage::device {

// What kind of end it was, where more is known than that something failed.
enum class FailureKind : std::uint8_t {
  Refused,       // it could not be loaded or launched
  Crashed,       // by a signal
  TimedOut,      // it did not come back
  WroteInput,    // or tried to
  BesideBuffer,  // read or wrote outside of the buffers that it was given
  Forbidden,     // asked the system, or the clock, for what no kernel may have
  Arithmetic,    // left a thread with another rounding mode, or flushing denormals
};

// A device, or code that ran on it, refused or failed. This is what happened to a candidate (a value of
// domain::Evaluation in the end), so it is kept apart from swage::Error.
struct DeviceFailure {
  std::string detail;
  bool poisoned = false;     // the device context cannot be used any more: report, exit, be replaced
  bool outOfMemory = false;  // of the device; the context still works
  FailureKind kind = FailureKind::Refused;
  int signal = 0;             // of FailureKind::Crashed
  double limitSeconds = 0.0;  // of FailureKind::TimedOut
};

template <class T>
using DeviceResult = tl::expected<T, DeviceFailure>;
using DeviceStatus = std::optional<DeviceFailure>;  // no value: it worked

}  // namespace swage::device
