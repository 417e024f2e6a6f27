// SPDX-License-Identifier: Apache-2.0
#include "app/compiler/connection.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "core/base/log.h"
#include "core/toolchain/text_pipe.h"

#ifndef SWAGE_REVISION
#define SWAGE_REVISION "unknown"
#endif

namespace swage::compiler {

Result<std::optional<wire::Message>> CompilerConnection::next() {
  std::array<char, 65536> buffer{};
  for (;;) {
    SWAGE_TRY_ASSIGN(auto message, m_reader.next());
    if (message) {
      return message;
    }
    const ssize_t count = ::read(m_input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return message;
    }
    m_reader.feed({buffer.data(), static_cast<std::size_t>(count)});
  }
}

std::optional<wire::ExitCode> CompilerConnection::send(const wire::Message& message) const {
  const bool sent = toolchain::writeAll(m_output, wire::encodeFrame(message)) == toolchain::Sent::Yes;
  return sent ? std::nullopt : std::optional(wire::ExitCode::Ok);
}

std::optional<wire::ExitCode> CompilerConnection::greet() {
  if (const auto end = send(wire::Hello{wire::kProtocolVersion, "swage-compiler", SWAGE_REVISION})) {
    return end;
  }
  const auto message = next();
  if (!message) {
    log::error("{}", message.error().message());
    return wire::ExitCode::ProtocolFailed;
  }
  if (!*message) {
    return wire::ExitCode::Ok;
  }
  const auto* hello = std::get_if<wire::Hello>(&**message);
  if (hello == nullptr) {
    log::error("the first frame was not Hello");
    return wire::ExitCode::ProtocolFailed;
  }
  if (hello->protocol != wire::kProtocolVersion) {
    log::error("the engine speaks protocol {}, this compiler {}: use programs of one version", hello->protocol,
               wire::kProtocolVersion);
    return wire::ExitCode::ProtocolFailed;
  }
  return std::nullopt;
}

}  // namespace swage::compiler
