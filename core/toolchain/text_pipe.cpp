// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/text_pipe.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace swage::toolchain {
namespace {

constexpr std::size_t kLengthBytes = 4;

void appendLength(std::string& text, std::size_t length) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    text += static_cast<char>((length >> shift) & 0xFFU);
  }
}

std::size_t lengthAt(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return length;
}

Error broken() {
  return Error(ErrorKind::Protocol, "the compile helper sent a message that makes no sense");
}

}  // namespace

std::string encodeTextList(const TextList& list) {
  std::string payload;
  for (const std::string& text : list) {
    appendLength(payload, text.size());
    payload += text;
  }
  std::string message;
  appendLength(message, payload.size());
  return message + payload;
}

Result<std::optional<TextList>> decodeTextList(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) {
    return std::optional<TextList>();
  }
  const std::size_t length = lengthAt(bytes);
  if (length > kMaxTextListBytes || bytes.size() - kLengthBytes > length) {
    return broken();
  }
  bytes.remove_prefix(kLengthBytes);
  if (bytes.size() < length) {
    return std::optional<TextList>();
  }
  TextList list;
  while (!bytes.empty()) {
    if (bytes.size() < kLengthBytes || lengthAt(bytes) > bytes.size() - kLengthBytes) {
      return broken();
    }
    const std::size_t size = lengthAt(bytes);
    list.emplace_back(bytes.substr(kLengthBytes, size));
    bytes.remove_prefix(kLengthBytes + size);
  }
  return std::optional(std::move(list));
}

Sent writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return Sent::No;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return Sent::Yes;
}

}  // namespace swage::toolchain
