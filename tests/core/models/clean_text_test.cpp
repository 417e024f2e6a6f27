// SPDX-License-Identifier: Apache-2.0
#include "core/models/clean_text.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace swage::models {
namespace {

TEST(CleanText, KeepsWhatPeopleAndCompilersRead) {
  EXPECT_EQ(cleanText("int x;\n\tGr\xC3\xB6\xC3\x9F"
                      "e \xF0\x9F\x98\x80\r\n",
                      100),
            "int x;\n\tGr\xC3\xB6\xC3\x9F"
            "e \xF0\x9F\x98\x80\n");
}

TEST(CleanText, DropsWhatHidesOrMoves) {
  using namespace std::string_view_literals;
  EXPECT_EQ(cleanText("a\0b\x07"
                      "c"sv,
                      100),
            "abc");
  EXPECT_EQ(cleanText("\x1b[31mred\x1b[0m \x1b]0;title\x07x", 100), "red x");
  EXPECT_EQ(cleanText("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6"
                      "c\xE2\x80\x8B"
                      "d\xEF\xBB\xBF",
                      100),
            "abcd");
  EXPECT_EQ(cleanText("x\x1b[", 100), "x");
}

TEST(CleanText, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(cleanText("a\xFF"
                      "b\xC3",
                      100),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(cleanText("\xC0\xAF", 100), "\xEF\xBF\xBD\xEF\xBF\xBD") << "an overlong slash";
  EXPECT_EQ(cleanText("\xED\xA0\x80", 100).substr(0, 3), "\xEF\xBF\xBD") << "a surrogate";
}

TEST(CleanText, CutsBetweenCharacters) {
  EXPECT_EQ(cleanText("ab\xC3\xB6", 3), "ab");
  EXPECT_EQ(cleanLine("a\nb\tc", 100), "a b c");
}

TEST(WithoutSecrets, HidesKeysAndTheHomeFolder) {
  const std::array<std::string, 1> secrets{"my-own-secret"};
  EXPECT_EQ(withoutSecrets("x my-own-secret y", secrets), "x [hidden] y");
  EXPECT_EQ(withoutSecrets("Incorrect API key: sk-abcdefghijklmnop123."), "Incorrect API key: [hidden]");
  EXPECT_EQ(withoutSecrets("hf_ABCDEFGHIJKLMNOP ghp_ABCDEFGHIJKLMNOP"), "[hidden] [hidden]");
  EXPECT_EQ(withoutSecrets("task-scheduler sk-short"), "task-scheduler sk-short");
  ::setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(withoutSecrets("File \"/home/somebody/model.py\""), "File \"~/model.py\"");
}

}  // namespace
}  // namespace swage::models
