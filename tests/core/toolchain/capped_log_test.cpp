// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/capped_log.h"

#include <gmock/gmock.h>

namespace swage::toolchain {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CappedLog, KeepsAShortTextAsItIs) {
  CappedLog log(1000);
  log.append("one ");
  log.append("two");
  EXPECT_EQ(log.text(), "one two");
}

TEST(CappedLog, KeepsHeadAndTailOfALongTextAndCountsTheRest) {
  CappedLog log(480);
  log.append("head");
  for (int i = 0; i < 10000; ++i) {
    log.append("..........");
  }
  log.append("tail");
  EXPECT_LE(log.text().size(), 480U);
  EXPECT_THAT(log.text(), StartsWith("head..."));
  EXPECT_THAT(log.text(), EndsWith("...tail"));
  EXPECT_THAT(log.text(), HasSubstr("[... 99608 bytes of output left out ...]"));
  EXPECT_EQ(log.totalBytes(), 100008U);
}

TEST(CappedLog, KeepsATextThatExactlyFits) {
  CappedLog log(480);
  log.append(std::string(200, 'a'));
  log.append(std::string(200, 'b'));
  EXPECT_EQ(log.text(), std::string(200, 'a') + std::string(200, 'b'));
}

TEST(CappedLog, CutsOneHugeAppendAsItCutsManySmallOnes) {
  CappedLog log(480);
  log.append(std::string(1000, 'a') + std::string(200, 'z'));
  EXPECT_THAT(log.text(), EndsWith(std::string(200, 'z')));
  EXPECT_THAT(log.text(), StartsWith(std::string(200, 'a')));
}

TEST(CleanedLog, DropsControlCharactersAndThePrivatePrefix) {
  EXPECT_EQ(cleanedLog("/in/source.cpp:1: \x1B[31merror\x07\n\tat /in/source.cpp", "/in/"),
            "source.cpp:1: [31merror\n\tat source.cpp");
}

TEST(CleanedLog, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(cleanedLog("ok \xC3\xA9 \xFF \xC3", {}), "ok \xC3\xA9 ? ?");
}

}  // namespace
}  // namespace swage::toolchain
