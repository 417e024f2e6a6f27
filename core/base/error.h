// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace swage {

// What kind of failure of Swage itself this is. A candidate kernel that fails is not an Error: see domain::Evaluation.
enum class ErrorKind : std::uint8_t {
  InvalidInput,  // what the user gave cannot be used
  Usage,         // the command line was wrong
  Config,        // a configuration file was wrong
  NotFound,
  Io,
  Storage,      // database or artifact store
  Environment,  // a driver, compiler or Python is missing or unusable
  Sandbox,      // what must not run unprotected cannot be protected here
  Timeout,
  Cancelled,         // never shown as a failure
  Protocol,          // the other process said something it must not
  Locked,            // another instance holds it
  ModelUnavailable,  // no language model answers: refused, unreachable, out of quota
  BudgetExhausted,   // what the user lets models spend is spent
  Unsupported,
  Internal,
};

[[nodiscard]] std::string_view name(ErrorKind kind);

// One failure: what was attempted, on what, why it failed, and (in `hint`) what the user can do about it.
class [[nodiscard]] Error {
 public:
  Error(ErrorKind kind, std::string message, std::string hint = {},
        std::source_location where = std::source_location::current())
      : m_kind(kind), m_message(std::move(message)), m_hint(std::move(hint)), m_where(where) {}

  [[nodiscard]] ErrorKind kind() const { return m_kind; }
  [[nodiscard]] const std::string& message() const { return m_message; }
  [[nodiscard]] const std::string& hint() const { return m_hint; }
  [[nodiscard]] const std::source_location& where() const { return m_where; }

  // The same error with knowledge of the caller in front: "loading baseline: cannot open …".
  [[nodiscard]] Error withContext(std::string_view context) &&;
  [[nodiscard]] Error withHint(std::string hint) &&;

 private:
  ErrorKind m_kind;
  std::string m_message;
  std::string m_hint;
  std::source_location m_where;
};

}  // namespace swage
