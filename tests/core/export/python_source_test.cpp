// SPDX-License-Identifier: Apache-2.0
#include "core/export/python_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/result_matchers.h"

namespace swage::exporting {
namespace {

using swage::testing::IsError;
using swage::testing::IsOk;
using ::testing::HasSubstr;

const std::string kModel = "class Model(Base):\n    x = 1\n";

std::string kept(const std::string& source) {
  const auto result = extractModule(source + kModel, "Model");
  EXPECT_THAT(result, IsOk());
  std::string text = result ? result->text : "";
  const std::string model = "class _OriginalModel(Base):\n    x = 1\n";
  EXPECT_TRUE(text.ends_with(model)) << text;
  return text.substr(0, text.size() - std::min(text.size(), model.size()));
}

TEST(PythonSource, RenamesTheClassButNotAttributesAndStrings) {
  EXPECT_EQ(kept("y = other.Model, 'Model', Model  # Model\n"), "y = other.Model, 'Model', _OriginalModel  # Model\n");
}

TEST(PythonSource, LeavesOutInputsMainAndTheDocstring) {
  EXPECT_EQ(kept("\"\"\"Text.\"\"\"\n"
                 "def get_inputs():\n    return []\n\n    # still inside\n    x = 1\n"
                 "if __name__ == \"__main__\":\n    main()\nelse:\n    x = 2\n"
                 "print(get_inputs())\n"
                 "example = get_inputs()[0]\n"
                 "a = 1\n"),
            "a = 1\n");
}

TEST(PythonSource, KeepsConstructorArgumentsUnderAPrivateName) {
  const auto result = extractModule(kModel + "def get_init_inputs():\n    return [n]", "Model");
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->hasInitInputs);
  EXPECT_THAT(result->text, HasSubstr("def _original_init_inputs():\n    return [n]\n"));
}

TEST(PythonSource, SeparatesFutureImports) {
  const auto result = extractModule("from __future__ import annotations\nimport torch\n" + kModel, "Model");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->futureImports, "from __future__ import annotations\n");
  EXPECT_TRUE(result->text.starts_with("import torch\n"));
}

TEST(PythonSource, TakesWordsOutThatTheCheckerRefuses) {
  EXPECT_EQ(kept("def f():\n    \"\"\"A forward pass.\"\"\"\n    pass\n"), "def f():\n    ...\n    ...\n");
  EXPECT_EQ(kept("def f():\n    \"\"\"Fine.\"\"\"\n"), "def f():\n    \"\"\"Fine.\"\"\"\n");
  EXPECT_EQ(kept("a = 'one pass, except two'\n"), "a = 'one p\\x61ss, \\x65xcept two'\n");
}

TEST(PythonSource, UnderstandsStringsBracketsAndContinuations) {
  EXPECT_EQ(kept("a = '''\nclass Model:\n'''\nb = [\n1,\n# n\n2]\nc = 1 + \\\n  2\n"),
            "a = '''\nclass Model:\n'''\nb = [\n1,\n# n\n2]\nc = 1 + \\\n  2\n");
  EXPECT_EQ(kept("@decorate(\n'x')\ndef f(): return rb'\\''\n"), "@decorate(\n'x')\ndef f(): return rb'\\''\n");
  EXPECT_EQ(kept("a = 1\r\n"), "a = 1\r\n");
}

TEST(PythonSource, RefusesWhatIsNotPython) {
  EXPECT_THAT(extractModule("x = 1\ny = 'a\n", "Model"),
              IsError(ErrorKind::InvalidInput, HasSubstr("string is never closed at line 2")));
  EXPECT_THAT(extractModule("x = (1\n", "Model"),
              IsError(ErrorKind::InvalidInput, HasSubstr("bracket is never closed")));
  EXPECT_THAT(extractModule("x = 1)\n", "Model"),
              IsError(ErrorKind::InvalidInput, HasSubstr("bracket closes nothing at line 1")));
  EXPECT_THAT(extractModule("", "Model"), IsError(ErrorKind::NotFound, HasSubstr("no class Model")));
}

}  // namespace
}  // namespace swage::exporting
