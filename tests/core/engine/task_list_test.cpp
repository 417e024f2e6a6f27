// SPDX-License-Identifier: Apache-2.0
#include "core/engine/task_list.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace swage::engine {
namespace {

TEST(TaskList, IsByNameWithTheFirstLineOfTheirDocstring) {
  const testing::TempDir folder;
  std::ofstream(folder / "b.py") << "# SPDX-License-Identifier: MIT\n\n\"\"\"Sums rows.\n\nMore of it.\n\"\"\"\n";
  std::ofstream(folder / "a.py") << "import torch\n\n\"\"\"no docstring\"\"\"\n";
  std::ofstream(folder / "notes.txt") << "";
  const std::vector<ListedTask> tasks = listTasks(folder.path());
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].name, "a");
  EXPECT_EQ(tasks[0].description, "");
  EXPECT_EQ(tasks[1].path, folder / "b.py");
  EXPECT_EQ(tasks[1].description, "Sums rows.");
  EXPECT_TRUE(listTasks(folder / "none").empty());
  EXPECT_EQ(firstDocLine(R"("""  One line. """)"), "One line.");
  EXPECT_EQ(firstDocLine("# only a comment"), "");
}

}  // namespace
}  // namespace swage::engine
