// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/sandbox.h"

#include <gmock/gmock.h>

#include <fmt/ranges.h>

#include "tests/support/result_matchers.h"

namespace swage::toolchain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;

SandboxSpec someSpec() {
  SandboxSpec spec;
  spec.binds = {{"/job/in", "/in", Access::ReadOnly}, {"/job/out", "/out", Access::Writable}};
  spec.environment = {{"LD_LIBRARY_PATH", "/nvrtc"}};
  spec.workingDirectory = "/out";
  return spec;
}

// Whoever changes this text also raises kSandboxRecipeVersion.
TEST(Sandbox, BuildsExactlyTheReviewedCommand) {
  EXPECT_EQ(kSandboxRecipeVersion, 1);
  EXPECT_EQ(fmt::format("{}", fmt::join(sandboxCommand(someSpec(), {"/usr/bin/g++", "-O3"}), " ")),
            "bwrap --unshare-all --unshare-user --disable-userns --die-with-parent --new-session --clearenv "
            "--cap-drop ALL --setenv PATH /usr/bin --setenv HOME /tmp --setenv LC_ALL C.UTF-8 "
            "--setenv LD_LIBRARY_PATH /nvrtc --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 "
            "--symlink usr/bin /bin --proc /proc --remount-ro /proc --dev /dev --remount-ro /dev "
            "--size 536870912 --tmpfs /tmp --ro-bind /job/in /in --bind /job/out /out --remount-ro / --chdir /out -- "
            "/usr/bin/prlimit --nproc=64 -- /usr/bin/g++ -O3");
}

TEST(Sandbox, NoneRunsTheProgramItselfOnHostPaths) {
  SandboxSpec spec = someSpec();
  spec.mode = SandboxMode::None;
  EXPECT_THAT(sandboxCommand(spec, {"/usr/bin/g++", "-O3"}), ElementsAre("/usr/bin/g++", "-O3"));
  EXPECT_EQ(insidePath(SandboxMode::None, spec.binds[0]), "/job/in");
  EXPECT_EQ(insidePath(SandboxMode::Bubblewrap, spec.binds[0]), "/in");
}

TEST(Sandbox, WithoutNamespacesTheCompilerEnclosesItsTools) {
  SandboxSpec spec;
  spec.mode = SandboxMode::Landlock;
  spec.bubblewrap = "/opt/swage-compiler";
  spec.binds = {{"/job/in", "/in", Access::ReadOnly}, {"/job/out", "/out", Access::Writable}};
  EXPECT_EQ(sandboxCommand(spec, {"g++", "-c"}),
            (std::vector<std::string>{"/opt/swage-compiler", "--enclose", "--read", "/job/in", "--write", "/job/out",
                                      "--", "g++", "-c"}));
  EXPECT_EQ(insidePath(spec.mode, spec.binds[0]), "/job/in");
  EXPECT_THAT(outerEnvironment(spec), ::testing::Contains(std::pair<std::string, std::string>("TMPDIR", "/job/out")));
}

TEST(Sandbox, PassesNothingOfOurEnvironmentToBubblewrap) {
  EXPECT_THAT(outerEnvironment(someSpec()), ElementsAre(std::pair<std::string, std::string>("PATH", "/usr/bin:/bin")));
}

TEST(Sandbox, SaysWhatToDoWhenBubblewrapIsMissing) {
  const auto result = checkSandbox("/nowhere/bwrap");
  EXPECT_THAT(result, IsError(ErrorKind::Sandbox,
                              HasSubstr("sandbox unavailable: cannot start '/nowhere/bwrap': No such file")));
  EXPECT_THAT(result.error().hint(), HasSubstr("install bubblewrap"));
  EXPECT_THAT(result.error().hint(), HasSubstr("apt install bubblewrap"));
}

TEST(Sandbox, ReportsABubblewrapThatFails) {
  EXPECT_THAT(checkSandbox("/usr/bin/false"),
              IsError(ErrorKind::Sandbox, HasSubstr("sandbox unavailable: '/usr/bin/false' ended with code 1")));
}

}  // namespace
}  // namespace swage::toolchain
