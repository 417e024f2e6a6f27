// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/nvrtc_helper.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/toolchain/text_pipe.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::toolchain {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::TempDir;

Result<NvrtcHelper> startShell(const std::string& script) {
  return NvrtcHelper::start({"/bin/sh", "-c", script}, {{"PATH", "/usr/bin:/bin"}});
}

TEST(NvrtcHelper, ThatEndsAtOnceIsReportedInItsOwnWords) {
  EXPECT_THAT(startShell("echo 'bwrap: no permissions to create a namespace' >&2; exit 1"),
              IsError(ErrorKind::Environment, HasSubstr("did not start: bwrap: no permissions to create a namespace")));
}

TEST(NvrtcHelper, ThatEndsAtOnceAndSaysNothingIsReportedAsSuch) {
  EXPECT_THAT(startShell("exit 1"), IsError(ErrorKind::Environment, HasSubstr("did not start: it ended at once")));
}

TEST(NvrtcHelper, ThatPrintsMoreThanAPipeHoldsStartsAllTheSame) {
  const TempDir folder;
  const std::filesystem::path greeting = folder.path() / "greeting";
  ASSERT_THAT(writeFileAtomically(greeting, encodeTextList({"ready", "13.0"})), IsOk());
  const auto helper = startShell(fmt::format("yes | head -c 300000 >&2; cat '{}'", greeting.string()));
  ASSERT_THAT(helper, IsOk());
  EXPECT_EQ(helper->version(), "13.0");
}

}  // namespace
}  // namespace swage::toolchain
