// SPDX-License-Identifier: Apache-2.0
#include "core/wire/codec.h"

#include <zlib.h>

#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/domain/json_reader.h"
#include "core/wire/message_json.h"

namespace swage::wire {
namespace {

constexpr std::size_t kHeaderBytes = 9;
// Taken bytes are dropped from the front of the buffer once there are this many of them.
constexpr std::size_t kCompactBytes = std::size_t{64} << 10U;

struct Header {
  std::uint32_t length = 0;
  std::uint8_t type = 0;
  std::uint32_t checksum = 0;
};

void appendLittleEndian(std::string& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    out += static_cast<char>((value >> shift) & 0xFFU);
  }
}

std::uint32_t readLittleEndian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8U * i);
  }
  return value;
}

std::uint32_t checksumOf(const void* data, std::size_t size) {
  return static_cast<std::uint32_t>(::crc32_z(0, static_cast<const Bytef*>(data), size));
}

Header readHeader(std::string_view bytes) {
  return {readLittleEndian(bytes), static_cast<std::uint8_t>(bytes[4]), readLittleEndian(bytes.substr(5))};
}

Result<> check(const Header& header) {
  if (header.length > kMaxFrameBytes) {
    return Error(ErrorKind::Protocol, fmt::format("received a frame that claims {} bytes; at most {} are allowed",
                                                  header.length, kMaxFrameBytes));
  }
  if (header.type < 1 || header.type > kMaxMessageType) {
    return Error(ErrorKind::Protocol, fmt::format("received a frame of the unknown type {}", header.type));
  }
  return {};
}

Result<Message> decode(const Header& header, std::string_view payload) {
  if (checksumOf(payload.data(), payload.size()) != header.checksum) {
    return Error(ErrorKind::Protocol,
                 fmt::format("received a frame of type {} whose checksum does not match", header.type));
  }
  Result<domain::Json> json = domain::parseMessagePack(payload);
  Result<Message> message = json ? messageFromJson(header.type, *json) : Result<Message>(json.error());
  if (!message) {
    return Error(ErrorKind::Protocol, fmt::format("received a frame of type {} that cannot be used: {}", header.type,
                                                  message.error().message()));
  }
  return message;
}

}  // namespace

std::string encodeFrame(const Message& message) {
  const std::vector<std::uint8_t> payload = domain::Json::to_msgpack(toJson(message));
  // Nothing of that size is sent by design: weights travel by path, compilers limit their output.
  SWAGE_ASSERT(payload.size() <= kMaxFrameBytes);
  std::string frame;
  frame.reserve(kHeaderBytes + payload.size());
  appendLittleEndian(frame, static_cast<std::uint32_t>(payload.size()));
  frame += static_cast<char>(messageType(message));
  appendLittleEndian(frame, checksumOf(payload.data(), payload.size()));
  frame.append(payload.begin(), payload.end());
  return frame;
}

void FrameReader::feed(std::string_view bytes) {
  if (m_broken) {
    return;
  }
  if (m_consumed == m_buffer.size()) {
    m_buffer.clear();
    m_consumed = 0;
  } else if (m_consumed >= kCompactBytes && m_consumed >= m_buffer.size() / 2) {
    m_buffer.erase(0, m_consumed);
    m_consumed = 0;
  }
  m_buffer.append(bytes);
}

Result<std::optional<Message>> FrameReader::next() {
  if (m_broken) {
    return *m_broken;
  }
  const std::string_view available = std::string_view(m_buffer).substr(m_consumed);
  if (available.size() < kHeaderBytes) {
    return std::optional<Message>();
  }
  const Header header = readHeader(available);
  if (auto checked = check(header); !checked) {
    m_broken = checked.error();
    return *m_broken;
  }
  if (available.size() - kHeaderBytes < header.length) {
    return std::optional<Message>();
  }
  Result<Message> message = decode(header, available.substr(kHeaderBytes, header.length));
  if (!message) {
    m_broken = message.error();
    return *m_broken;
  }
  m_consumed += kHeaderBytes + header.length;
  return std::optional<Message>(std::move(*message));
}

}  // namespace swage::wire
