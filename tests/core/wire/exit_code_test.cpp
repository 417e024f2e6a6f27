// SPDX-License-Identifier: Apache-2.0
#include "core/wire/exit_code.h"

#include <gtest/gtest.h>

namespace swage::wire {
namespace {

TEST(ExitCodes, TellFailuresApart) {
  EXPECT_EQ(exitCodeFor(ErrorKind::Usage), ExitCode::Usage);
  EXPECT_EQ(exitCodeFor(ErrorKind::Config), ExitCode::Config);
  EXPECT_EQ(exitCodeFor(ErrorKind::InvalidInput), ExitCode::InvalidInput);
  EXPECT_EQ(exitCodeFor(ErrorKind::NotFound), ExitCode::InvalidInput);
  EXPECT_EQ(exitCodeFor(ErrorKind::Unsupported), ExitCode::InvalidInput);
  EXPECT_EQ(exitCodeFor(ErrorKind::Environment), ExitCode::Environment);
  EXPECT_EQ(exitCodeFor(ErrorKind::Sandbox), ExitCode::SandboxUnavailable);
  EXPECT_EQ(exitCodeFor(ErrorKind::Storage), ExitCode::Storage);
  EXPECT_EQ(exitCodeFor(ErrorKind::Io), ExitCode::Storage);
  EXPECT_EQ(exitCodeFor(ErrorKind::Locked), ExitCode::AlreadyRunning);
  EXPECT_EQ(exitCodeFor(ErrorKind::ModelUnavailable), ExitCode::LlmUnavailable);
  EXPECT_EQ(exitCodeFor(ErrorKind::BudgetExhausted), ExitCode::BudgetExhausted);
  EXPECT_EQ(exitCodeFor(ErrorKind::Cancelled), ExitCode::Interrupted);
  EXPECT_EQ(exitCodeFor(ErrorKind::Internal), ExitCode::Internal);
}

TEST(ExitCodes, NeverSayThatAFailureIsFine) {
  for (int i = 0; i <= static_cast<int>(ErrorKind::Internal); ++i) {
    EXPECT_NE(exitCodeFor(static_cast<ErrorKind>(i)), ExitCode::Ok) << i;
  }
}

}  // namespace
}  // namespace swage::wire
