// SPDX-License-Identifier: Apache-2.0
#include "core/process/remote_synthesizer.h"

#include <gmock/gmock.h>

#include "core/patterns/catalogue.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/support/no_warnings.h"
#include "tests/support/result_matchers.h"

namespace swage::process {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

domain::DeviceInfo cpu() {
  domain::DeviceInfo device;
  device.architecture = "x86-64-v3";
  device.threads = device.multiprocessors = 8;
  device.cacheBytes = std::int64_t{32} << 20;
  return device;
}

domain::Graph normalisedRows() {
  synth::GraphBuilder b;
  const auto x = b.input({60, 96});
  b.output(b.mul(b.silu(b.softmax(x, -1)), x));
  return b.graph();
}

RemoteSynthesis healthy() {
  return {.command = {SWAGE_TEST_COMPILER, {"--synthesis"}, {}}, .patterns = SWAGE_TEST_PATTERNS};
}

RemoteSynthesis faulty(const std::string& call, const std::string& fault, int at = 1) {
  return {.command = {SWAGE_TEST_FAULTY_SYNTHESIS, {call, fault, std::to_string(at), "-"}, {}},
          .patterns = SWAGE_TEST_PATTERNS,
          .callLimit = milliseconds(500)};
}

TEST(RemoteSynthesizer, AnswersAsOneInThisProcessDoes) {
  const domain::Graph graph = normalisedRows();
  const auto catalogue = patterns::Catalogue::load(SWAGE_TEST_PATTERNS);
  ASSERT_THAT(catalogue, IsOk());
  const auto local = synth::Synthesizer::create(graph, cpu(), *catalogue);
  const auto remote = makeRemoteSynthesizer(healthy(), graph, cpu());
  ASSERT_THAT(remote, IsOk());
  const auto seeds = (*local)->seeds();
  ASSERT_FALSE(seeds.empty());
  EXPECT_EQ((*remote)->seeds(), seeds);
  EXPECT_EQ((*remote)->coveredNodes(), (*local)->coveredNodes());
  EXPECT_EQ((*remote)->reachableCells(), (*local)->reachableCells());
  Random here(3);
  Random there(3);
  const domain::Genome genome = (*local)->fresh(here);
  EXPECT_EQ((*remote)->fresh(there), genome);
  EXPECT_EQ(here.state(), there.state());
  const domain::Cell aim = domain::Cell::fromIndex(5);
  for (const auto kind : {domain::OperatorKind::Parameter, domain::OperatorKind::Split, domain::OperatorKind::Merge,
                          domain::OperatorKind::PatternSwap, domain::OperatorKind::Crossover}) {
    EXPECT_EQ((*remote)->vary(kind, genome, &seeds.front(), &aim, there),
              (*local)->vary(kind, genome, &seeds.front(), &aim, here));
    EXPECT_EQ(here.state(), there.state());
  }
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ((*remote)->neighbours(genome), (*local)->neighbours(genome));
  }
  EXPECT_EQ((*remote)->features(genome), (*local)->features(genome));
  EXPECT_EQ((*remote)->estimate(genome), (*local)->estimate(genome));
  const auto program = (*remote)->realise(genome);
  ASSERT_THAT(program, IsOk());
  EXPECT_EQ(program->source, (*local)->realise(genome)->source);
  EXPECT_EQ(program->plan, (*local)->realise(genome)->plan);
}

TEST(RemoteSynthesizer, PassesOnWhatTheSynthesiserRefuses) {
  const auto remote = makeRemoteSynthesizer(healthy(), normalisedRows(), cpu());
  ASSERT_THAT(remote, IsOk());
  const auto program = (*remote)->realise({{{{0}, "no such pattern", {}}}});
  EXPECT_THAT(program, IsError(ErrorKind::InvalidInput, HasSubstr("does not fit")));
}

TEST(RemoteSynthesizer, FailsOneCallWhenItsProcessCrashes) {
  const auto remote = makeRemoteSynthesizer(faulty("realise", "crash", 2), normalisedRows(), cpu());
  ASSERT_THAT(remote, IsOk());
  const domain::Genome genome = (*remote)->seeds().front();
  EXPECT_THAT((*remote)->realise(genome), IsOk());
  EXPECT_THAT((*remote)->realise(genome),
              IsError(ErrorKind::Internal, HasSubstr("the synthesiser was ended by signal 11")));
  EXPECT_THAT((*remote)->realise(genome), IsOk());
}

TEST(RemoteSynthesizer, FailsOneCallWhenItsProcessHangs) {
  const auto remote = makeRemoteSynthesizer(faulty("realise", "hang", 2), normalisedRows(), cpu());
  ASSERT_THAT(remote, IsOk());
  const domain::Genome genome = (*remote)->seeds().front();
  EXPECT_THAT((*remote)->realise(genome), IsOk());
  EXPECT_THAT((*remote)->realise(genome), IsError(ErrorKind::Internal, HasSubstr("did not answer within 0.5 s")));
  EXPECT_THAT((*remote)->realise(genome), IsOk());
}

TEST(RemoteSynthesizer, SaysWhatTheProcessSaidLast) {
  const auto remote = makeRemoteSynthesizer(faulty("realise", "exit"), normalisedRows(), cpu());
  ASSERT_THAT(remote, IsOk());
  EXPECT_THAT((*remote)->realise({}), IsError(ErrorKind::Internal, HasSubstr("exit code 3\nout of ideas")));
}

TEST(RemoteSynthesizer, GivesNothingWhereACallCannotFail) {
  testing::expectWarnings();
  const auto remote = makeRemoteSynthesizer(faulty("vary", "assert"), normalisedRows(), cpu());
  ASSERT_THAT(remote, IsOk());
  const domain::Genome genome = (*remote)->seeds().front();
  Random random(1);
  const std::uint64_t before = random.state();
  EXPECT_FALSE((*remote)->vary(domain::OperatorKind::Parameter, genome, nullptr, nullptr, random));
  EXPECT_NE(random.state(), before) << "the same try would be made for ever";
  EXPECT_FALSE((*remote)->neighbours(genome).empty());
}

TEST(RemoteSynthesizer, SaysThatItsProgramIsMissing) {
  RemoteSynthesis options = healthy();
  options.command.program = "/nonexistent/swage-compiler";
  EXPECT_THAT(makeRemoteSynthesizer(options, normalisedRows(), cpu()),
              IsError(ErrorKind::Environment, HasSubstr("/nonexistent/swage-compiler")));
}

TEST(RemoteSynthesizer, SaysThatItCannotCopeWithTheGraph) {
  EXPECT_THAT(makeRemoteSynthesizer(faulty("open", "crash"), normalisedRows(), cpu()),
              IsError(ErrorKind::Internal, HasSubstr("signal 11")));
}

TEST(RemoteSynthesizer, GivesUpWhenNothingWorks) {
  const auto remote = makeRemoteSynthesizer(faulty("realise", "exit"), normalisedRows(), cpu());
  ASSERT_THAT(remote, IsOk());
  Result<domain::Program> program = (*remote)->realise({});
  for (int call = 0; call < 100 && !program && program.error().kind() == ErrorKind::Internal; ++call) {
    program = (*remote)->realise({});
  }
  EXPECT_THAT(program, IsError(ErrorKind::Environment, HasSubstr("times in a row")));
}

}  // namespace
}  // namespace swage::process
