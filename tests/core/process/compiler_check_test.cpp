// SPDX-License-Identifier: Apache-2.0
#include "core/process/compiler_check.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <vector>

#include "core/process/programs.h"
#include "tests/support/result_matchers.h"
#include "tests/support/wait_for.h"

namespace swage::process {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

Result<> check(LaunchCommand command) {
  CompilerCheck check(std::move(command));
  std::vector<Result<>> answers;
  QObject::connect(&check, &CompilerCheck::finished, &check,
                   [&answers](const Result<>& usable) { answers.push_back(usable); });
  check.start();
  EXPECT_TRUE(testing::waitFor([&answers] { return !answers.empty(); }));
  return answers.empty() ? Error(ErrorKind::Internal, "no answer") : answers.front();
}

// A compiler that says so, if it is asked whether it can work.
Result<> checkOf(const std::string& script) {
  return check({.program = "/bin/sh", .arguments = {"-c", "[ \"$0\" = --check ] || exit 99; " + script}});
}

TEST(CompilerCheck, ACompilerThatCanWorkIsUsable) {
  EXPECT_THAT(checkOf("exit 0"), IsOk());
}

TEST(CompilerCheck, AMissingSandboxIsAnErrorOfItsOwnKind) {
  const Result<> usable = checkOf("echo no user namespaces >&2; exit 12");
  EXPECT_THAT(usable, IsError(ErrorKind::Sandbox, HasSubstr("no user namespaces")));
  EXPECT_THAT(usable.error().hint(), HasSubstr("`--sandbox none`"));
}

TEST(CompilerCheck, AChosenSandboxReachesTheCompiler) {
  ::unsetenv("SWAGE_SANDBOX");
  EXPECT_EQ(Programs::standard({}).sandbox, "auto");
  ::setenv("SWAGE_SANDBOX", "none", 1);
  const Programs programs = Programs::standard({});
  ::unsetenv("SWAGE_SANDBOX");
  EXPECT_EQ(programs.sandbox, kNoSandbox);
  EXPECT_THAT(programs.compilerCommand.arguments, ::testing::ElementsAre("--sandbox", "none"));
}

TEST(CompilerCheck, AnyOtherEndIsTheEnvironmentsFault) {
  EXPECT_THAT(checkOf("echo no compiler >&2; exit 5"), IsError(ErrorKind::Environment, HasSubstr("no compiler")));
  EXPECT_THAT(checkOf("kill -9 $$"), IsError(ErrorKind::Environment, HasSubstr("signal 9")));
  EXPECT_THAT(check({.program = "/nonexistent/swage-compiler"}),
              IsError(ErrorKind::Environment, HasSubstr("/nonexistent/swage-compiler")));
}

}  // namespace
}  // namespace swage::process
