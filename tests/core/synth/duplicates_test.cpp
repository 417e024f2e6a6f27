// SPDX-License-Identifier: Apache-2.0
// Parameters that make no difference: no two genomes of a search have the same program.
#include <gmock/gmock.h>

#include <map>

#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

using domain::Genome;

struct Task {
  const char* name;
  std::int64_t rows;
  std::int64_t columns;
  bool isReduced;
  int axis;
  friend void PrintTo(const Task& self, std::ostream* out) { *out << self.name; }
};

domain::Graph graphOf(const Task& task) {
  GraphBuilder b;
  const auto x = b.input({task.rows, task.columns});
  b.output(task.isReduced ? b.softmax(x, task.axis) : b.mul(b.silu(x), b.input({task.rows, task.columns})));
  return b.graph();
}

// Those that a search begins with, what is beside them, and what it draws.
std::vector<Genome> genomesOf(const Synthesizer& synthesizer) {
  std::vector<Genome> all = synthesizer.seeds();
  for (const Genome& seed : synthesizer.seeds()) {
    const std::vector<Genome> around = synthesizer.neighbours(seed);
    all.insert(all.end(), around.begin(), around.end());
  }
  Random random(9);
  for (int i = 0; i < 200; ++i) {
    all.push_back(synthesizer.fresh(random));
  }
  return all;
}

class LoopsOnTheCpu : public ::testing::TestWithParam<Task> {};

TEST_P(LoopsOnTheCpu, NameEachProgramOnce) {
  const auto synthesizer = makeSynthesizer(graphOf(GetParam()), cpuDevice());
  std::map<std::string, std::string> genomes;  // by program
  for (const Genome& genome : genomesOf(*synthesizer)) {
    if (genome.regions.size() != 1) {
      continue;  // the width of registers is one for all regions of a program
    }
    const auto program = synthesizer->realise(genome);
    ASSERT_TRUE(program.has_value());
    std::string key = program->source;
    for (const std::string& flag : program->compileFlags) {
      key += flag;
    }
    const std::string text = domain::canonicalText(genome);
    EXPECT_EQ(genomes.emplace(key, text).first->second, text);
  }
  EXPECT_GE(genomes.size(), 4U);
}

INSTANTIATE_TEST_SUITE_P(All, LoopsOnTheCpu,
                         ::testing::Values(Task{"ShortMap", 4096, 200, false, 0}, Task{"LongMap", 64, 8192, false, 0},
                                           Task{"ShortRows", 4096, 100, true, 1}, Task{"LongRows", 64, 8192, true, 1},
                                           Task{"FewRows", 2, 100, true, 1}, Task{"Columns", 500, 100, true, 0}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
