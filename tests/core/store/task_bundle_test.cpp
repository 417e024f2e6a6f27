// SPDX-License-Identifier: Apache-2.0
#include "core/store/task_bundle.h"

#include "core/base/files.h"
#include "core/domain/json.h"
#include "tests/core/domain/samples.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::store {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::TempDir;

class TaskBundleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write("task.json", domain::dumpJson(domain::toJson(testing::sampleTask())));
    write("weights.safetensors", "w");
    write("source.py", "import torch\n");
  }
  void write(const char* name, const std::string& content) const {
    ASSERT_THAT(writeFileAtomically(m_directory / name, content), IsOk());
  }

  TempDir m_directory;
};

TEST_F(TaskBundleTest, IsReadWithItsFiles) {
  const auto bundle = readTaskBundle(m_directory.path());
  ASSERT_THAT(bundle, IsOk());
  EXPECT_EQ(bundle->task.name, "23_Softmax");
  EXPECT_EQ(bundle->task.id, domain::taskId(testing::sampleTask()));
  EXPECT_EQ(bundle->weights, m_directory / "weights.safetensors");
  EXPECT_EQ(bundle->source, m_directory / "source.py");
}

TEST_F(TaskBundleTest, MissingPiecesAreNamed) {
  EXPECT_THAT(readTaskBundle(m_directory / "none"), IsError(ErrorKind::NotFound, HasSubstr("none")));
  std::filesystem::remove(m_directory / "weights.safetensors");
  EXPECT_THAT(readTaskBundle(m_directory.path()), IsError(ErrorKind::NotFound, HasSubstr("weights.safetensors")));
  write("weights.safetensors", "w");
  std::filesystem::remove(m_directory / "source.py");
  EXPECT_THAT(readTaskBundle(m_directory.path()), IsError(ErrorKind::NotFound, HasSubstr("source.py")));
  std::filesystem::remove(m_directory / "task.json");
  EXPECT_THAT(readTaskBundle(m_directory.path()), IsError(ErrorKind::NotFound, HasSubstr("task.json")));
}

TEST_F(TaskBundleTest, DamagedTasksAreRefusedWithThePlace) {
  write("task.json", "{\"schema\": 1,");
  EXPECT_THAT(readTaskBundle(m_directory.path()),
              IsError(ErrorKind::InvalidInput, AllOf(HasSubstr(m_directory.path().string()), HasSubstr("byte"))));
  write("task.json", "{\"schema\": 1}");
  const auto refused = readTaskBundle(m_directory.path());
  EXPECT_THAT(refused, IsError(ErrorKind::InvalidInput, HasSubstr("task has no member 'name'")));
  EXPECT_THAT(refused.error().hint(), HasSubstr("swage import"));
}

TEST_F(TaskBundleTest, WeightsAreOptionalWithoutParameters) {
  domain::Task task = testing::sampleTask();
  task.graph.inputs.resize(1);
  task.graph.nodes.clear();
  task.graph.outputs = {{domain::ValueId(0), domain::OutputKind::User, ""}};
  write("task.json", domain::dumpJson(domain::toJson(task)));
  std::filesystem::remove(m_directory / "weights.safetensors");
  EXPECT_THAT(readTaskBundle(m_directory.path()), IsOk());
}

}  // namespace
}  // namespace swage::store
