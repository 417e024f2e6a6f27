// SPDX-License-Identifier: Apache-2.0
#include "core/base/sha256.h"

#include <gtest/gtest.h>

namespace swage {
namespace {

// FIPS 180-4 examples.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256Hex(std::string_view("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256Hex(std::string_view("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256Hex(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsTheSameForBytesAndText) {
  const std::string_view text = "swage";
  EXPECT_EQ(sha256Hex(std::as_bytes(std::span(text))), sha256Hex(text));
}

}  // namespace
}  // namespace swage
