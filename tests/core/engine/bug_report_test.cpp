// SPDX-License-Identifier: Apache-2.0
#include "core/engine/bug_report.h"

#include <gmock/gmock.h>

namespace swage::engine {
namespace {

const Identity kSomebody{.home = "/home/ada", .user = "ada", .host = "engine7"};

TEST(Redacted, HidesHomeUserAndHost) {
  EXPECT_EQ(redacted("ada@engine7: /home/ada/.config and /home/grace/x", kSomebody),
            "USER@HOST: ~/.config and /home/USER/x");
}

TEST(Redacted, LeavesWordsThatOnlyContainAName) {
  EXPECT_EQ(redacted("adapter on engine70, canada", kSomebody), "adapter on engine70, canada");
}

TEST(Redacted, HidesKeysOfServicesAndMostOfAUuid) {
  EXPECT_EQ(redacted("sk-abcdef123456 hf_QWERTYUIOP GPU-01234567-89ab-cdef-0123-456789abcdef", kSomebody),
            "KEY KEY GPU-0123…");
}

TEST(Redacted, ARootWithoutAHomeHidesNothingElse) {
  EXPECT_EQ(redacted("/root is the root of all", Identity{.home = "/root", .user = "root", .host = ""}),
            "~ is the root of all");
}

}  // namespace
}  // namespace swage::engine
