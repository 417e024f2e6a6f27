// SPDX-License-Identifier: Apache-2.0
#include "core/base/sha256.h"

#include <array>

#include <openssl/evp.h>

#include "core/base/assert.h"

namespace swage {

std::string sha256Hex(std::string_view data) {
  return sha256Hex(std::as_bytes(std::span(data.data(), data.size())));
}

std::string sha256Hex(std::span<const std::byte> data) {
  std::array<unsigned char, 32> digest{};
  unsigned int length = 0;
  const int ok = EVP_Digest(data.data(), data.size(), digest.data(), &length, EVP_sha256(), nullptr);
  SWAGE_ASSERT(ok == 1 && length == digest.size());
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(digest.size() * 2);
  for (const unsigned char byte : digest) {
    text.push_back(kHex[byte >> 4U]);
    text.push_back(kHex[byte & 15U]);
  }
  return text;
}

}  // namespace swage
