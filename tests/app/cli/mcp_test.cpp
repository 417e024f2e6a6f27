// SPDX-License-Identifier: Apache-2.0
// `swage mcp` without an agent: what is read of a project, and what the program says on its streams. The whole path,
// with the official client, is tests/e2e/mcp_session.py.
#include <gmock/gmock.h>

#include <QProcess>

#include "app/cli/mcp_archive.h"
#include "app/cli/mcp_text.h"
#include "app/cli/mcp_tools.h"
#include "tests/core/store/large_record.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::cli {
namespace {

using domain::Json;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(McpText, IsCutBetweenCharactersAndSaysSo) {
  EXPECT_EQ(limited("four", 4, "rest"), "four");
  EXPECT_EQ(limited("a\xC3\xA4z", 2, "see there"), "a\n[cut here: 3 bytes more; see there]");
}

TEST(McpText, ASubmitterHasANameThatCanBeTypedInAFilter) {
  EXPECT_EQ(submitterName("Claude-Code").text(), "mcp/claude code");
  EXPECT_EQ(submitterName("").text(), "mcp");
  EXPECT_EQ(submitterName("***").text(), "mcp");
  EXPECT_EQ(submitterName("agent 1.0.").text(), "mcp/agent 1.0");
  EXPECT_THAT(submitterName(std::string(500, 'x')).text(), StartsWith("mcp/xxx"));
}

TEST(McpTools, OnlyWhoMaySubmitIsOfferedIt) {
  const auto isNamed = [](const char* name) { return Field(&mcp::Tool::name, name); };
  EXPECT_THAT(mcpTools(McpAccess::ReadOnly), Not(Contains(isNamed("submit_kernel"))));
  EXPECT_THAT(mcpTools(McpAccess::Submissions), Contains(isNamed("submit_kernel")));
  for (const mcp::Tool& tool : mcpTools(McpAccess::ReadOnly)) {
    EXPECT_TRUE(tool.isReadOnly) << tool.name;
    EXPECT_THAT(tool.description, HasSubstr("KiB")) << tool.name;
  }
}

class McpArchiveTest : public ::testing::Test {
 protected:
  testing::TempDir m_folder;
  domain::RunId m_run = testing::makeLargeRecord(m_folder / "project", 200);
  McpArchive m_archive{{}, m_folder / "project"};
};

TEST_F(McpArchiveTest, ListsTheFastestCandidatesThatMatchAndCountsTheOthers) {
  const auto json = m_archive.archive(m_run, {.island = std::nullopt, .filter = "status:correct", .limit = 3});
  ASSERT_THAT(json, testing::IsOk());
  ASSERT_THAT((*json)["candidates"], SizeIs(3));
  EXPECT_GE((*json)["candidates"][0]["speedup"], (*json)["candidates"][1]["speedup"]);
  EXPECT_EQ((*json)["candidates"][2]["status"], "correct");
  EXPECT_GT((*json)["candidates_left_out"], 0);
  EXPECT_THAT((*json)["cells"], Not(IsEmpty()));
}

TEST_F(McpArchiveTest, AFilterThatCannotBeReadIsAnError) {
  EXPECT_THAT(m_archive.archive(m_run, {.island = std::nullopt, .filter = "colour:red", .limit = 3}),
              testing::IsError(ErrorKind::Usage, HasSubstr("colour")));
}

TEST_F(McpArchiveTest, KnowsTheNewestRunAndNoneOfAProjectThatIsNotThere) {
  EXPECT_EQ(m_archive.newestRun(), m_run);
  EXPECT_FALSE(McpArchive({}, m_folder / "nothing").newestRun().isValid());
}

TEST_F(McpArchiveTest, ReadsTheResourcesOfCandidates) {
  const auto listed = m_archive.resources(m_run);
  ASSERT_THAT(listed, Not(IsEmpty()));
  EXPECT_THAT(listed[0].uri, EndsWith("/source"));
  EXPECT_THAT(m_archive.read(listed[0].uri), testing::IsOk());
  for (const char* wrong : {"", "swage://candidate/", "swage://candidate/x/source", "swage://candidate/1",
                            "swage://candidate/-1/source", "swage://candidate/1/secrets", "file:///etc/passwd"}) {
    EXPECT_THAT(m_archive.read(wrong), testing::IsError(ErrorKind::NotFound, HasSubstr("no resource"))) << wrong;
  }
}

// What the program answers to these lines on its standard input, a document for each line.
std::vector<Json> answersTo(const std::filesystem::path& project, const std::vector<std::string>& lines) {
  QProcess process;
  process.start(QStringLiteral(SWAGE_PROGRAM),
                {QStringLiteral("mcp"), QString::fromStdString(project.string()), QStringLiteral("-vv")});
  for (const std::string& line : lines) {
    process.write(QByteArray::fromStdString(line + "\n"));
  }
  process.closeWriteChannel();
  EXPECT_TRUE(process.waitForFinished(60000));
  EXPECT_EQ(process.exitCode(), 0);
  std::vector<Json> answers;
  for (const QByteArray& line : process.readAllStandardOutput().split('\n')) {
    if (!line.isEmpty()) {
      answers.push_back(Json::parse(line.toStdString(), nullptr, false));
    }
  }
  return answers;
}

constexpr const char* kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}})";

TEST_F(McpArchiveTest, TheProgramSpeaksNothingButTheProtocolOnStandardOutput) {
  const auto answers = answersTo(
      m_folder / "project",
      {kInitialize, "nonsense",
       R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_archive","arguments":{"limit":1}}})",
       R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"submit_kernel","arguments":{}}})"});
  ASSERT_THAT(answers, SizeIs(4));
  EXPECT_EQ(answers[0]["result"]["protocolVersion"], "2025-03-26");
  EXPECT_EQ(answers[1]["error"]["code"], -32700);
  EXPECT_EQ(answers[2]["result"]["isError"], false);
  EXPECT_EQ(answers[3]["result"]["isError"], true);
  EXPECT_THAT(answers[3]["result"]["content"][0]["text"].get<std::string>(), HasSubstr("--allow-submissions"));
}

TEST_F(McpArchiveTest, ALineWithoutEndIsRefusedAndTheNextOneAnswered) {
  const auto answers = answersTo(m_folder / "project", {kInitialize, std::string(std::size_t{6} << 20U, 'x'),
                                                        R"({"jsonrpc":"2.0","id":2,"method":"ping"})"});
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[1]["error"]["code"], -32600);
  EXPECT_EQ(answers[2]["id"], 2);
}

}  // namespace
}  // namespace swage::cli
