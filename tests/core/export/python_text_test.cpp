// SPDX-License-Identifier: Apache-2.0
#include "core/export/python_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include <nlohmann/json.hpp>

namespace swage::exporting {
namespace {

TEST(PythonText, WritesNumbersThatKeepTheirTypeAndValue) {
  EXPECT_EQ(pythonFloat(1.0), "1.0");
  EXPECT_EQ(pythonFloat(0.1), "0.1");
  EXPECT_EQ(pythonFloat(1e300), "1e+300");
  EXPECT_EQ(pythonFloat(-std::numeric_limits<double>::infinity()), "float(\"-inf\")");
  EXPECT_EQ(pythonFloat(std::numeric_limits<double>::quiet_NaN()), "float(\"nan\")");
  EXPECT_EQ(pythonTuple({}), "()");
  EXPECT_EQ(pythonTuple({4}), "(4,)");
  EXPECT_EQ(pythonTuple({4, -1}), "(4, -1)");
}

TEST(PythonText, WritesEveryKindOfArgument) {
  using domain::Argument;
  const domain::ArgumentList list = {Argument{domain::ValueId(3)},
                                     Argument{true},
                                     Argument{std::int64_t{2}},
                                     Argument{std::monostate{}},
                                     Argument{std::string("a\n")},
                                     Argument{domain::ScalarType::BFloat16},
                                     Argument{domain::DeviceArgument{}},
                                     Argument{domain::LayoutArgument{"strided"}},
                                     Argument{domain::MemoryFormatArgument{"channels_last"}}};
  EXPECT_EQ(pythonArgument({list}),
            "[v3, True, 2, None, \"a\\n\", torch.bfloat16, device, torch.strided, torch.channels_last]");
}

TEST(PythonText, QuotesBlocksWithWhatTheyDoNotContain) {
  EXPECT_EQ(pythonBlock("a\n"), "r\"\"\"\na\n\"\"\"");
  EXPECT_EQ(pythonBlock("\"\"\"\n"), "r'''\n\"\"\"\n'''");
  EXPECT_EQ(pythonBlock("\"\"\" '''\n"), "\"\\\"\\\"\\\" '''\\n\"");
  EXPECT_EQ(pythonBlock("a\\"), "\"a\\\\\"");
}

TEST(PythonText, PacksBytes) {
  EXPECT_EQ(pythonBytes("abc", Packing::Plain).value_or(""), "(\n    \"YWJj\"\n)");
  EXPECT_EQ(pythonBytes("", Packing::Plain).value_or(""), "(\n    \"\"\n)");
}

TEST(PythonText, RenamesIdentifiersThatTheCheckerRefuses) {
  EXPECT_EQ(withoutCheckedWords("int pass = bypass(passes);"), "int pass_ = bypass(passes);");
  EXPECT_FALSE(hasCheckedWord("bypass passes tryout:"));
  EXPECT_TRUE(hasCheckedWord("one pass"));
  EXPECT_TRUE(hasCheckedWord("all except two"));
}

}  // namespace
}  // namespace swage::exporting
