// SPDX-License-Identifier: Apache-2.0
#include "core/wire/codec.h"

#include "core/domain/json.h"
#include "core/wire/message_json.h"
#include "tests/core/domain/samples.h"
#include "tests/support/result_matchers.h"

namespace swage::wire {
namespace {

using ::testing::_;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

// One of each, every member set.
std::vector<Message> sampleMessages() {
  const std::string bytes(
      "\x7F"
      "ELF\0\xFF",
      6);
  domain::CompileRequest request{domain::Language::CudaCpp, "source", {"row_block_0"}, "sm_90a", {"--fmad=true"}};
  domain::CompiledBinary binary{bytes, "assembly \xFF", "log", {testing::sampleFacts()}, "hash", 1.5};
  const domain::Genome genome{{{{0, 1}, "row_block", {{"threads", 256}}}}};
  const domain::Program program{domain::Language::CudaCpp, "source", testing::samplePlan(), {"--fmad=true"}};
  return {Hello{1, "engine", "abc"},
          LoadTask{testing::sampleTask(), "/w.safetensors", ~0ULL, 6, 2.0, false, true, 3},
          Evaluate{~0ULL, testing::samplePlan(), bytes, 10.0, 15.0, 0.25, 20, 30, 5.0, true, 0.5, true, true},
          Shutdown{},
          WorkerReady{testing::sampleDevice(), "2.11.0"},
          TaskReady{testing::sampleTiming(9.0), {{0, 1, 2, 3, 4}}, "float64", 1024, {"output 0 is constant"}},
          TaskRefused{ErrorKind::Unsupported, "no", "try"},
          Evaluated{7, testing::sampleEvaluations()[4], 0.5, 0.75, true},
          Heartbeat{8, "verify"},
          Compile{9, request, 12.0, 1 << 20},
          Compiled{10, binary},
          Compiled{11, domain::CompileFailed{domain::CompileFailureReason::Timeout, "slow"}},
          ProfileRequest{12, testing::samplePlan(), bytes, false, false, 3.0},
          Profiled{13, testing::sampleProfile(), true},
          MakeRoom{},
          RoomMade{1LL << 37},
          OpenSynthesis{14, testing::sampleTask().graph, testing::sampleDevice(), "/patterns"},
          Synthesise{15, Synthesise::Call::Vary, genome, genome, domain::Cell::fromIndex(7),
                     domain::OperatorKind::Crossover, ~0ULL},
          Synthesise{},
          Synthesised{16, {genome, {}}, program, {0, 2}, {3, 35}, 5, std::nullopt, {1e-3, 0.0}},
          Synthesised{17, {}, std::nullopt, {}, {}, 0, Error(ErrorKind::InvalidInput, "no", "try"), {}}};
}

std::string text(const Message& message) {
  return std::to_string(messageType(message)) + " " + domain::dumpJson(toJson(message));
}

// Everything that comes out of `reader` until it needs more or fails.
std::vector<std::string> drain(FrameReader& reader) {
  std::vector<std::string> messages;
  while (true) {
    auto next = reader.next();
    EXPECT_THAT(next, IsOk());
    if (!next || !*next) {
      return messages;
    }
    messages.push_back(text(**next));
  }
}

TEST(Codec, CarriesEveryMessage) {
  for (const Message& message : sampleMessages()) {
    FrameReader reader;
    reader.feed(encodeFrame(message));
    EXPECT_THAT(drain(reader), ::testing::ElementsAre(text(message)));
  }
}

TEST(Codec, KeepsBytesAndSixtyFourBitNumbers) {
  FrameReader reader;
  const Message message = sampleMessages()[2];
  reader.feed(encodeFrame(message));
  const auto received = reader.next();
  ASSERT_THAT(received, IsOk());
  const auto& evaluate = std::get<Evaluate>(**received);
  EXPECT_EQ(evaluate.binary, std::get<Evaluate>(message).binary);
  EXPECT_EQ(evaluate.request, ~0ULL);
  EXPECT_EQ(evaluate.plan.steps.size(), 3U);
}

TEST(FrameReader, TakesFramesByteByByte) {
  std::string stream;
  std::vector<std::string> expected;
  for (const Message& message : sampleMessages()) {
    stream += encodeFrame(message);
    expected.push_back(text(message));
  }
  FrameReader reader;
  std::vector<std::string> received;
  for (const char byte : stream) {
    reader.feed(std::string_view(&byte, 1));
    const auto messages = drain(reader);
    received.insert(received.end(), messages.begin(), messages.end());
  }
  EXPECT_EQ(received, expected);
}

TEST(FrameReader, TakesManyFramesAtOnceAndForALongTime) {
  const std::string frame = encodeFrame(Heartbeat{1, std::string(3000, 's')});
  std::string stream;
  for (int i = 0; i < 50; ++i) {
    stream += frame;
  }
  FrameReader reader;
  std::size_t count = 0;
  for (int i = 0; i < 20; ++i) {
    reader.feed(std::string_view(stream).substr(0, stream.size() - 1));
    count += drain(reader).size();
    reader.feed(std::string_view(stream).substr(stream.size() - 1));
    count += drain(reader).size();
  }
  EXPECT_EQ(count, 1000U);
}

TEST(FrameReader, WaitsForTheRestOfATruncatedFrame) {
  const std::string frame = encodeFrame(Heartbeat{1, "time"});
  for (std::size_t length = 0; length < frame.size(); ++length) {
    FrameReader reader;
    reader.feed(frame.substr(0, length));
    EXPECT_THAT(drain(reader), ::testing::IsEmpty()) << length;
  }
}

TEST(FrameReader, RefusesAnOversizedLengthBeforeThePayload) {
  FrameReader reader;
  reader.feed(std::string_view("\x01\x00\x00\x10\x01\x00\x00\x00\x00", 9));
  EXPECT_THAT(reader.next(), IsError(ErrorKind::Protocol, HasSubstr("claims 268435457 bytes")));
}

TEST(FrameReader, RefusesUnknownTypes) {
  for (const char type : {'\0', static_cast<char>(kMaxMessageType + 1), '\xFF'}) {
    std::string frame = encodeFrame(Shutdown{});
    frame[4] = type;
    FrameReader reader;
    reader.feed(frame);
    EXPECT_THAT(reader.next(), IsError(ErrorKind::Protocol, HasSubstr("unknown type")));
  }
}

TEST(FrameReader, RefusesAWrongChecksumAndStaysBroken) {
  std::string frame = encodeFrame(Heartbeat{1, "time"});
  frame.back() = static_cast<char>(frame.back() ^ 1);
  FrameReader reader;
  reader.feed(frame);
  EXPECT_THAT(reader.next(), IsError(ErrorKind::Protocol, HasSubstr("checksum")));
  reader.feed(encodeFrame(Shutdown{}));
  EXPECT_THAT(reader.next(), IsError(ErrorKind::Protocol, HasSubstr("checksum"))) << "the stream cannot be trusted";
}

TEST(FrameReader, DetectsEveryFlippedBit) {
  const std::string frame = encodeFrame(Heartbeat{1, "time"});
  for (std::size_t i = 0; i < frame.size() * 8; ++i) {
    std::string damaged = frame;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    FrameReader reader;
    reader.feed(damaged);
    const auto next = reader.next();
    EXPECT_TRUE(!next || !*next) << "bit " << i;
  }
}

TEST(FrameReader, RefusesTextOnTheStream) {
  FrameReader reader;
  reader.feed("Traceback (most recent call last):\n");
  EXPECT_THAT(reader.next(), IsError(ErrorKind::Protocol, _));
}

// A well-formed frame, checksum included, whose payload is not what its type promises.
std::string reframe(std::uint8_t type, const Message& message) {
  std::string frame = encodeFrame(message);
  frame[4] = static_cast<char>(type);
  return frame;
}

TEST(FrameReader, RefusesAPayloadOfAnotherMessage) {
  FrameReader reader;
  reader.feed(reframe(3, Heartbeat{1, "time"}));
  EXPECT_THAT(reader.next(), IsError(ErrorKind::Protocol, HasSubstr("cannot be used")));
}

TEST(FrameReader, RefusesAPlanThatWouldIndexOutOfRange) {
  Evaluate evaluate = std::get<Evaluate>(sampleMessages()[2]);
  evaluate.plan.steps.emplace_back(domain::ZeroStep{domain::ValueId(1000)});
  FrameReader reader;
  reader.feed(encodeFrame(evaluate));
  EXPECT_THAT(reader.next(), IsError(ErrorKind::Protocol, HasSubstr("names buffer 1000")));
}

}  // namespace
}  // namespace swage::wire
