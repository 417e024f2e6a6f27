// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/job_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::toolchain {
namespace {

using ::testing::_;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::TempDir;

TEST(JobDirectory, IsRemovedWithEverythingInIt) {
  std::filesystem::path root;
  {
    const auto job = JobDirectory::create();
    ASSERT_THAT(job, IsOk());
    root = job->root();
    std::ofstream(job->out() / "kernel.so") << "x";
    EXPECT_TRUE(std::filesystem::is_directory(job->in()));
  }
  EXPECT_FALSE(std::filesystem::exists(root));
}

TEST(JobDirectory, IsRemovedByOthersOnlyWhereItsProcessIsGone) {
  const auto used = JobDirectory::create();
  ASSERT_THAT(used, IsOk());
  const auto base = used->root().parent_path();
  const auto left = base / ("swage-compile-" + std::to_string(::getpid()));
  const auto fresh = base / ("swage-compile-" + std::to_string(::getpid()) + "-fresh");
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::minutes(5);
  for (const auto& folder : {left, fresh}) {
    std::filesystem::create_directories(folder / "out");
  }
  std::ofstream(left / "out" / "kernel.so") << "x";
  std::filesystem::last_write_time(left, old);
  std::filesystem::last_write_time(used->root(), old);
  JobDirectory::removeAbandoned();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(fresh)) << "may not be locked yet";
  EXPECT_TRUE(std::filesystem::exists(used->out()));
  std::filesystem::remove_all(fresh);
}

TEST(ReadUntrustedFile, ReadsARegularFile) {
  const TempDir folder;
  std::ofstream(folder / "f") << "content";
  const auto text = readUntrustedFile(folder / "f", 100);
  ASSERT_THAT(text, IsOk());
  EXPECT_EQ(*text, "content");
}

TEST(ReadUntrustedFile, FollowsNoLink) {
  const TempDir folder;
  std::filesystem::create_symlink("/etc/passwd", folder / "link");
  EXPECT_THAT(readUntrustedFile(folder / "link", 1 << 20), IsError(ErrorKind::Io, HasSubstr("cannot read 'link'")));
}

TEST(ReadUntrustedFile, DoesNotWaitForAFifo) {
  const TempDir folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(readUntrustedFile(folder / "fifo", 100), IsError(ErrorKind::InvalidInput, HasSubstr("'fifo'")));
}

TEST(ReadUntrustedFile, RefusesWhatIsTooLargeOrMissing) {
  const TempDir folder;
  std::ofstream(folder / "f") << "content";
  EXPECT_THAT(readUntrustedFile(folder / "f", 3), IsError(ErrorKind::InvalidInput, _));
  EXPECT_THAT(readUntrustedFile(folder / "g", 3), IsError(ErrorKind::NotFound, HasSubstr("'g'")));
}

}  // namespace
}  // namespace swage::toolchain
