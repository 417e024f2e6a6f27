// SPDX-License-Identifier: Apache-2.0
#include "core/wire/exit_code.h"

namespace swage::wire {

ExitCode exitCodeFor(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::InvalidInput:
    case ErrorKind::NotFound:
    case ErrorKind::Unsupported: return ExitCode::InvalidInput;
    case ErrorKind::Usage: return ExitCode::Usage;
    case ErrorKind::Config: return ExitCode::Config;
    case ErrorKind::Io:
    case ErrorKind::Storage: return ExitCode::Storage;
    case ErrorKind::Environment:
    case ErrorKind::Timeout: return ExitCode::Environment;
    case ErrorKind::Sandbox: return ExitCode::SandboxUnavailable;
    case ErrorKind::Cancelled: return ExitCode::Interrupted;
    case ErrorKind::Locked: return ExitCode::AlreadyRunning;
    case ErrorKind::ModelUnavailable: return ExitCode::LlmUnavailable;
    case ErrorKind::BudgetExhausted: return ExitCode::BudgetExhausted;
    case ErrorKind::Protocol:
    case ErrorKind::Internal: return ExitCode::Internal;
  }
  return ExitCode::Internal;
}

}  // namespace swage::wire
