// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/base/result.h"
#include "core/wire/codec.h"
#include "core/wire/exit_code.h"

namespace swage::compiler {

// The frames of one engine on two descriptors, which stay the caller's. Waits for as long as it takes.
class CompilerConnection {
 public:
  CompilerConnection(int input, int output) : m_input(input), m_output(output) {}

  // No value at end of file.
  [[nodiscard]] Result<std::optional<wire::Message>> next();
  // A value, the exit code, when the engine is gone: nobody is left to be told.
  [[nodiscard]] std::optional<wire::ExitCode> send(const wire::Message& message) const;

  // Says Hello and waits for the engine's. A value ends the connection.
  [[nodiscard]] std::optional<wire::ExitCode> greet();

 private:
  int m_input;
  int m_output;
  wire::FrameReader m_reader;
};

}  // namespace swage::compiler
