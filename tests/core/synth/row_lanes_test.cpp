// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/synth/emulator.h"
#include "tests/core/synth/in_place.h"
#include "tests/core/synth/lab.h"
#include "tests/core/synth/measured_device.h"

// Short rows of which a warp has several, on the emulation.
namespace swage::synth {
namespace {

// Of row_warp, with so many lanes to a row. No value: it cannot be made.
std::optional<domain::Program> programOf(const Synthesizer& synthesizer, std::int64_t lanes, std::int64_t fused) {
  for (domain::Genome genome : synthesizer.seeds()) {
    if (genome.regions.size() == 1 && genome.regions[0].pattern == "row_warp") {
      genome.regions[0].parameters["vector_width"] = 4;
      genome.regions[0].parameters["warps"] = 2;
      genome.regions[0].parameters["lanes"] = lanes;
      genome.regions[0].parameters["fused"] = fused;
      auto program = synthesizer.realise(genome);
      return program ? std::optional(*std::move(program)) : std::nullopt;
    }
  }
  return std::nullopt;
}

void compare(const domain::Graph& graph, const std::vector<std::pair<int, int>>& lanesAndFused) {
  const auto synthesizer = Synthesizer::create(graph, measuredDevice(), emulatedCatalogue());
  const auto exact = makeSynthesizer(graph, cpuDevice());
  const std::vector<Bytes> inputs = inputsOf(graph);
  const auto wanted = toNumbers<float>(runOnCpu(*exact->realise(exact->seeds().front()), inputs).front());
  for (const auto& [lanes, fused] : lanesAndFused) {
    SCOPED_TRACE(lanes);
    const std::optional<domain::Program> program = programOf(**synthesizer, lanes, fused);
    ASSERT_TRUE(program);
    const std::vector<Bytes> results = runEmulated(*program, inputs);
    EXPECT_EQ(results.empty() ? "not run" : firstDifference(toNumbers<float>(results.front()), wanted, 1e-5), "");
  }
}

TEST(RowLanes, ComputeWhatTheCpuComputes) {
  GraphBuilder softmax;
  softmax.output(softmax.softmax(softmax.input({16, 8, 48}), 2));
  compare(softmax.graph(), {{4, 0}, {8, 1}, {16, 1}});

  GraphBuilder norm;
  norm.output(norm.like("aten.layer_norm.default", norm.input({128, 64}),
                        {listArg({64}), arg(norm.input({64})), arg(norm.input({64})), arg(1e-5)}));
  compare(norm.graph(), {{4, 0}, {8, 1}, {16, 1}});

  GraphBuilder sum;
  sum.output(sum.call("aten.sum.dim_IntList", {arg(sum.input({64, 40})), listArg({1})}, {64}));
  compare(sum.graph(), {{8, 0}});
}

TEST(RowLanes, AreAsManyAsAWarpHasWhereRowsDoNotFillTheLast) {
  GraphBuilder b;
  b.output(b.softmax(b.input({61, 48}), 1));
  const auto synthesizer = Synthesizer::create(b.graph(), measuredDevice(), emulatedCatalogue());
  EXPECT_TRUE(programOf(**synthesizer, 32, 0));
  EXPECT_FALSE(programOf(**synthesizer, 8, 0));
}

}  // namespace
}  // namespace swage::synth
