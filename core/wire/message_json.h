// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/domain/json.h"
#include "core/wire/messages.h"

// The JSON form of messages, which codec.h packs into frames. Bytes of binaries are binary values of MessagePack.
namespace swage::wire {

inline constexpr std::uint8_t kMaxMessageType = 18;

// The number of PROTOCOL.md.
[[nodiscard]] std::uint8_t messageType(const Message& message);
[[nodiscard]] domain::Json toJson(const Message& message);
// Checks everything, plans and graphs included; never throws. `type` is from 1 to kMaxMessageType.
[[nodiscard]] Result<Message> messageFromJson(std::uint8_t type, const domain::Json& json);

}  // namespace swage::wire
