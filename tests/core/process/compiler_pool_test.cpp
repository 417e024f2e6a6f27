// SPDX-License-Identifier: Apache-2.0
#include "core/process/compiler_pool.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/core/process/fakes.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_for.h"

namespace swage::process {
namespace {

using testing::fakeCompiler;
using ::testing::HasSubstr;
using testing::waitFor;

struct Watched {
  explicit Watched(LaunchCommand command, int size = 2, double limitSeconds = 20.0)
      : pool({.command = std::move(command),
              .size = size,
              .limitSeconds = limitSeconds,
              .overdue = std::chrono::milliseconds(10),
              .stopGrace = std::chrono::milliseconds(50)}) {
    QObject::connect(&pool, &CompilerPool::compiled, &pool,
                     [this](std::uint64_t token, const domain::CompileOutcome& outcome) {
                       EXPECT_TRUE(outcomes.emplace(token, outcome).second) << "token " << token << " came twice";
                     });
    QObject::connect(&pool, &CompilerPool::failed, &pool, [this](const Error& error) { errors.push_back(error); });
    QObject::connect(&pool, &CompilerPool::stopped, &pool, [this] { ++stops; });
  }
  void compile(std::uint64_t token) {
    domain::CompileRequest request;
    request.source = "kernel " + std::to_string(token);
    request.entries = {"tiny_kernel"};
    pool.compile(token, request);
  }
  [[nodiscard]] bool waitForOutcomes(std::size_t count) {
    return waitFor([this, count] { return outcomes.size() >= count; });
  }

