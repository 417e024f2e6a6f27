// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/fd.h"
#include "core/process/launch_command.h"
#include "core/toolchain/process.h"
#include "core/wire/codec.h"

namespace swage::process {

// One swage-compiler with `--synthesis` on two pipes, for callers that wait for each answer. Killed at the end of the
// scope. One thread only.
class SynthesisProcess {
 public:
  // Why there is no answer, in words for a person: "ended by signal 11", "did not answer within 10 s".
  struct Loss {
    std::string how;
  };
  template <class T>
  using Outcome = tl::expected<T, Loss>;

  // Started, and greeted.
  [[nodiscard]] static Outcome<std::unique_ptr<SynthesisProcess>> start(const LaunchCommand& command,
                                                                        std::chrono::milliseconds limit);

  // After a loss nothing more may be asked.
  [[nodiscard]] Outcome<wire::Message> ask(const wire::Message& request, std::chrono::milliseconds limit);

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  SynthesisProcess(toolchain::LimitedChild child, Fd input, Fd output, Fd errors)
      : m_child(std::move(child)),
        m_input(std::move(input)),
        m_output(std::move(output)),
        m_errors(std::move(errors)) {}

  // Whether everything was written: else the process has ended, or does not read.
  [[nodiscard]] bool send(const std::string& bytes, Deadline deadline) const;
  [[nodiscard]] Outcome<wire::Message> receive(Deadline deadline, std::chrono::milliseconds limit);
  [[nodiscard]] Loss end();

  toolchain::LimitedChild m_child;
  Fd m_input;
  Fd m_output;
  Fd m_errors;  // a file without a name
  wire::FrameReader m_frames;
};

}  // namespace swage::process
