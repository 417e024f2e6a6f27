// SPDX-License-Identifier: Apache-2.0
#include "core/models/stream_parser.h"

#include <gmock/gmock.h>

#include "tests/support/result_matchers.h"

namespace swage::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsOk;

std::vector<ServerEvent> eventsOf(std::string_view stream, std::size_t piece) {
  SseParser parser;
  std::vector<ServerEvent> events;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    const auto some = parser.feed(stream.substr(at, piece));
    EXPECT_THAT(some, IsOk());
    events.insert(events.end(), some->begin(), some->end());
  }
  const auto rest = parser.finish();
  events.insert(events.end(), rest.begin(), rest.end());
  return events;
}

TEST(SseParser, ReadsTheSameWhereverTheStreamIsCut) {
  const std::string stream =
      "\xEF\xBB\xBF: a comment\r\nevent: first\r\ndata: one\r\ndata: Gr\xC3\xB6\xC3\x9F"
      "e\r\n\r\nid: 7\ndata:two\n\n\n"
      "event: nothing\n\rdata: \xF0\x9F\x98\x80\r\rdata\n\ndata: last\n";
  const std::vector<ServerEvent> whole = eventsOf(stream, stream.size());
  EXPECT_THAT(whole, ElementsAre(ServerEvent{"first",
                                             "one\nGr\xC3\xB6\xC3\x9F"
                                             "e"},
                                 ServerEvent{"", "two"}, ServerEvent{"", "\xF0\x9F\x98\x80"}, ServerEvent{"", ""},
                                 ServerEvent{"", "last"}));
  for (std::size_t piece = 1; piece < 9; ++piece) {
    EXPECT_EQ(eventsOf(stream, piece), whole) << piece;
  }
}

TEST(SseParser, RefusesAnEventThatIsTooLarge) {
  SseParser parser(64);
  EXPECT_THAT(parser.feed("data: " + std::string(100, 'x')), IsError(ErrorKind::Protocol, HasSubstr("64 bytes")));
  SseParser lines(64);
  EXPECT_THAT(lines.feed("data: " + std::string(40, 'x') + "\ndata: " + std::string(40, 'x') + "\n"),
              IsError(ErrorKind::Protocol, HasSubstr("64 bytes")));
}

TEST(LineSplitter, EndsLinesOfNdjsonAtLineFeedsOnly) {
  LineSplitter lines(LineSplitter::Ends::LineFeed, 100);
  const auto first = lines.feed("{\"a\": 1}\r\n{\"b\"");
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(*first, ElementsAre("{\"a\": 1}"));
  const auto second = lines.feed(": 2}\n\n");
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT(*second, ElementsAre("{\"b\": 2}", ""));
  EXPECT_THAT(*lines.feed("rest"), IsEmpty());
  EXPECT_EQ(lines.takeRest(), "rest");
}

}  // namespace
}  // namespace swage::models
