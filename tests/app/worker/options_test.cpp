// SPDX-License-Identifier: Apache-2.0
#include "app/worker/options.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/support/result_matchers.h"

namespace swage::worker {
namespace {

using ::testing::HasSubstr;

TEST(WorkerOptions, DefaultToTheCpu) {
  const auto options = parseOptions({});
  ASSERT_THAT(options, testing::IsOk());
  EXPECT_EQ(options->target, domain::DeviceKind::Cpu);
  EXPECT_EQ(options->threads, 0);
}

TEST(WorkerOptions, NameADeviceAndThreads) {
  const std::vector<const char*> arguments = {"--device", "cuda:3", "--threads", "8"};
  const auto options = parseOptions(arguments);
  ASSERT_THAT(options, testing::IsOk());
  EXPECT_EQ(options->target, domain::DeviceKind::Cuda);
  EXPECT_EQ(options->ordinal, 3);
  EXPECT_EQ(options->threads, 8);
}

TEST(WorkerOptions, StandByAndCheckTakeNoValue) {
  const std::vector<const char*> arguments = {"--stand-by", "--device", "cuda:1", "--check"};
  const auto options = parseOptions(arguments);
  ASSERT_THAT(options, testing::IsOk());
  EXPECT_TRUE(options->standBy);
  EXPECT_TRUE(options->check);
  EXPECT_EQ(options->ordinal, 1);
}

TEST(WorkerOptions, RefuseWhatTheyDoNotKnow) {
  for (const std::vector<const char*>& arguments : std::vector<std::vector<const char*>>{{"--device", "tpu"},
                                                                                         {"--device", "cuda:"},
                                                                                         {"--device", "cuda:x"},
                                                                                         {"--threads", "-1"},
                                                                                         {"--threads"},
                                                                                         {"file"}}) {
    EXPECT_THAT(parseOptions(arguments), testing::IsError(ErrorKind::Usage, HasSubstr("'"))) << arguments.front();
  }
}

}  // namespace
}  // namespace swage::worker
