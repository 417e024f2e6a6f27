// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/capped_log.h"

#include <algorithm>

#include <fmt/format.h>

namespace swage::toolchain {
namespace {

// Room for the line between head and tail.
constexpr std::size_t kMarkerBytes = 80;

// Length of the UTF-8 sequence that begins at `at`; 0 when there is none.
std::size_t sequenceLength(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80   ? 1U
                             : lead < 0xC2 ? 0U
                             : lead < 0xE0 ? 2U
                             : lead < 0xF0 ? 3U
                             : lead < 0xF5 ? 4U
                                           : 0U;
  if (at + length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  return length;
}

// Every byte that belongs to no sequence becomes a question mark.
std::string validUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequenceLength(text, i);
    if (length == 0) {
      valid += '?';
      ++i;
    } else {
      valid += text.substr(i, length);
      i += length;
    }
  }
  return valid;
}

}  // namespace

CappedLog::CappedLog(std::size_t capacity) {
  const std::size_t usable = capacity > kMarkerBytes ? capacity - kMarkerBytes : 0;
  m_headCapacity = usable / 2;
  m_tailCapacity = usable - m_headCapacity;
}

void CappedLog::append(std::string_view bytes) {
  m_total += bytes.size();
  const std::size_t toHead = std::min(bytes.size(), m_headCapacity - m_head.size());
  m_head += bytes.substr(0, toHead);
  bytes.remove_prefix(toHead);
  if (bytes.size() >= m_tailCapacity) {
    m_tail = bytes.substr(bytes.size() - m_tailCapacity);
    return;
  }
  m_tail += bytes;
  // Cut rarely: the tail may grow to twice its size before its front is dropped.
  if (m_tail.size() > 2 * m_tailCapacity) {
    m_tail.erase(0, m_tail.size() - m_tailCapacity);
  }
}

std::string CappedLog::text() const {
  const std::size_t tailBytes = std::min(m_tail.size(), m_tailCapacity);
  const std::string_view tail = std::string_view(m_tail).substr(m_tail.size() - tailBytes);
  const std::size_t missing = m_total - m_head.size() - tailBytes;
  if (missing == 0) {
    return m_head + std::string(tail);
  }
  return fmt::format("{}\n[... {} bytes of output left out ...]\n{}", m_head, missing, tail);
}

std::string cappedText(std::string_view text, std::size_t capacity) {
  if (text.size() <= capacity) {
    return std::string(text);
  }
  CappedLog log(capacity);
  log.append(text);
  return validUtf8(log.text());  // the cut may have split a character
}

std::string cleanedLog(std::string_view text, std::string_view prefix) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!prefix.empty() && text.substr(i, prefix.size()) == prefix) {
      i += prefix.size() - 1;
      continue;
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7F)) {
      clean += text[i];
    }
  }
  return validUtf8(clean);
}

}  // namespace swage::toolchain
