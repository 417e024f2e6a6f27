// SPDX-License-Identifier: Apache-2.0
#include "core/process/device_lease.h"

#include <gmock/gmock.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::process {
namespace {

using ::testing::HasSubstr;

domain::DeviceInfo gpu(const std::string& uuid) {
  domain::DeviceInfo device;
  device.kind = domain::DeviceKind::Cuda;
  device.host = "host";
  device.uuid = uuid;
  device.name = "Fake GPU";
  return device;
}

class DeviceLeaseTest : public ::testing::Test {
 protected:
  DeviceLeaseTest() { ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1); }
  ~DeviceLeaseTest() override { ::unsetenv("XDG_RUNTIME_DIR"); }

  testing::TempDir m_folder;
};

TEST_F(DeviceLeaseTest, IsForOneAtATimeAndNamesItsHolder) {
  auto first = DeviceLease::take(gpu("GPU-1"));
  ASSERT_THAT(first, testing::IsOk());
  const auto second = DeviceLease::take(gpu("GPU-1"));
  EXPECT_THAT(second, testing::IsError(ErrorKind::Locked, HasSubstr("process " + std::to_string(::getpid()))));
  EXPECT_THAT(second.error().message(), HasSubstr("Fake GPU (GPU-1)"));
  EXPECT_THAT(DeviceLease::take(gpu("GPU-2")), testing::IsOk()) << "another device is free";
  first = DeviceLease::take(gpu("GPU-3"));
  EXPECT_THAT(DeviceLease::take(gpu("GPU-1")), testing::IsOk()) << "given back with the object";
}

TEST_F(DeviceLeaseTest, DiesWithItsProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = DeviceLease::take(gpu("GPU-1"));
    std::ofstream(m_folder / "taken") << (held ? "yes" : "no");
    for (;;) {
      ::pause();
    }
  }
  while (!std::filesystem::exists(m_folder / "taken")) {
    ::usleep(1000);
  }
  EXPECT_THAT(DeviceLease::take(gpu("GPU-1")), testing::IsError(ErrorKind::Locked, HasSubstr(std::to_string(child))));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(DeviceLease::take(gpu("GPU-1")), testing::IsOk());
}

TEST_F(DeviceLeaseTest, ACpuNeedsNone) {
  domain::DeviceInfo cpu = gpu("CPU-1");
  cpu.kind = domain::DeviceKind::Cpu;
  const auto first = DeviceLease::take(cpu);
  EXPECT_THAT(first, testing::IsOk());
  EXPECT_THAT(DeviceLease::take(cpu), testing::IsOk());
}

TEST_F(DeviceLeaseTest, AFolderThatIsNoneIsRefused) {
  std::ofstream(m_folder / "swage") << "in the way";
  EXPECT_THAT(DeviceLease::take(gpu("GPU-1")),
              testing::IsError(ErrorKind::Environment, HasSubstr("not a folder of yours")));
}

}  // namespace
}  // namespace swage::process
