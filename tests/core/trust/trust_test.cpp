// SPDX-License-Identifier: Apache-2.0
#include "core/trust/trust.h"

#include <gmock/gmock.h>

#include "tests/support/result_matchers.h"

namespace swage::trust {
namespace {

using ::testing::HasSubstr;

TEST(HeldBackAssurance, IsPassedByWhatWasCheckedWithThoseSeeds) {
  domain::Correct correct;
  correct.byInputs = {{"task", 5, {}}, {"held back", 3, {}}};
  const auto assurance = heldBackAssurance(correct);
  ASSERT_TRUE(assurance.has_value());
  EXPECT_EQ(assurance->kind, domain::AssuranceKind::HeldBackSeeds);
  EXPECT_EQ(assurance->verdict, domain::AssuranceVerdict::Passed);
  EXPECT_EQ(assurance->detail, "3 seeds that no other check used");
}

TEST(HeldBackAssurance, IsFailedByWhatIsWrongThere) {
  domain::Wrong wrong;
  wrong.detail = "relative L2 error 1 (limit 1e-6) (held back inputs)";
  const auto assurance = heldBackAssurance(wrong);
  ASSERT_TRUE(assurance.has_value());
  EXPECT_EQ(assurance->verdict, domain::AssuranceVerdict::Failed);
  EXPECT_THAT(assurance->detail, HasSubstr("held back inputs"));
}

TEST(HeldBackAssurance, SaysNothingOfWhatDidNotGetThere) {
  domain::Correct screened;
  screened.byInputs = {{"task", 5, {}}};
  EXPECT_FALSE(heldBackAssurance(screened).has_value());
  domain::Wrong wrong;
  wrong.detail = "no kernel wrote this element (check 1 of 5)";
  EXPECT_FALSE(heldBackAssurance(wrong).has_value());
  EXPECT_FALSE(heldBackAssurance(domain::Crashed{}).has_value());
}

}  // namespace
}  // namespace swage::trust
