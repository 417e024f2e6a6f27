// SPDX-License-Identifier: Apache-2.0
#include "core/process/separate_compilation.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace swage::process {
namespace {

using domain::CompiledBinary;
using domain::CompileFailed;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

domain::CompileRequest programOf(const std::vector<std::string>& kernels) {
  domain::CompileRequest request;
  request.language = domain::Language::CudaCpp;
  request.architecture = "sm_90a";
  for (const std::string& kernel : kernels) {
    request.entries.push_back(kernel);
    const int line = 1 + static_cast<int>(std::count(request.source.begin(), request.source.end(), '\n'));
    request.parts.push_back({"text of " + kernel, {kernel}, {{1, 1, line}}});
    request.source += request.parts.back().source + "\n";
  }
  return request;
}

CompiledBinary binaryOf(const domain::CompileRequest& part) {
  CompiledBinary binary;
  binary.bytes = "<" + part.entries.front() + ">";
  binary.assembly = "\t.loc\t1 1 0\nadd " + part.entries.front() + ";\n\t.file\t1 \"/in/source.cu\"\n";
  domain::KernelFacts facts;
  facts.entry = part.entries.front();
  binary.kernels = {facts};
  binary.binaryHash = "hash of " + part.entries.front();
  binary.seconds = 0.25;
  return binary;
}

std::vector<std::string> sourcesOf(const std::vector<SeparateCompilation::Wanted>& wanted) {
  std::vector<std::string> sources;
  for (const auto& part : wanted) {
    sources.push_back(part.request.source);
  }
  return sources;
}

void finishAll(SeparateCompilation& compilations, const std::vector<SeparateCompilation::Wanted>& wanted) {
  for (const auto& part : wanted) {
    compilations.finish(part.key, binaryOf(part.request));
  }
}

TEST(SeparateCompilation, JoinPartsInTheirOrder) {
  SeparateCompilation compilations;
  const auto wanted = compilations.begin(7, programOf({"a", "b"}));
  ASSERT_THAT(sourcesOf(wanted), ElementsAre("text of a", "text of b"));
  EXPECT_EQ(wanted[1].request.architecture, "sm_90a");
  EXPECT_THAT(wanted[1].request.entries, ElementsAre("b"));
  compilations.finish(wanted[1].key, binaryOf(wanted[1].request));
  EXPECT_THAT(compilations.takeFinished(), IsEmpty());
  compilations.finish(wanted[0].key, binaryOf(wanted[0].request));
  const auto finished = compilations.takeFinished();
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].token, 7U);
  const auto& binary = std::get<CompiledBinary>(finished[0].outcome);
  EXPECT_EQ(binary.bytes, "<a><b>");
  EXPECT_EQ(binary.assembly, "\t.loc\t1 1 0\nadd a;\n\t.loc\t1 2 0\nadd b;\n\t.file\t1 \"source.cu\"\n");
  EXPECT_EQ(binary.seconds, 0.5);
  ASSERT_EQ(binary.kernels.size(), 2U);
  EXPECT_EQ(binary.kernels[1].entry, "b");
  EXPECT_THAT(binary.kernels[1].lines, ElementsAre(domain::ProgramLines{1, 1, 2}));
}

TEST(SeparateCompilation, CompileNothingTwice) {
  SeparateCompilation compilations;
  const auto first = compilations.begin(1, programOf({"a", "b"}));
  const auto second = compilations.begin(2, programOf({"b", "c"}));
  EXPECT_THAT(sourcesOf(second), ElementsAre("text of c")) << "the other is being compiled";
  finishAll(compilations, first);
  finishAll(compilations, second);
  EXPECT_EQ(compilations.takeFinished().size(), 2U);
  EXPECT_THAT(compilations.begin(3, programOf({"c", "a"})), IsEmpty());
  const auto finished = compilations.takeFinished();
  ASSERT_EQ(finished.size(), 1U);
  const auto& binary = std::get<CompiledBinary>(finished[0].outcome);
  EXPECT_EQ(binary.bytes, "<c><a>");
  EXPECT_EQ(binary.seconds, 0.0) << "nothing was compiled for it";
}

TEST(SeparateCompilation, TellOtherFlagsAndDevicesApart) {
  SeparateCompilation compilations;
  domain::CompileRequest program = programOf({"a", "b"});
  finishAll(compilations, compilations.begin(1, program));
  program.flags = {"-use_fast_math"};
  EXPECT_EQ(compilations.begin(2, program).size(), 2U);
  program.architecture = "sm_80";
  EXPECT_EQ(compilations.begin(3, program).size(), 2U);
}

TEST(SeparateCompilation, AFailureIsThatOfAllProgramsWithThePart) {
  SeparateCompilation compilations;
  const auto wanted = compilations.begin(1, programOf({"a", "b"}));
  static_cast<void>(compilations.begin(2, programOf({"a", "c"})));
  compilations.finish(wanted[0].key, CompileFailed{domain::CompileFailureReason::Timeout, "too slow"});
  auto finished = compilations.takeFinished();
  ASSERT_EQ(finished.size(), 2U);
  EXPECT_EQ(std::get<CompileFailed>(finished[1].outcome).log, "too slow");
  EXPECT_EQ(finished[1].request.source, programOf({"a", "c"}).source);
  compilations.finish(wanted[1].key, binaryOf(wanted[1].request));
  EXPECT_THAT(compilations.takeFinished(), IsEmpty()) << "it is over";
  EXPECT_THAT(sourcesOf(compilations.begin(3, programOf({"a", "b"}))), ElementsAre("text of a")) << "tried again";
}

TEST(SeparateCompilation, KeepWhatWasUsedLast) {
  const std::size_t one = binaryOf(programOf({"a"})).bytes.size() + binaryOf(programOf({"a"})).assembly.size();
  SeparateCompilation compilations(3 * one);
  finishAll(compilations, compilations.begin(1, programOf({"a", "b"})));
  finishAll(compilations, compilations.begin(2, programOf({"a", "c"})));
  EXPECT_EQ(compilations.keptBytes(), 3 * one);
  EXPECT_THAT(sourcesOf(compilations.begin(3, programOf({"a", "d"}))), ElementsAre("text of d"));
  finishAll(compilations, compilations.begin(4, programOf({"a", "e"})));
  EXPECT_EQ(compilations.keptBytes(), 3 * one);
  EXPECT_THAT(sourcesOf(compilations.begin(5, programOf({"a", "b"}))), ElementsAre("text of b"));
  EXPECT_THAT(sourcesOf(compilations.begin(6, programOf({"a", "e"}))), IsEmpty());
}

TEST(SeparateCompilation, AProgramLargerThanAllThatIsKeptIsStillJoined) {
  SeparateCompilation compilations(1);
  finishAll(compilations, compilations.begin(1, programOf({"a", "b", "c"})));
  EXPECT_EQ(compilations.takeFinished().size(), 1U);
  EXPECT_EQ(compilations.keptBytes(), 0U);
}

TEST(SeparateCompilation, NobodyWaitsAfterTheEnd) {
  SeparateCompilation compilations;
  const auto wanted = compilations.begin(1, programOf({"a", "b"}));
  compilations.finish(wanted[0].key, binaryOf(wanted[0].request));
  compilations.forgetWaiting();
  compilations.finish(wanted[1].key, binaryOf(wanted[1].request));
  EXPECT_THAT(compilations.takeFinished(), IsEmpty());
  EXPECT_THAT(sourcesOf(compilations.begin(2, programOf({"a", "b"}))), ElementsAre("text of b"));
}

}  // namespace
}  // namespace swage::process
