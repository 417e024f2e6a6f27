// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/core/synth/emulator.h"
#include "tests/core/synth/in_place.h"
#include "tests/core/synth/lab.h"
#include "tests/core/synth/measured_device.h"

// Short rows of which a warp has several, on the emulation.
namespace swage::synth {
namespace {

// How many programs of row_warp with fewer lanes to a row there were.
int compare(const domain::Graph& graph) {
  const auto synthesizer = Synthesizer::create(graph, measuredDevice(), emulatedCatalogue());
  const auto exact = makeSynthesizer(graph, cpuDevice());
  const std::vector<Bytes> inputs = inputsOf(graph);
  const auto wanted = toNumbers<float>(runOnCpu(*exact->realise(exact->seeds().front()), inputs).front());
  int compared = 0;
  for (domain::Genome genome : (*synthesizer)->seeds()) {
    if (genome.regions.size() != 1 || genome.regions[0].pattern != "row_warp") {
      continue;
    }
    for (const auto [lanes, fused] : {std::pair(4, 0), std::pair(8, 1), std::pair(16, 1)}) {
      genome.regions[0].parameters["vector_width"] = 4;
      genome.regions[0].parameters["warps"] = 2;
      genome.regions[0].parameters["lanes"] = lanes;
      genome.regions[0].parameters["fused"] = fused;
      const auto program = (*synthesizer)->realise(genome);
      if (!program) {
        continue;
      }
      SCOPED_TRACE(domain::canonicalText(genome));
      const std::vector<Bytes> results = runEmulated(*program, inputs);
      EXPECT_EQ(results.empty() ? "not run" : firstDifference(toNumbers<float>(results.front()), wanted, 1e-5), "");
      ++compared;
    }
    break;
  }
  return compared;
}

TEST(RowLanes, FindWhatOneLaneFinds) {
  GraphBuilder softmax;
  softmax.output(softmax.softmax(softmax.input({16, 8, 48}), 2));
  EXPECT_EQ(compare(softmax.graph()), 3);

  GraphBuilder norm;
  norm.output(norm.like("aten.layer_norm.default", norm.input({128, 64}),
                        {listArg({64}), arg(norm.input({64})), arg(norm.input({64})), arg(1e-5)}));
  EXPECT_EQ(compare(norm.graph()), 3);

  GraphBuilder sum;
  sum.output(sum.call("aten.sum.dim_IntList", {arg(sum.input({64, 40})), listArg({1})}, {64}));
  EXPECT_GE(compare(sum.graph()), 1);
}

// The last warp would have rows that are not there.
TEST(RowLanes, AreNotForACountThatLeavesSome) {
  GraphBuilder b;
  b.output(b.softmax(b.input({61, 48}), 1));
  EXPECT_EQ(compare(b.graph()), 0);
}

}  // namespace
}  // namespace swage::synth
