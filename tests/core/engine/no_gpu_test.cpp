// SPDX-License-Identifier: Apache-2.0
// A machine whose GPU or driver does not work: everything else does.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "core/engine/doctor_service_impl.h"
#include "core/process/target_choice.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::engine {
namespace {

using services::DoctorCheck;
using ::testing::HasSubstr;
using testing::waitFor;

class NoGpu : public ::testing::Test {
 protected:
  // A program that says `text`, on its standard error when it fails.
  std::string script(const std::string& name, const std::string& text, int exitCode) {
    const std::filesystem::path file = m_folder / name;
    std::ofstream(file) << "#!/bin/sh\necho '" << text << "'" << (exitCode != 0 ? " >&2" : "") << "\nexit " << exitCode
                        << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
  }
  // What the doctor says of the GPU when the driver's module is loaded and the worker ends like this.
  std::optional<DoctorCheck> gpuCheck(const std::string& worker,
                                      process::DriverState driver = process::DriverState::Loaded) {
    return checkNamed("GPU", worker, worker, driver);
  }
  std::optional<DoctorCheck> checkNamed(const std::string& name, const std::string& worker, const std::string& compiler,
                                        process::DriverState driver) {
    process::Locations locations;
    locations.worker = worker;
    locations.compiler = compiler;
    locations.python = "/nonexistent/python";
    DoctorServiceImpl doctor(locations, m_folder / "project", driver);
    std::optional<std::vector<DoctorCheck>> checks;
    QObject::connect(&doctor, &services::DoctorService::finished, &doctor,
                     [&checks](const std::vector<DoctorCheck>& found) { checks = found; });
    doctor.start();
    EXPECT_TRUE(waitFor([&] { return checks.has_value(); }));
    const auto found =
        std::find_if(checks->begin(), checks->end(), [&name](const DoctorCheck& check) { return check.name == name; });
    return found == checks->end() ? std::nullopt : std::optional(*found);
  }
  Result<domain::DeviceKind> choice(const std::string& wanted, const std::string& python) {
    process::TargetChoice choice({python, "/nonexistent"}, wanted, process::DriverState::Loaded);
    std::optional<Result<domain::DeviceKind>> chosen;
    QObject::connect(&choice, &process::TargetChoice::finished, &choice,
                     [&chosen](const Result<domain::DeviceKind>& target) { chosen = target; });
    choice.start();
    EXPECT_TRUE(waitFor([&] { return chosen.has_value(); }));
    return *chosen;
  }

  testing::TempDir m_folder;
};

TEST_F(NoGpu, TheDoctorSaysWhyTheGpuDoesNotWorkAndWhatToDo) {
  const auto check = gpuCheck(script("worker", "cannot start the NVIDIA driver: error (803): reboot", 5));
  ASSERT_TRUE(check);
  EXPECT_EQ(check->status, DoctorCheck::Status::Warning) << "the CPU still works";
  EXPECT_FALSE(check->required);
  EXPECT_THAT(check->detail, HasSubstr("error (803): reboot"));
  EXPECT_THAT(check->fix, HasSubstr("--target cpu"));
}

TEST_F(NoGpu, TheDoctorShowsAGpuThatWorks) {
  const auto check = gpuCheck(script("worker", "Fake GPU, sm_90a, 1.1 GB", 0));
  ASSERT_TRUE(check);
  EXPECT_EQ(check->status, DoctorCheck::Status::Ok);
  EXPECT_EQ(check->detail, "Fake GPU, sm_90a, 1.1 GB");
}

TEST_F(NoGpu, WithoutADriverTheDoctorAsksForNoGpu) {
  EXPECT_FALSE(gpuCheck(script("worker", "", 5), process::DriverState::Absent));
}

// Where bubblewrap cannot be used the compiler takes Landlock: a search can run, and the doctor must not deny it.
TEST_F(NoGpu, TheSandboxIsTheOneThatTheCompilerTakes) {
  const std::string landlock = script("compiler", "Landlock, because bubblewrap cannot be used here", 0);
  const auto check = checkNamed("sandbox", landlock, landlock, process::DriverState::Absent);
  ASSERT_TRUE(check);
  EXPECT_EQ(check->status, DoctorCheck::Status::Ok);
  EXPECT_EQ(check->detail, "Landlock, because bubblewrap cannot be used here");
  const std::string none = script("compiler", "none, as chosen", 0);
  const auto warned = checkNamed("sandbox", none, none, process::DriverState::Absent);
  ASSERT_TRUE(warned);
  EXPECT_EQ(warned->status, DoctorCheck::Status::Warning);
  EXPECT_THAT(warned->fix, HasSubstr("search.sandbox"));
  const std::string neither = script("compiler", "no namespaces, no Landlock", 12);
  const auto failed = checkNamed("sandbox", neither, neither, process::DriverState::Absent);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->status, DoctorCheck::Status::Failed);
  EXPECT_THAT(failed->detail, HasSubstr("no namespaces, no Landlock"));
  EXPECT_THAT(failed->fix, HasSubstr("bubblewrap"));
}

TEST_F(NoGpu, AutoTakesTheCpuWhenTheDriverIsLoadedButNoDeviceWorks) {
  const std::string python = script("python", R"({"torch": {"version": "2.11.0", "devices": []}})", 0);
  const Result<domain::DeviceKind> target = choice("auto", python);
  ASSERT_TRUE(target.has_value()) << target.error().message();
  EXPECT_EQ(*target, domain::DeviceKind::Cpu);
}

}  // namespace
}  // namespace swage::engine
