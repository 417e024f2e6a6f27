// SPDX-License-Identifier: Apache-2.0
#include "core/engine/doctor_service_impl.h"

#include <gmock/gmock.h>

namespace swage::engine {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(DoctorProbe, NamesTheMissingTorch) {
  const auto checks = checksFromProbe(Error(ErrorKind::Environment, "no torch"), "/usr/bin/python3");
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].status, services::DoctorCheck::Status::Failed);
  EXPECT_TRUE(checks[0].required);
  EXPECT_THAT(checks[0].detail, HasSubstr("no torch"));
  EXPECT_FALSE(checks[0].fix.empty());
}

TEST(DoctorProbe, AnotherTorchIsAWarningAndNoNvrtcToo) {
  const auto checks =
      checksFromProbe(json::parse(R"({"torch": {"version": "2.3.0"}, "nvidia": {"nvrtc": null}})"), "/usr/bin/python3");
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].status, services::DoctorCheck::Status::Warning);
  EXPECT_EQ(checks[1].status, services::DoctorCheck::Status::Warning);
}

}  // namespace
}  // namespace swage::engine
