// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/wire/messages.h"

namespace swage::wire {

// A frame larger than this is refused before anything is allocated for it.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{256} << 20U;

// The whole frame, header included, ready to be written.
[[nodiscard]] std::string encodeFrame(const Message& message);

// Cuts a byte stream into messages. Feed bytes as they come; take messages until there are none.
// After an error the stream cannot be trusted any more: every later call returns the same error.
class FrameReader {
 public:
  void feed(std::string_view bytes);
  // No value: more bytes are needed.
  [[nodiscard]] Result<std::optional<Message>> next();

 private:
  std::string m_buffer;
  std::size_t m_consumed = 0;
  std::optional<Error> m_broken;
};

}  // namespace swage::wire
