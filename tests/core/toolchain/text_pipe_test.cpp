// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/text_pipe.h"

#include <gmock/gmock.h>

#include "tests/support/result_matchers.h"

namespace swage::toolchain {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

TEST(TextPipe, GivesBackWhatWasEncoded) {
  const TextList list{"first", "", std::string("\0\xFF", 2)};
  const auto decoded = decodeTextList(encodeTextList(list));
  ASSERT_TRUE(decoded.has_value() && decoded->has_value());
  EXPECT_EQ(**decoded, list);
}

TEST(TextPipe, WaitsForEveryByteOfAMessage) {
  const std::string bytes = encodeTextList({"source", "-arch=sm_90a"});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto decoded = decodeTextList(std::string_view(bytes).substr(0, length));
    ASSERT_TRUE(decoded.has_value()) << length;
    EXPECT_FALSE(decoded->has_value()) << length;
  }
}

TEST(TextPipe, RefusesLengthsThatLeadOutOfTheMessage) {
  std::string bytes = encodeTextList({"abcd"});
  bytes[4] = 100;  // the string claims to be longer than the message
  EXPECT_THAT(decodeTextList(bytes), IsError(ErrorKind::Protocol, HasSubstr("makes no sense")));
  EXPECT_THAT(decodeTextList("\xFF\xFF\xFF\xFF"), IsError(ErrorKind::Protocol, HasSubstr("makes no sense")));
  EXPECT_THAT(decodeTextList(encodeTextList({"a"}) + "x"), IsError(ErrorKind::Protocol, HasSubstr("makes no sense")));
}

}  // namespace
}  // namespace swage::toolchain
