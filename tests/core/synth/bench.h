// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"
#include "tests/core/synth/system_compiler.h"
#include "tests/core/synth/tensor_data.h"

// Programs for the CPU that are compiled and run.
namespace swage::synth {

using Numbers = std::vector<double>;

struct Outcome {
  std::string genome;
  std::vector<Bytes> results;
};

// Runs programs of the graph in which `pattern` (where given) has the parameters `wanted`.
class Bench {
 public:
  explicit Bench(const GraphBuilder& b) : m_synthesizer(makeSynthesizer(b.graph(), cpuDevice())) {}

  [[nodiscard]] Outcome run(const domain::Genome& genome, const std::vector<Bytes>& inputs) const {
    const auto program = m_synthesizer->realise(genome);
    if (!program) {
      ADD_FAILURE() << program.error().message();
      return {};
    }
    return {domain::canonicalText(genome), runOnCpu(*program, inputs)};
  }
  // The seed number `rank`, with `changes` to every region that has such a parameter.
  [[nodiscard]] domain::Genome seed(std::size_t rank, const std::map<std::string, std::int64_t>& changes = {}) const {
    const std::vector<domain::Genome> seeds = m_synthesizer->seeds();
    domain::Genome genome = seeds.at(std::min(rank, seeds.size() - 1));
    for (domain::RegionGene& gene : genome.regions) {
      for (const auto& [name, value] : changes) {
        if (gene.parameters.count(name) != 0) {
          gene.parameters[name] = value;
        }
      }
    }
    return genome;
  }
  [[nodiscard]] domain::Genome fresh(std::uint64_t seed) const {
    Random random(seed);
    return m_synthesizer->fresh(random);
  }
  // The two programs most tests run: the first guess and a random one.
  [[nodiscard]] std::vector<Outcome> runTwo(const std::vector<Bytes>& inputs, std::uint64_t seed) const {
    return {run(this->seed(0), inputs), run(fresh(seed), inputs)};
  }

 private:
  std::unique_ptr<Synthesizer> m_synthesizer;
};

template <class T>
void expectResult(const Outcome& outcome, std::size_t index, const Numbers& want, double tolerance = 1e-5) {
  ASSERT_LT(index, outcome.results.size()) << outcome.genome;
  EXPECT_EQ(firstDifference(toNumbers<T>(outcome.results[index]), want, tolerance), "") << outcome.genome;
}

}  // namespace swage::synth
