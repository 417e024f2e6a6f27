// SPDX-License-Identifier: Apache-2.0
#include "core/trust/rig.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/process/device_lease.h"
#include "tests/core/process/fakes.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::trust {
namespace {

using ::testing::ElementsAre;
using testing::fakeWorker;
using ::testing::HasSubstr;
using testing::waitFor;

class RigTest : public ::testing::Test {
 protected:
  RigTest() { ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1); }
  ~RigTest() override { ::unsetenv("XDG_RUNTIME_DIR"); }

  void start(const process::LaunchCommand& worker) {
    m_options.worker.command = worker;
    m_options.worker.stopGrace = std::chrono::milliseconds(200);
    m_options.task = [](const domain::DeviceInfo&) {
      wire::LoadTask load;
      load.task = testing::tinyTask();
      return load;
    };
    m_rig = std::make_unique<Rig>(m_options);
    Rig* rig = m_rig.get();
    QObject::connect(rig, &Rig::taken, rig, [this] { m_heard.emplace_back("taken"); });
    QObject::connect(rig, &Rig::loading, rig, [this] { m_heard.emplace_back("loading"); });
    QObject::connect(rig, &Rig::ready, rig, [this] { m_heard.emplace_back("ready"); });
    QObject::connect(rig, &Rig::refused, rig, [this](const Error& error) { hear("refused", error); });
    QObject::connect(rig, &Rig::lost, rig, [this](const Error& error) { hear("lost", error); });
    QObject::connect(rig, &Rig::stopped, rig, [this] { m_heard.emplace_back("stopped"); });
    rig->start();
  }
  void hear(const char* what, const Error& error) {
    m_heard.emplace_back(what);
    m_errors.push_back(error.message());
  }
  [[nodiscard]] bool waitForLast(const std::string& what) const {
    return waitFor([&] { return !m_heard.empty() && m_heard.back() == what; });
  }
  [[nodiscard]] bool stop() {
    m_rig->stop();
    return waitForLast("stopped");
  }
  static domain::DeviceInfo gpu() {
    domain::DeviceInfo device;
    device.kind = domain::DeviceKind::Cuda;
    device.host = "test";
    device.uuid = "GPU-fake";
    return device;
  }

  testing::TempDir m_folder;
  Rig::Options m_options;
  std::unique_ptr<Rig> m_rig;
  std::vector<std::string> m_heard;
  std::vector<std::string> m_errors;
};

TEST_F(RigTest, IsReadyWhenItsWorkerHasTheTask) {
  start(fakeWorker("ok"));
  ASSERT_TRUE(waitForLast("ready"));
  EXPECT_EQ(m_rig->device().uuid, "fake-cpu");
  EXPECT_FALSE(m_rig->isGone());
  ASSERT_TRUE(stop());
  EXPECT_TRUE(m_rig->isGone());
  EXPECT_THAT(m_heard, ElementsAre("taken", "loading", "ready", "stopped"));
}

TEST_F(RigTest, RefusesADeviceThatWillNotDo) {
  m_options.admit = [](const domain::DeviceInfo& device) -> Result<> {
    return Error(ErrorKind::Environment, device.uuid + " will not do");
  };
  start(fakeWorker("ok"));
  ASSERT_TRUE(waitForLast("refused"));
  ASSERT_TRUE(stop());
  EXPECT_THAT(m_heard, ElementsAre("refused", "stopped"));
  EXPECT_THAT(m_errors, ElementsAre("fake-cpu will not do"));
}

TEST_F(RigTest, RefusesADeviceThatAnotherTimesOn) {
  const auto lease = process::DeviceLease::take(gpu());
  ASSERT_THAT(lease, testing::IsOk());
  start(fakeWorker("ok", {"--gpu"}));
  ASSERT_TRUE(waitForLast("refused"));
  ASSERT_TRUE(stop());
  m_heard.clear();
  m_options.takesLease = false;
  start(fakeWorker("ok", {"--gpu"}));
  EXPECT_TRUE(waitForLast("ready")) << "where the caller has it";
}

TEST_F(RigTest, KeepsTheDeviceUntilItGivesItBack) {
  start(fakeWorker("ok", {"--gpu"}));
  ASSERT_TRUE(waitForLast("ready"));
  ASSERT_TRUE(stop());
  EXPECT_FALSE(process::DeviceLease::take(gpu()));
  m_rig->giveBackDevice();
  EXPECT_THAT(process::DeviceLease::take(gpu()), testing::IsOk());
}

TEST_F(RigTest, LetsNobodyOnADeviceWhoseSelfTestCannotBeDone) {
  m_options.selfTest = SelfTestPolicy{.corpus = m_folder / "none", .verdicts = m_folder / "verdicts", .skip = false};
  start(fakeWorker("ok"));
  ASSERT_TRUE(waitForLast("refused"));
  ASSERT_TRUE(stop());
  EXPECT_THAT(m_heard, ElementsAre("taken", "refused", "stopped"));
  EXPECT_FALSE(m_rig->ground());
}

TEST_F(RigTest, SaysThatTheSelfTestWasSkipped) {
  m_options.selfTest = SelfTestPolicy{.corpus = m_folder / "none", .verdicts = m_folder / "verdicts", .skip = true};
  start(fakeWorker("ok"));
  ASSERT_TRUE(waitForLast("ready"));
  EXPECT_EQ(m_rig->ground(), SelfTestGate::Ground::Skipped);
}

TEST_F(RigTest, RefusesATaskAsItsWorkerDoes) {
  start(fakeWorker("refuse_task"));
  ASSERT_TRUE(waitForLast("refused"));
  EXPECT_THAT(m_errors, ElementsAre(HasSubstr("no such operator")));
  ASSERT_TRUE(stop());
}

TEST_F(RigTest, LosesAWorkerThatCannotStart) {
  start({.program = "/nonexistent/swage-worker"});
  ASSERT_TRUE(waitForLast("lost"));
  ASSERT_TRUE(stop());
  EXPECT_THAT(m_heard, ElementsAre("lost", "stopped"));
}

TEST_F(RigTest, StopsOnceHoweverOftenItIsTold) {
  start(fakeWorker("ok"));
  m_rig->stop();
  m_rig->kill();
  m_rig->stop();
  ASSERT_TRUE(waitForLast("stopped"));
  m_rig->stop();
  EXPECT_FALSE(waitFor([this] { return m_heard.size() > 1; }, std::chrono::milliseconds(200)));
  EXPECT_THAT(m_heard, ElementsAre("stopped"));
}

}  // namespace
}  // namespace swage::trust
