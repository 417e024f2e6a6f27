// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

namespace swage {

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::InvalidInput: return "invalid input";
    case ErrorKind::Usage: return "usage";
    case ErrorKind::Config: return "configuration";
    case ErrorKind::NotFound: return "not found";
    case ErrorKind::Io: return "input/output";
    case ErrorKind::Storage: return "storage";
    case ErrorKind::Environment: return "environment";
    case ErrorKind::Sandbox: return "sandbox";
    case ErrorKind::Timeout: return "timeout";
    case ErrorKind::Cancelled: return "cancelled";
    case ErrorKind::Protocol: return "protocol";
    case ErrorKind::Locked: return "locked";
    case ErrorKind::ModelUnavailable: return "model unavailable";
    case ErrorKind::BudgetExhausted: return "budget exhausted";
    case ErrorKind::Unsupported: return "unsupported";
    case ErrorKind::Internal: return "internal";
  }
  return "unknown";
}

Error Error::withContext(std::string_view context) && {
  m_message = std::string(context) + ": " + m_message;
  return std::move(*this);
}

Error Error::withHint(std::string hint) && {
  m_hint = std::move(hint);
  return std::move(*this);
}

}  // namespace swage
