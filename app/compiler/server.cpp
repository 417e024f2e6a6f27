// SPDX-License-Identifier: Apache-2.0
#include "app/compiler/server.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/log.h"
#include "core/toolchain/text_pipe.h"
#include "core/wire/codec.h"

#ifndef SWAGE_REVISION
#define SWAGE_REVISION "unknown"
#endif

namespace swage::compiler {
namespace {

// What a request may ask for, whatever it says.
constexpr double kMaxSeconds = 600.0;
constexpr std::int64_t kMinMemoryBytes = std::int64_t{256} << 20;

toolchain::ProcessLimits limitsOf(const wire::Compile& request) {
  toolchain::ProcessLimits limits;
  limits.seconds = std::isfinite(request.limitSeconds) ? std::clamp(request.limitSeconds, 0.1, kMaxSeconds) : 20.0;
  limits.memoryBytes = std::max(request.memoryLimitBytes, kMinMemoryBytes);
  return limits;
}

// No value at end of file.
Result<std::optional<wire::Message>> readMessage(int input, wire::FrameReader& reader) {
  std::array<char, 65536> buffer{};
  for (;;) {
    SWAGE_TRY_ASSIGN(auto message, reader.next());
    if (message) {
      return message;
    }
    const ssize_t count = ::read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return message;
    }
    reader.feed({buffer.data(), static_cast<std::size_t>(count)});
  }
}

class Connection {
 public:
  Connection(toolchain::Compiler& compiler, int output) : m_compiler(compiler), m_output(output) {}

  // A value ends the connection.
  std::optional<wire::ExitCode> handle(const wire::Message& message) {
    if (const auto* hello = std::get_if<wire::Hello>(&message)) {
      return greet(*hello);
    }
    if (!m_greeted) {
      log::error("the first frame was not Hello");
      return wire::ExitCode::ProtocolFailed;
    }
    if (std::holds_alternative<wire::Shutdown>(message)) {
      return wire::ExitCode::Ok;
    }
    if (const auto* request = std::get_if<wire::Compile>(&message)) {
      return send(wire::Compiled{request->request, m_compiler.compile(request->what, limitsOf(*request))});
    }
    log::error("got a frame that is not for a compiler");
    return wire::ExitCode::ProtocolFailed;
  }

  std::optional<wire::ExitCode> send(const wire::Message& message) const {
    // The engine is gone: nobody is left to be told.
    const bool sent = toolchain::writeAll(m_output, wire::encodeFrame(message)) == toolchain::Sent::Yes;
    return sent ? std::nullopt : std::optional(wire::ExitCode::Ok);
  }

 private:
  std::optional<wire::ExitCode> greet(const wire::Hello& hello) {
    if (hello.protocol != wire::kProtocolVersion) {
      log::error("the engine speaks protocol {}, this compiler {}: use programs of one version", hello.protocol,
                 wire::kProtocolVersion);
      return wire::ExitCode::ProtocolFailed;
    }
    m_greeted = true;
    return std::nullopt;
  }

  toolchain::Compiler& m_compiler;
  int m_output;
  bool m_greeted = false;
};

}  // namespace

wire::ExitCode serve(toolchain::Compiler& compiler, int input, int output) {
  Connection connection(compiler, output);
  if (const auto end = connection.send(wire::Hello{wire::kProtocolVersion, "swage-compiler", SWAGE_REVISION})) {
    return *end;
  }
  wire::FrameReader reader;
  for (;;) {
    const auto message = readMessage(input, reader);
    if (!message) {
      log::error("{}", message.error().message());
      return wire::ExitCode::ProtocolFailed;
    }
    if (!*message) {
      return wire::ExitCode::Ok;
    }
    if (const auto end = connection.handle(**message)) {
      return *end;
    }
  }
}

}  // namespace swage::compiler
