// SPDX-License-Identifier: Apache-2.0
#include "app/compiler/server.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "app/compiler/connection.h"
#include "core/base/log.h"

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

// A value ends the connection.
std::optional<wire::ExitCode> handle(toolchain::Compiler& compiler, const CompilerConnection& connection,
                                     const wire::Message& message) {
  if (std::holds_alternative<wire::Shutdown>(message)) {
    return wire::ExitCode::Ok;
  }
  if (const auto* request = std::get_if<wire::Compile>(&message)) {
    return connection.send(wire::Compiled{request->request, compiler.compile(request->what, limitsOf(*request))});
  }
  log::error("got a frame that is not for a compiler");
  return wire::ExitCode::ProtocolFailed;
}

}  // namespace

wire::ExitCode serve(toolchain::Compiler& compiler, int input, int output) {
  CompilerConnection connection(input, output);
  if (const auto end = connection.greet()) {
    return *end;
  }
  for (;;) {
    const auto message = connection.next();
    if (!message) {
      log::error("{}", message.error().message());
      return wire::ExitCode::ProtocolFailed;
    }
    if (!*message) {
      return wire::ExitCode::Ok;
    }
    if (const auto end = handle(compiler, connection, **message)) {
      return *end;
    }
  }
}

}  // namespace swage::compiler
