// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/error.h"

namespace swage::wire {

// Of the user's programs; documented in the README.
enum class ExitCode : int {
  Ok = 0,
  Internal = 1,
  Usage = 2,
  Config = 3,
  InvalidInput = 4,
  Environment = 5,
  NoCorrectKernel = 6,
  TargetMissed = 7,
  VerificationFailed = 8,
  LlmUnavailable = 9,
  Storage = 10,
  BudgetExhausted = 11,
  SandboxUnavailable = 12,
  AlreadyRunning = 13,
  // Of workers and compilers, seen by the engine only.
  StickyDeviceError = 110,
  ProtocolFailed = 111,
  // By signal.
  Interrupted = 130,
  Terminated = 143,
};

[[nodiscard]] ExitCode exitCodeFor(ErrorKind kind);

}  // namespace swage::wire