  CompilerPool pool;
  std::map<std::uint64_t, domain::CompileOutcome> outcomes;
  std::vector<Error> errors;
  int stops = 0;
};

const domain::CompiledBinary* binary(const domain::CompileOutcome& outcome) {
  return std::get_if<domain::CompiledBinary>(&outcome);
}

TEST(CompilerPool, CompilesMoreSourcesThanItHasProcesses) {
  Watched watched(fakeCompiler("ok"));
  for (std::uint64_t token = 1; token <= 7; ++token) {
    watched.compile(token);
  }
  EXPECT_EQ(watched.pool.pending(), 7);
  EXPECT_EQ(watched.pool.busy(), 2);
  ASSERT_TRUE(watched.waitForOutcomes(7));
  for (const auto& [token, outcome] : watched.outcomes) {
    ASSERT_NE(binary(outcome), nullptr);
    EXPECT_EQ(binary(outcome)->bytes, "binary of kernel " + std::to_string(token));
  }
  EXPECT_EQ(watched.pool.done(), 7);
  EXPECT_EQ(watched.pool.pending(), 0);
}

domain::CompileRequest programOf(const std::vector<std::string>& sources) {
  domain::CompileRequest request;
  for (const std::string& source : sources) {
    request.source += source;
    request.parts.push_back({source, {"tiny_kernel"}, {}});
  }
  return request;
}

TEST(CompilerPool, CompilesPartsAndNoneOfThemTwice) {
  Watched watched(fakeCompiler("ok"));
  watched.pool.compile(1, programOf({"first", "second"}));
  EXPECT_EQ(watched.pool.busy(), 2) << "at the same time";
  watched.pool.compile(2, programOf({"first", "third"}));
  ASSERT_TRUE(watched.waitForOutcomes(2));
  watched.pool.compile(3, programOf({"third", "second"}));
  EXPECT_EQ(watched.pool.pending(), 0) << "all is known";
  EXPECT_EQ(watched.outcomes.size(), 2U) << "no outcome comes before compile() has returned";
  ASSERT_TRUE(watched.waitForOutcomes(3));
  EXPECT_EQ(binary(watched.outcomes.at(1))->bytes, "binary of firstbinary of second");
  EXPECT_EQ(binary(watched.outcomes.at(2))->bytes, "binary of firstbinary of third");
  EXPECT_EQ(binary(watched.outcomes.at(3))->bytes, "binary of thirdbinary of second");
  EXPECT_EQ(watched.pool.done(), 3);
}

TEST(CompilerPool, CompilesTheWholeProgramForTheMessagesOfAWrongPart) {
  Watched watched(fakeCompiler("compile_error"), 1);
  watched.pool.compile(1, programOf({"first", "second"}));
  ASSERT_TRUE(watched.waitForOutcomes(1));
  EXPECT_EQ(std::get<domain::CompileFailed>(watched.outcomes.at(1)).log, "expected ';'");
  EXPECT_TRUE(waitFor([&] { return watched.pool.pending() == 0; }));
  EXPECT_EQ(watched.pool.done(), 1);
}

TEST(CompilerPool, APartThatCrashesCompilersFailsItsProgram) {
  Watched watched(fakeCompiler("crash"), 1);
  watched.pool.compile(1, programOf({"first", "second"}));
  ASSERT_TRUE(watched.waitForOutcomes(1));
  EXPECT_EQ(std::get<domain::CompileFailed>(watched.outcomes.at(1)).reason, domain::CompileFailureReason::Crash);
}

TEST(CompilerPool, AWrongSourceIsAnOutcome) {
  Watched watched(fakeCompiler("compile_error"));
  watched.compile(1);
  ASSERT_TRUE(watched.waitForOutcomes(1));
  EXPECT_EQ(std::get<domain::CompileFailed>(watched.outcomes.at(1)).log, "expected ';'");
}

TEST(CompilerPool, ACrashIsTriedOnceMoreOnAnotherProcess) {
  const testing::TempDir folder;
  Watched watched(fakeCompiler("crash", {"--once", (folder / "crashed").string()}), 1);
  watched.compile(1);
  ASSERT_TRUE(watched.waitForOutcomes(1));
  EXPECT_NE(binary(watched.outcomes.at(1)), nullptr);
}

TEST(CompilerPool, ASourceThatAlwaysCrashesFailsAndTheNextOneCompiles) {
  const testing::TempDir folder;
  Watched watched(fakeCompiler("crash"), 1);
  watched.compile(1);
  ASSERT_TRUE(watched.waitForOutcomes(1));
  EXPECT_EQ(std::get<domain::CompileFailed>(watched.outcomes.at(1)).reason, domain::CompileFailureReason::Crash);
  EXPECT_TRUE(watched.errors.empty());
}

TEST(CompilerPool, AnOverdueCompilerIsKilledAndReplaced) {
  const testing::TempDir folder;
  Watched watched(fakeCompiler("hang", {"--once", (folder / "hung").string()}), 1, 0.05);
  watched.compile(1);
  watched.compile(2);
  ASSERT_TRUE(watched.waitForOutcomes(2));
  EXPECT_EQ(std::get<domain::CompileFailed>(watched.outcomes.at(1)).reason, domain::CompileFailureReason::Timeout);
  EXPECT_NE(binary(watched.outcomes.at(2)), nullptr);
}

TEST(CompilerPool, CompilersThatNeverStartAreAFailureOfThePool) {
  Watched watched(fakeCompiler("crash_before_hello"));
  watched.compile(1);
  watched.compile(2);
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_EQ(watched.errors[0].kind(), ErrorKind::Environment);
  EXPECT_THAT(watched.errors[0].message(), HasSubstr("compilers cannot be started"));
  EXPECT_TRUE(watched.outcomes.empty());
}

TEST(CompilerPool, AMissingCompilerIsAFailureOfThePoolWithItsHint) {
  Watched watched(fakeCompiler("no_compiler"));
  watched.compile(1);
  watched.compile(2);
  ASSERT_TRUE(waitFor([&] { return !watched.errors.empty(); }));
  EXPECT_EQ(watched.errors[0].kind(), ErrorKind::Environment);
  EXPECT_EQ(watched.errors[0].message(), "no C++ compiler");
  EXPECT_EQ(watched.errors[0].hint(), "install g++");
  ASSERT_TRUE(waitFor([&] { return watched.stops > 0; }));
  EXPECT_EQ(watched.errors.size(), 1U);
  EXPECT_TRUE(watched.outcomes.empty());
}

TEST(CompilerPool, StopEndsEveryProcessAndForgetsTheQueue) {
  Watched watched(fakeCompiler("hang"));
  for (std::uint64_t token = 1; token <= 5; ++token) {
    watched.compile(token);
  }
  watched.pool.stop();
  ASSERT_TRUE(waitFor([&] { return watched.stops > 0; }));
  EXPECT_TRUE(watched.outcomes.empty());
}

TEST(CompilerPool, StopWithoutAnyProcessStops) {
  Watched watched(fakeCompiler("ok"));
  watched.pool.stop();
  EXPECT_TRUE(waitFor([&] { return watched.stops == 1; }));
}

}  // namespace
}  // namespace swage::process
