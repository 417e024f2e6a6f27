// SPDX-License-Identifier: Apache-2.0
#include "core/process/bridge_call.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::process {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;
using testing::waitFor;

// A shell script in the place of Python.
class BridgeCallTest : public ::testing::Test {
 protected:
  Result<nlohmann::json> call(const std::string& script, std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    const std::filesystem::path python = m_folder / "python";
    std::ofstream(python) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    return callProgram(python.string(), limit);
  }
  Result<nlohmann::json> callProgram(const std::string& python,
                                     std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    BridgeCall bridge({python, "/bridge"}, {"import", "task.py"}, limit);
    std::optional<Result<nlohmann::json>> result;
    QObject::connect(&bridge, &BridgeCall::finished, &bridge, [&](const Result<nlohmann::json>& document) {
      EXPECT_FALSE(result.has_value());
      result = document;
    });
    bridge.start();
    if (m_cancel) {
      bridge.cancel();
    }
    EXPECT_TRUE(waitFor([&] { return result.has_value(); }));
    return result.value_or(Error(ErrorKind::Internal, "no result"));
  }

  testing::TempDir m_folder;
  bool m_cancel = false;
};

TEST_F(BridgeCallTest, ReturnsTheDocumentAndPassesArgumentsAndPath) {
  const auto document = call(R"(printf '{"args": "%s", "path": "%s"}\n' "$*" "$PYTHONPATH")");
  ASSERT_THAT(document, IsOk());
  EXPECT_EQ((*document)["args"], "-m swage_bridge import task.py");
  EXPECT_EQ((*document)["path"], "/bridge");
}

TEST_F(BridgeCallTest, AnErrorDocumentBecomesAnErrorWithPlaceAndHint) {
  const auto document = call(
      R"(echo '{"error":{"kind":"no_model","message":"no class Model","hint":"name one","file":"t.py","line":3}}'; exit 4)");
  EXPECT_THAT(document, IsError(ErrorKind::InvalidInput, "t.py:3: no class Model"));
  EXPECT_EQ(document.error().hint(), "name one");
}

TEST_F(BridgeCallTest, ExitCode5IsTheEnvironmentsFault) {
  const auto document =
      call(R"(echo '{"error":{"kind":"no_torch","message":"no torch","hint":"","file":null,"line":null}}'; exit 5)");
  EXPECT_THAT(document, IsError(ErrorKind::Environment, "no torch"));
}

TEST_F(BridgeCallTest, NoDocumentShowsTheEndOfStandardError) {
  EXPECT_THAT(call("echo 'No module named swage_bridge' >&2; exit 1"),
              IsError(ErrorKind::Environment, HasSubstr("No module named swage_bridge")));
}

TEST_F(BridgeCallTest, ADocumentOfAnotherShapeIsNotTaken) {
  EXPECT_THAT(call("echo '[1, 2]'"), IsError(ErrorKind::Environment, HasSubstr("without a result")));
}

TEST_F(BridgeCallTest, AMissingPythonNamesIt) {
  EXPECT_THAT(callProgram("/nonexistent/python"), IsError(ErrorKind::Environment, HasSubstr("/nonexistent/python")));
}

TEST_F(BridgeCallTest, AHangEndsAtTheLimit) {
  EXPECT_THAT(call("sleep 1000", std::chrono::milliseconds(100)), IsError(ErrorKind::Timeout, HasSubstr("import")));
}

TEST_F(BridgeCallTest, CancelIsNotAFailure) {
  m_cancel = true;
  EXPECT_THAT(call("sleep 1000"), IsError(ErrorKind::Cancelled, HasSubstr("cancelled")));
}

}  // namespace
}  // namespace swage::process
