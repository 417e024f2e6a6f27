// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/words.h"

#include <gmock/gmock.h>

namespace swage::retrieval {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Words, OfIdentifiersAreThoseTheyAreMadeOf) {
  EXPECT_THAT(wordsOf("rowSoftmax row_softmax; Long rows"),
              ElementsAre("row", "softmax", "row", "softmax", "long", "row"));
  EXPECT_THAT(wordsOf("sm_90 and sm 80"), ElementsAre("sm90", "and", "sm80"));
  EXPECT_THAT(wordsOf("..."), IsEmpty());
  EXPECT_THAT(wordsOf(std::string(100, 'x')), IsEmpty());
}

TEST(Words, PluralsAreTheirSingulars) {
  EXPECT_THAT(wordsOf("latencies classes boxes bias GPUs"), ElementsAre("latency", "class", "box", "bias", "gpu"));
}

TEST(Words, ThatMeanTheSameShareAnIdea) {
  EXPECT_THAT(withIdeas(wordsOf("a GEMM")), Contains("idea.product"));
  EXPECT_THAT(withIdeas(wordsOf("matrix multiplication")), Contains("idea.product"));
  EXPECT_THAT(withIdeas(wordsOf("H200")), Contains("idea.hopper"));
  EXPECT_THAT(withIdeas(wordsOf("sm_90")), Contains("idea.hopper"));
  EXPECT_THAT(withIdeas(wordsOf("cheese")), ElementsAre("cheese"));
}

TEST(Words, SynonymsAreSingleWordsOnceEach) {
  const auto words = withSynonyms(wordsOf("gemm gemm"));
  EXPECT_THAT(words, Contains("matmul"));
  EXPECT_THAT(words, Not(Contains("matrix multiplication")));
  EXPECT_EQ(std::count(words.begin(), words.end(), "gemm"), 1);
}

TEST(Words, FillersSayNothing) {
  EXPECT_TRUE(isFiller("the"));
  EXPECT_FALSE(isFiller("softmax"));
}

}  // namespace
}  // namespace swage::retrieval
