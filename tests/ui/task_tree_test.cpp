// SPDX-License-Identifier: Apache-2.0
#include "ui/models/task_tree.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QDir>

#include <fstream>

#include "tests/support/temp_dir.h"
#include "ui/models/task_catalogue.h"
#include "ui/models/task_tree_model.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

class TaskTree : public ::testing::Test {
 protected:
  void write(const std::filesystem::path& name, const char* text = "class Model(nn.Module): ...\n") const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  [[nodiscard]] QString path(const std::filesystem::path& name = {}) const {
    return QString::fromStdString((name.empty() ? folder.path() : folder / name).string());
  }
  // "Model(file [inner])": what a user sees, in one line.
  [[nodiscard]] static QString print(const TaskNode& node) {
    QStringList parts;
    for (const TaskNode& child : node.children) {
      parts << (child.children.empty() ? child.name : QString(child.name + u"["_s + print(child) + u"]"_s));
    }
    return parts.join(u" "_s);
  }

  swage::testing::TempDir folder;
};

TEST_F(TaskTree, ListsModulesAndBundlesInTheOrderOfTheirNumbers) {
  write("10_Tanh.py");
  write("9_Relu.py");
  write("helpers.py", "def helper(): ...\n");
  write("README.md", "nn.Module");
  write("deep/er/norm.py");
  write("empty/notes.txt");
  write("softmax.swage/task.json", "{}");
  EXPECT_EQ(print(scanTasks(path())), u"deep[er[norm]] softmax.swage 9_Relu 10_Tanh"_s);
}

TEST_F(TaskTree, OfACheckoutOfKernelBenchShowsItsLevels) {
  write("KernelBench/level1/1_A.py");
  write("KernelBench/level2/3_B.py");
  write("src/kernelbench/eval.py");
  const TaskNode root = scanTasks(path());
  EXPECT_EQ(print(root), u"level1[1_A] level2[3_B]"_s);
  EXPECT_EQ(root.path, path());
  EXPECT_EQ(taskCount(root), 2);
}

TEST_F(TaskTree, PassesOverEnvironmentsAndLinks) {
  write("venv/pyvenv.cfg", "");
  write("venv/lib/model.py");
  write("__pycache__/model.py");
  write("real/model.py");
  std::filesystem::create_directory_symlink(folder.path(), folder / "real" / "round");
  EXPECT_EQ(print(scanTasks(path())), u"real[model]"_s);
}

TEST_F(TaskTree, AFolderThatCannotBeReadIsEmpty) {
  EXPECT_TRUE(scanTasks(path("nowhere")).children.empty());
}

TEST_F(TaskTree, KnowsWhatAPathIs) {
  write("task.py");
  write("bundle/task.json", "{}");
  write("project/runs.sqlite", "");
  EXPECT_EQ(kindOfPath(path("task.py")), PathKind::Task);
  EXPECT_EQ(kindOfPath(path("bundle")), PathKind::Task);
  EXPECT_EQ(kindOfPath(path("project")), PathKind::Project);
  EXPECT_EQ(kindOfPath(path()), PathKind::TaskFolder);
  EXPECT_EQ(kindOfPath(path("bundle/task.json")), PathKind::Nothing);
  EXPECT_EQ(kindOfPath(path("nowhere")), PathKind::Nothing);
}

TEST_F(TaskTree, ARecentTaskStandsWithItsFolderUnlessItIsBundled) {
  const QString home = QDir::homePath();
  TaskTreeModel model;
  model.setRoots({taskGroupWithPlaces(
      u"Recent"_s, {home + u"/projects/deep/models/net.py:Net"_s, u"/tasks/softmax.py"_s}, {u"/tasks/softmax.py"_s})});
  const QModelIndex recent = model.index(0, 0);
  EXPECT_EQ(model.index(0, 0, recent).data().toString(), u"net:Net – ~/…/models"_s);
  EXPECT_EQ(model.index(1, 0, recent).data().toString(), u"softmax"_s);
  EXPECT_EQ(shortPlace(u"/data/models/net.py"_s), u"/data/models"_s);
  EXPECT_EQ(shortPlace(u"/data/a/b/models/net.py"_s), u"/data/…/models"_s);
  EXPECT_EQ(shortPlace(home + u"/models/net.py"_s), u"~/models"_s);
}

TEST_F(TaskTree, NoFolderIsNotTheCurrentOne) {
  write("net.py");
  EXPECT_EQ(tasksIn(path()).size(), 1U);
  const QString before = QDir::currentPath();
  ASSERT_TRUE(QDir::setCurrent(path()));
  EXPECT_TRUE(tasksIn({}).empty());
  QDir::setCurrent(before);
}

TEST_F(TaskTree, IsAModelThatHoldsTogether) {
  TaskTreeModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
  write("level1/1_A.py", "\"\"\"Adds.\"\"\"\nnn.Module\n");
  model.setRoots({scanTasks(path()), taskGroup(u"Recent"_s, {path("level1/1_A.py")})});
  ASSERT_EQ(model.rowCount(), 2);
  const QModelIndex level = model.index(0, 0, model.index(0, 0));
  EXPECT_EQ(level.data(), u"level1 (1)"_s);
  const QModelIndex task = model.index(0, 0, level);
  EXPECT_EQ(task.parent(), level);
  EXPECT_TRUE(task.data(TaskTreeModel::IsTaskRole).toBool());
  EXPECT_TRUE(task.data(Qt::ToolTipRole).toString().startsWith(u"Adds."_s));
  model.setRoots({});
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace swage::ui
