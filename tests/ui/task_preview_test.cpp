// SPDX-License-Identifier: Apache-2.0
#include "ui/models/task_preview.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFileInfo>

#include "core/base/files.h"
#include "tests/support/temp_dir.h"
#include "ui/models/task_catalogue.h"
#include "ui/models/task_tree.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

class TaskPreviewTest : public ::testing::Test {
 protected:
  QString write(const char* name, const std::string& text) {
    EXPECT_TRUE(writeFileAtomically(folder / name, text).has_value());
    return QString::fromStdString((folder / name).string());
  }
  QStringList inputs(const std::string& text) { return ui::readTaskPreview(write("task.py", text)).inputs; }

  TempDir folder;
};

TEST_F(TaskPreviewTest, PutsTheConstantsOfTheFileIntoTheShapes) {
  EXPECT_EQ(inputs("rows = 64\ncolumns = rows * 1_024  # wide\n\ndef get_inputs():\n"
                   "    return [torch.randn(rows, columns)]\n\ndef get_init_inputs():\n    return [torch.ones(3)]\n"),
            QStringList{u"float32 [64, 65536]"_s});
}

TEST_F(TaskPreviewTest, ReadsTuplesTypesAndSeveralInputs) {
  EXPECT_EQ(inputs("batch = 8\nshape = (batch, 100)\n\ndef get_inputs():\n    return [torch.randn(shape),\n"
                   "            torch.randint(0, 100, (batch,)), torch.rand(4, 4, dtype=torch.float16)]\n"),
            (QStringList{u"float32 [8, 100]"_s, u"int64 [8]"_s, u"float16 [4, 4]"_s}));
}

TEST_F(TaskPreviewTest, WhatCannotBeToldStaysAsItIsWritten) {
  EXPECT_EQ(inputs("def get_inputs():\n    n = pick()\n    return [torch.rand(n, side() + 1)]\n"),
            QStringList{u"float32 [n, side() + 1]"_s});
  EXPECT_EQ(inputs("class Model: pass\n"), QStringList{});
}

TEST_F(TaskPreviewTest, OfABundleItIsWhatWasImported) {
  std::filesystem::create_directory(folder / "bundle");
  write("bundle/source.py", "class Model: pass\n");
  write("bundle/task.json", R"({"graph": {"values": [{"dtype": "float32", "shape": [3]},
      {"dtype": "int64", "shape": [16, 64]}], "inputs": [{"value": 0, "kind": "parameter", "name": "w"},
      {"value": 1, "kind": "user", "name": "x"}]}})");
  const ui::TaskPreview task = ui::readTaskPreview(QString::fromStdString((folder / "bundle").string()));
  EXPECT_EQ(task.inputs, QStringList{u"int64 [16, 64]"_s});
  EXPECT_EQ(task.source, u"class Model: pass\n"_s);
}

TEST_F(TaskPreviewTest, SaysThatAFileIsGone) {
  EXPECT_TRUE(ui::readTaskPreview(u"/nowhere/model.py:Net"_s).obstacle.contains(u"/nowhere/model.py"_s));
}

TEST_F(TaskPreviewTest, ATaskIsFoundFromAnotherFolder) {
  const QString file = write("model.py", "");
  const QString before = QDir::currentPath();
  QDir::setCurrent(QString::fromStdString(folder.path().string()));
  const QString given = ui::absoluteTask(u"model.py:Net"_s);
  const QStringList mended = ui::mendedTasks({u"model.py"_s, u"gone.py"_s, u"/gone/too.py"_s, file}, {});
  QDir::setCurrent(before);
  EXPECT_EQ(QFileInfo(ui::fileOfTask(given)).canonicalFilePath(), QFileInfo(file).canonicalFilePath());
  EXPECT_TRUE(given.endsWith(u"/model.py:Net"_s));
  EXPECT_EQ(mended.size(), 2) << "one file once, and what is absolute stays: it may come back";
  EXPECT_EQ(ui::absoluteTask(u"no_such_file.py"_s), u"no_such_file.py"_s);
  EXPECT_EQ(ui::kindOfPath(given), ui::PathKind::Task);
}

TEST_F(TaskPreviewTest, AnOldEntryMayBeABundledTask) {
  write("softmax_rows.py", "");
  const QString bundled = QString::fromStdString(folder.path().string());
  EXPECT_EQ(ui::mendedTasks({u"elsewhere/tasks/softmax_rows.py"_s}, bundled),
            QStringList{bundled + u"/softmax_rows.py"_s});
}

}  // namespace
}  // namespace swage::testing
