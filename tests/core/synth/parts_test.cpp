// SPDX-License-Identifier: Apache-2.0
// Parts of a program that are compiled by themselves.
#include <gmock/gmock.h>

#include <set>

#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

// A product, then two normalisations over different axes.
domain::Graph graphOfKernels() {
  GraphBuilder b;
  const auto x = b.input({256, 512});
  const auto weight = b.input({512, 1024});
  b.output(b.softmax(b.silu(b.softmax(b.call("aten.matmul.default", {arg(x), arg(weight)}, {256, 1024}), 1)), 0));
  return b.graph();
}

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(Parts, HaveAllKernelsOfTheProgramAndKnowTheirLines) {
  const auto synthesizer = makeSynthesizer(graphOfKernels(), cudaDevice());
  int parted = 0;
  for (const domain::Genome& genome : seedsWithKernels(*synthesizer)) {
    const auto program = synthesizer->realise(genome);
    ASSERT_TRUE(program.has_value());
    if (program->parts.empty()) {
      continue;
    }
    ++parted;
    const std::vector<std::string> all = linesOf(program->source);
    std::vector<std::string> entries;
    for (const domain::SourcePart& part : program->parts) {
      entries.insert(entries.end(), part.entries.begin(), part.entries.end());
      const std::vector<std::string> own = linesOf(part.source);
      std::size_t known = 0;
      for (const domain::ProgramLines& range : part.lines) {
        for (int i = 0; i < range.count; ++i, ++known) {
          EXPECT_EQ(own.at(static_cast<std::size_t>(range.first + i - 1)),
                    all.at(static_cast<std::size_t>(range.inProgram + i - 1)));
        }
      }
      EXPECT_GE(known + 1, own.size()) << "but for the empty line behind the helpers";
    }
    EXPECT_THAT(entries, UnorderedElementsAreArray(program->entries()));
  }
  EXPECT_GT(parted, 3);
}

// Then it need not be compiled again.
TEST(Parts, StayTheSameWhereAnotherKernelChanges) {
  const auto synthesizer = makeSynthesizer(graphOfKernels(), cudaDevice());
  const domain::Genome seed = seedsWithKernels(*synthesizer).front();
  const auto program = synthesizer->realise(seed);
  ASSERT_TRUE(program.has_value());
  std::set<std::string> texts;
  for (const domain::SourcePart& part : program->parts) {
    texts.insert(part.source);
  }
  int compared = 0;
  for (const domain::Genome& near : synthesizer->neighbours(seed)) {
    const auto other = synthesizer->realise(near);
    if (!other || other->parts.size() != program->parts.size() || near.rewrites != seed.rewrites) {
      continue;
    }
    const auto changed = std::count_if(other->parts.begin(), other->parts.end(),
                                       [&](const domain::SourcePart& part) { return texts.count(part.source) == 0; });
    EXPECT_LE(changed, 1);
    ++compared;
  }
  EXPECT_GT(compared, 3);
}

TEST(Parts, AreNotThereForOneKernelNorOnACpu) {
  GraphBuilder b;
  b.output(b.relu(b.input({64, 64})));
  const auto one = makeSynthesizer(b.graph(), cudaDevice());
  EXPECT_THAT(one->realise(seedsWithKernels(*one).front())->parts, IsEmpty());
  const auto onCpu = makeSynthesizer(graphOfKernels(), cpuDevice());
  EXPECT_THAT(onCpu->realise(onCpu->seeds().front())->parts, IsEmpty());
}

}  // namespace
}  // namespace swage::synth
