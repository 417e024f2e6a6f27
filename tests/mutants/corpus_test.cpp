// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>

#include "core/domain/launch_plan.h"
#include "core/process/compiler_pool.h"
#include "core/process/locations.h"
#include "core/process/programs.h"
#include "core/trust/self_test_corpus.h"
#include "tests/support/result_matchers.h"
#include "tests/support/wait_for.h"

// The planted cases that ship with the program, through the real compiler. No device is needed for that half.
namespace swage::engine {
namespace {

bool endsInTheCompiler(const trust::PlantedCase& planted) {
  return planted.expected[0].status == "compile error" || planted.expected[0].rule == "code check";
}

class ShippedCorpus : public ::testing::TestWithParam<domain::DeviceKind> {};

TEST_P(ShippedCorpus, CompilesButForWhatTheCompilerMustRefuse) {
  const process::Locations locations = process::Locations::find(SWAGE_TEST_PROGRAMS);
  if (GetParam() == domain::DeviceKind::Cuda && locations.nvrtc.empty()) {
    GTEST_SKIP() << "there is no NVRTC";
  }
  const auto corpus = trust::SelfTestCorpus::load(locations.selfTest, GetParam());
  ASSERT_THAT(corpus, testing::IsOk());
  process::CompilerPool pool({.command = process::Programs::standard(locations).compilerCommand, .size = 2});
  std::map<std::uint64_t, domain::CompileOutcome> outcomes;
  QObject::connect(&pool, &process::CompilerPool::compiled, &pool,
                   [&](std::uint64_t token, const domain::CompileOutcome& outcome) { outcomes[token] = outcome; });
  std::size_t sent = 0;
  for (std::size_t i = 0; i < corpus->cases.size(); ++i) {
    const domain::Program& program = corpus->cases[i].program;
    if (program.plan.hasKernels()) {
      ++sent;
      pool.compile(i, {.language = program.language,
                       .source = program.source,
                       .entries = program.entries(),
                       .architecture = GetParam() == domain::DeviceKind::Cuda ? "sm_90a" : "native",
                       .flags = {}});
    }
  }
  ASSERT_TRUE(testing::waitFor([&] { return outcomes.size() == sent; }, std::chrono::minutes(4)));
  for (const auto& [index, outcome] : outcomes) {
    const trust::PlantedCase& planted = corpus->cases[index];
    const auto* failure = std::get_if<domain::CompileFailed>(&outcome);
    if (endsInTheCompiler(planted)) {
      ASSERT_NE(failure, nullptr) << planted.name << " compiles";
      EXPECT_TRUE(trust::isExpected(planted, domain::evaluationOf(*failure))) << planted.name << ": " << failure->log;
    } else {
      EXPECT_EQ(failure, nullptr) << planted.name << ": " << failure->log;
    }
  }
  bool stopped = false;
  QObject::connect(&pool, &process::CompilerPool::stopped, &pool, [&] { stopped = true; });
  pool.stop();
  EXPECT_TRUE(testing::waitFor([&] { return stopped; }));
}

INSTANTIATE_TEST_SUITE_P(Targets, ShippedCorpus, ::testing::Values(domain::DeviceKind::Cpu, domain::DeviceKind::Cuda),
                         [](const auto& parameter) { return std::string(domain::name(parameter.param)); });

}  // namespace
}  // namespace swage::engine
