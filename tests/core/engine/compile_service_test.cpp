// SPDX-License-Identifier: Apache-2.0
#include "core/engine/compile_service_impl.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/core/process/fakes.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::engine {
namespace {

using testing::fakeCompiler;
using ::testing::HasSubstr;
using testing::waitFor;

struct Watched {
  explicit Watched(process::LaunchCommand command, std::chrono::milliseconds patience = std::chrono::milliseconds(3000))
      : service({.compiler = std::move(command), .patience = patience}) {
    QObject::connect(&service, &services::CompileService::compiled, &service,
                     [this](std::uint64_t number, const Result<domain::CompileOutcome>& outcome) {
                       EXPECT_TRUE(outcomes.emplace(number, outcome).second) << number << " came twice";
                     });
  }
  std::uint64_t compile(const std::string& source) {
    domain::CompileRequest request;
    request.source = source;
    request.entries = {"tiny_kernel"};
    return service.compile(std::move(request));
  }
  [[nodiscard]] bool answered(std::uint64_t number) {
    return waitFor([this, number] { return outcomes.contains(number); });
  }
  [[nodiscard]] std::string bytes(std::uint64_t number) const {
    const auto& outcome = outcomes.at(number);
    const auto* binary = outcome ? std::get_if<domain::CompiledBinary>(&*outcome) : nullptr;
    return binary != nullptr ? binary->bytes : std::string();
  }

  CompileServiceImpl service;
  std::map<std::uint64_t, Result<domain::CompileOutcome>> outcomes;
};

TEST(CompileService, OnlyTheNewestDraftIsAnswered) {
  Watched watched(fakeCompiler("ok"));
  static_cast<void>(watched.compile("one"));
  static_cast<void>(watched.compile("two"));
  const std::uint64_t newest = watched.compile("three");
  ASSERT_TRUE(watched.answered(newest));
  EXPECT_EQ(watched.outcomes.size(), 1U);
  EXPECT_EQ(watched.bytes(newest), "binary of three");
  const std::uint64_t next = watched.compile("four");
  ASSERT_TRUE(watched.answered(next));
  EXPECT_EQ(watched.bytes(next), "binary of four");
}

TEST(CompileService, ASourceThatDoesNotCompileIsAnOutcome) {
  Watched watched(fakeCompiler("compile_error"));
  const std::uint64_t number = watched.compile("one");
  ASSERT_TRUE(watched.answered(number));
  ASSERT_THAT(watched.outcomes.at(number), testing::IsOk());
  EXPECT_EQ(std::get<domain::CompileFailed>(*watched.outcomes.at(number)).log, "expected ';'");
}

TEST(CompileService, ADraftThatNobodyWaitsForDoesNotHoldUpTheNext) {
  const testing::TempDir folder;
  const std::filesystem::path hung = folder / "hung";
  Watched watched(fakeCompiler("hang", {"--once", hung.string()}), std::chrono::milliseconds(50));
  static_cast<void>(watched.compile("for ever"));
  ASSERT_TRUE(waitFor([&hung] { return std::filesystem::exists(hung); }));
  const std::uint64_t next = watched.compile("the next");
  ASSERT_TRUE(watched.answered(next));
  EXPECT_EQ(watched.bytes(next), "binary of the next");
  EXPECT_EQ(watched.outcomes.size(), 1U);
}

TEST(CompileService, NothingIsHeardAfterCancel) {
  Watched watched(fakeCompiler("ok"));
  const std::uint64_t cancelled = watched.compile("one");
  watched.service.cancel();
  const std::uint64_t next = watched.compile("two");
  ASSERT_TRUE(watched.answered(next));
  EXPECT_FALSE(watched.outcomes.contains(cancelled));
}

TEST(CompileService, SurroundingsThatCannotCompileAreAnErrorOfEachDraft) {
  Watched watched(process::LaunchCommand{.program = "/nowhere/swage-compiler", .arguments = {}});
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t number = watched.compile("one");
    ASSERT_TRUE(watched.answered(number));
    EXPECT_THAT(watched.outcomes.at(number), testing::IsError(ErrorKind::Environment, HasSubstr("compilers")));
  }
}

TEST(CompileService, ACandidateThatIsNotThereIsAnErrorThatComesLater) {
  const testing::TempDir folder;
  Watched watched(fakeCompiler("ok"));
  const std::uint64_t number =
      watched.service.compile({.project = folder / "none", .parent = domain::CandidateId(1), .source = "a"});
  EXPECT_TRUE(watched.outcomes.empty());
  ASSERT_TRUE(watched.answered(number));
  EXPECT_FALSE(watched.outcomes.at(number));
}

}  // namespace
}  // namespace swage::engine
