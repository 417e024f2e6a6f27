// SPDX-License-Identifier: Apache-2.0
#include "core/process/locations.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/scoped_variable.h"
#include "tests/support/temp_dir.h"

namespace swage::process {
namespace {

using ::testing::ElementsAre;
using testing::ScopedVariable;

void makeFile(const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << "x";
}

void makeProgram(const std::filesystem::path& path) {
  makeFile(path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

class LocationsTest : public ::testing::Test {
 protected:
  testing::TempDir m_folder;
  const testing::ScopedVariable m_data{"XDG_DATA_HOME", m_folder.path().string()};
};

TEST_F(LocationsTest, FindsResourcesOfAnInstallation) {
  std::filesystem::create_directories(m_folder / "share/swage/bridge");
  const Locations found = Locations::find(m_folder / "bin");
  EXPECT_EQ(found.worker, m_folder / "bin/swage-worker");
  EXPECT_EQ(found.patterns, m_folder / "share/swage/patterns");
}

TEST_F(LocationsTest, FindsResourcesOfTheSourceTreeAroundTheBuild) {
  std::filesystem::create_directories(m_folder / "resources/bridge/swage_bridge");
  const Locations found = Locations::find(m_folder / "build/release/bin");
  EXPECT_EQ(found.bridge, m_folder / "resources/bridge");
  EXPECT_EQ(found.patterns, m_folder / "patterns");
}

TEST_F(LocationsTest, TheEnvironmentChoosesPython) {
  const ScopedVariable chosen("SWAGE_PYTHON", "/my/python");
  EXPECT_EQ(Locations::find(m_folder / "bin").python, "/my/python");
}

TEST_F(LocationsTest, APythonOfThePathIsFoundWithTheCudaPackagesBesideIt) {
  const ScopedVariable path("PATH", (m_folder / "env/bin").string());
  const ScopedVariable chosen("SWAGE_PYTHON", "python3");
  makeProgram(m_folder / "env/bin/python3");
  makeFile(m_folder / "env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  makeFile(m_folder / "env/lib/python3.11/site-packages/nvidia/cu13/include/cuda_fp16.h");
  const Locations found = Locations::find(m_folder / "bin");
  EXPECT_EQ(found.python, m_folder / "env/bin/python3");
  EXPECT_EQ(found.nvrtc, m_folder / "env/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(found.cudaIncludes, m_folder / "env/lib/python3.11/site-packages/nvidia/cu13/include");
}

TEST_F(LocationsTest, AToolkitIsUsedWherePythonHasNoCudaPackages) {
  const ScopedVariable toolkit("CUDA_HOME", (m_folder / "cuda").string());
  const ScopedVariable chosen("SWAGE_PYTHON", (m_folder / "env/bin/python3").string());
  makeFile(m_folder / "cuda/lib64/libnvrtc.so.13");
  makeFile(m_folder / "cuda/include/cuda_fp16.h");
  const Locations found = Locations::find(m_folder / "bin");
  EXPECT_EQ(found.nvrtc, m_folder / "cuda/lib64/libnvrtc.so.13");
  EXPECT_EQ(found.cudaIncludes, m_folder / "cuda/include");
}

TEST_F(LocationsTest, ProjectsAreNamedAfterTheirTask) {
  const auto projects = m_folder / "swage/projects";
  EXPECT_EQ(defaultProject("some/23_Softmax.py"), projects / "23_Softmax");
  EXPECT_EQ(defaultProject("some/net.py:Block"), projects / "net");
  EXPECT_EQ(defaultProject("some/tiny.swage/"), projects / "tiny");
}

TEST_F(LocationsTest, TheProjectUsedLastComesFirst) {
  const auto projects = m_folder / "swage/projects";
  for (const char* name : {"old", "new", "empty"}) {
    std::filesystem::create_directories(projects / name);
  }
  std::ofstream(projects / "old/runs.sqlite") << "x";
  std::ofstream(projects / "new/runs.sqlite") << "x";
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(projects / "old/runs.sqlite", now - std::chrono::hours(1));
  EXPECT_THAT(knownProjects(), ElementsAre(projects / "new", projects / "old"));
}

TEST_F(LocationsTest, ABundledTaskIsFoundByItsName) {
  Locations locations;
  locations.tasks = m_folder.path();
  std::ofstream(m_folder / "softmax_rows.py") << "";
  EXPECT_EQ(resolveTask("softmax_rows", locations), m_folder / "softmax_rows.py");
  EXPECT_EQ(resolveTask("no_such_task", locations), "no_such_task");
  EXPECT_EQ(resolveTask("./softmax_rows", locations), "./softmax_rows");
}

TEST_F(LocationsTest, ATaskOfThePersonsOwnIsFoundByItsName) {
  std::filesystem::create_directories(taskFolder());
  std::ofstream(taskFolder() / "mine.py") << "";
  EXPECT_EQ(resolveTask("mine", {}), taskFolder() / "mine.py");
}

}  // namespace
}  // namespace swage::process
