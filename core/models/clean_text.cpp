// SPDX-License-Identifier: Apache-2.0
#include "core/models/clean_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>

namespace swage::models {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 1;
};

// No value: not UTF-8 (overlong forms, surrogates, what lies beyond U+10FFFF).
std::optional<CodePoint> codePointAt(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    return CodePoint{first, 1};
  }
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first >= 0xF5 || text.size() < length) {
    return std::nullopt;
  }
  std::uint32_t value = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return std::nullopt;
    }
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool isSurrogate = value >= 0xD800 && value < 0xE000;
  return value < kLeast[length] || isSurrogate || value > 0x10FFFF ? std::nullopt
                                                                   : std::optional(CodePoint{value, length});
}

bool isHidden(std::uint32_t c) {
  const bool isControl = (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7F && c < 0xA0);
  const bool isDirection =
      (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C;
  const bool hasNoWidth = (c >= 0x200B && c <= 0x200D) || c == 0x2060 || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE007F);
  return isControl || isDirection || hasNoWidth;
}

// Of a terminal's escape sequence (ECMA-48) at the start of the text: ESC [ … final byte, ESC ] … BEL, or ESC and one
// more.
std::size_t escapeLength(std::string_view text) {
  if (text.size() < 2) {
    return text.size();
  }
  std::size_t at = 2;
  if (text[1] == '[') {
    while (at < text.size() && (text[at] < '@' || text[at] > '~')) {
      ++at;
    }
    return std::min(at + 1, text.size());
  }
  if (text[1] == ']') {
    while (at < text.size() && text[at] != '\a' && text[at] != '\x1b' && text[at] != '\n') {
      ++at;
    }
    return at < text.size() && text[at] == '\a' ? at + 1 : at;
  }
  return text[1] >= '@' && text[1] <= '_' ? 2 : 1;
}

bool isKeyByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string result;
  for (;;) {
    const std::size_t at = text.find(what);
    result.append(text.substr(0, at));
    if (at == std::string_view::npos) {
      return result;
    }
    result.append(with);
    text.remove_prefix(at + what.size());
  }
}

constexpr std::string_view kHidden = "[hidden]";

// A key begins a word and is long.
void hideKeys(std::string& text, std::string_view prefix) {
  constexpr std::size_t kShortest = 12;
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
    std::size_t end = at + prefix.size();
    while (end < text.size() && isKeyByte(text[end])) {
      ++end;
    }
    const bool beginsWord = at == 0 || !isKeyByte(text[at - 1]);
    if (beginsWord && end - at - prefix.size() >= kShortest) {
      text.replace(at, end - at, kHidden);
    }
  }
}

}  // namespace

std::string cleanText(std::string_view text, std::size_t maxBytes) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string clean;
  clean.reserve(std::min(text.size(), maxBytes));
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {
      at += escapeLength(text.substr(at));
      continue;
    }
    const auto point = codePointAt(text.substr(at));
    const std::string_view bytes = point ? text.substr(at, point->bytes) : kReplacement;
    at += point ? point->bytes : 1;
    if (point && isHidden(point->value)) {
      continue;
    }
    if (clean.size() + bytes.size() > maxBytes) {
      break;
    }
    clean += bytes;
  }
  return clean;
}

std::string cleanLine(std::string_view text, std::size_t maxBytes) {
  std::string line = cleanText(text, maxBytes);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

std::string withoutSecrets(std::string_view text, std::span<const std::string> secrets) {
  std::string safe(text);
  for (const std::string& secret : secrets) {
    if (!secret.empty()) {
      safe = replaced(safe, secret, kHidden);
    }
  }
  for (const std::string_view prefix : {"sk-", "hf_", "ghp_", "gho_", "github_pat_", "xai-", "gsk_", "Bearer "}) {
    hideKeys(safe, prefix);
  }
  const char* home = std::getenv("HOME");   // NOLINT(concurrency-mt-unsafe): nobody sets it
  constexpr std::size_t kShortestHome = 6;  // "/" and "/root" are no secret, and would be found everywhere
  if (home != nullptr && std::string_view(home).size() >= kShortestHome) {
    safe = replaced(safe, home, "~");
  }
  return safe;
}

}  // namespace swage::models
