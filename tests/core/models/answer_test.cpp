// SPDX-License-Identifier: Apache-2.0
#include "core/models/answer.h"

#include "core/base/random.h"
#include "core/models/prompt.h"
#include "core/models/prompt_templates.h"
#include "tests/core/models/row_sum_task.h"
#include "tests/support/result_matchers.h"

namespace swage::models {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

const std::string kSource = "extern \"C\" void f(void** arguments) {}\n";

ChatReply replyWith(const std::string& plan, const std::string& source = kSource) {
  return {.text = "Words.\n\n```cpp\n" + source + "```\n\n```json\n" + plan + "\n```\nMore words.\n"};
}

Result<Answer> read(const ChatReply& reply, domain::Language language = domain::Language::Cpp) {
  return readAnswer(reply, language, testing::rowSumTask().graph);
}

TEST(Answer, IsASourceAndAPlanOverTheTasksTensors) {
  const auto answer = read(replyWith(R"({"intent": "one pass",
      "scratch": [{"dtype": "float32", "shape": [128, 64]}],
      "steps": [{"zero": 3}, {"node": 0},
                {"kernel": "f", "arguments": [0, 2, 3, {"i32": -5}, {"i64": 4096}, {"f32": 0.5}, {"f64": 1e-5}]}]})"));
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->intent, "one pass");
  EXPECT_EQ(answer->program.source, kSource);
  const domain::LaunchPlan& plan = answer->program.plan;
  ASSERT_EQ(plan.buffers.size(), 4U);
  EXPECT_EQ(plan.buffers[3], domain::contiguousTensor(domain::ScalarType::Float32, {128, 64}));
  EXPECT_EQ(plan.inputs, std::vector{domain::ValueId(0)});
  EXPECT_EQ(plan.outputs, std::vector{domain::ValueId(2)});
  ASSERT_EQ(plan.steps.size(), 3U);
  EXPECT_EQ(std::get<domain::AtenStep>(plan.steps[1]).node, testing::rowSumTask().graph.nodes[0]);
  EXPECT_EQ(std::get<domain::KernelStep>(plan.steps[2]).arguments.size(), 7U);
}

TEST(Answer, IsReadStrictly) {
  const std::string step = R"({"kernel": "f", "arguments": [0, 2]})";
  const auto expectError = [](const std::string& plan, const std::string& words) {
    EXPECT_THAT(read(replyWith(plan)), IsError(ErrorKind::InvalidInput, HasSubstr(words))) << plan;
  };
  expectError(R"({"steps": []})", "no kernel");
  expectError(R"({"steps": [{"node": 0}]})", "no kernel");
  expectError(R"({"steps": [{"kernel": "f", "arguments": [3]}]})", "arguments");
  expectError(R"({"steps": [{"kernel": "f", "arguments": [-1]}]})", "arguments");
  expectError(R"({"steps": [{"kernel": "f", "arguments": ["/etc/passwd"]}]})", "arguments");
  expectError(R"({"steps": [{"kernel": "f; rm -rf /", "arguments": [0]}]})", "not a C identifier");
  expectError(R"({"steps": [{"kernel": "f", "arguments": [0], "grid": [1, 1, 1]}]})", "grid");
  expectError(R"({"steps": [{"kernel": "f", "arguments": [0], "command": "ls"}]})", "command");
  expectError(R"({"steps": [)" + step + R"(], "flags": ["-ffast-math"]})", "flags");
  expectError(R"({"steps": [{"node": 2}]})", "node");
  expectError(R"({"steps": [{"aten": "aten.relu.default"}]})", "must be a kernel");
  expectError(R"({"scratch": [{"dtype": "float32", "shape": [1000000, 1000000]}], "steps": [)" + step + "]}",
              "too large");
  expectError(R"({"scratch": [{"dtype": "float99", "shape": [1]}], "steps": [)" + step + "]}", "float99");
  EXPECT_THAT(read(replyWith("{broken")), ::testing::Not(IsOk()));
  EXPECT_THAT(read(replyWith("[]")), ::testing::Not(IsOk()));
}

TEST(Answer, HasTwoBlocksAndNoOthers) {
  const ChatReply good = replyWith(R"({"steps": [{"kernel": "f", "arguments": [0, 2]}]})");
  ASSERT_THAT(read(good), IsOk());
  const auto expectError = [](const std::string& text, const std::string& words) {
    EXPECT_THAT(read({.text = text}), IsError(ErrorKind::InvalidInput, HasSubstr(words))) << text;
  };
  expectError("", "no fenced block tagged 'cpp'");
  expectError("I would rather not.", "no fenced block");
  expectError("```cpp\nint x;\n```\n", "no fenced block tagged 'json'");
  expectError(good.text + "```cpp\nint y;\n```\n", "too many");
  expectError(good.text + "```bash\nrm -rf ~\n```\n", "too many, tagged 'bash'");
  expectError(good.text + "```json\n{}\n```\n", "too many");
  expectError(good.text + "```cpp\nint y;\n", "has no end");
  expectError("```python\nimport os\n```\n```json\n{}\n```\n", "tagged 'python'");
}

TEST(Answer, ThatIsCutOffOrRefusedIsNone) {
  ChatReply reply = replyWith(R"({"steps": [{"kernel": "f", "arguments": [0, 2]}]})");
  reply.reason = StopReason::Length;
  EXPECT_THAT(read(reply), IsError(ErrorKind::InvalidInput, HasSubstr("cut off")));
  reply.reason = StopReason::Refused;
  EXPECT_THAT(read(reply), IsError(ErrorKind::InvalidInput, HasSubstr("refused")));
}

TEST(Answer, LongerFencesHoldShorterOnes) {
  const auto answer = read({.text = "````cpp\n// ```\nint x;\n````\n~~~\n```json\n"
                                    R"({"steps": [{"kernel": "f", "arguments": [0]}]})"
                                    "\n```\n"});
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->program.source, "// ```\nint x;\n");
}

TEST(Answer, RandomTextsNeverDoAnythingButFail) {
  Random random(9);
  const std::string good = replyWith(R"({"steps": [{"kernel": "f", "arguments": [0, 2, {"i64": 7}]}]})").text;
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (int change = 0; change < 4; ++change) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    const auto answer = read({.text = text});
    if (answer) {
      EXPECT_EQ(domain::findDefect(answer->program.plan), "");
    }
  }
}

TEST(Answer, TheExamplesOfThePromptsAreAnswers) {
  const auto cpp = read({.text = std::string(promptTemplate("example_cpp"))});
  ASSERT_THAT(cpp, IsOk());
  EXPECT_EQ(shortPlan(cpp->program.plan, testing::rowSumTask().graph),
            R"({"steps":[{"arguments":[0,2,{"i64":4096},{"i64":1024}],"kernel":"relu_row_sum"}]})");
  const auto cuda = read({.text = std::string(promptTemplate("example_cuda"))}, domain::Language::CudaCpp);
  ASSERT_THAT(cuda, IsOk());
  EXPECT_EQ(std::get<domain::KernelStep>(cuda->program.plan.steps[0]).grid, (domain::Dim3{4096, 1, 1}));
}

}  // namespace
}  // namespace swage::models
