// SPDX-License-Identifier: Apache-2.0
// What kernels take over from the text of the model: its lines as comments, and its names.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "core/synth/emit/code.h"
#include "core/synth/emit/names.h"
#include "core/synth/rewriting/rewriting.h"
#include "tests/core/synth/bench.h"
#include "tests/core/synth/hostile_model.h"
#include "tests/core/synth/mean_of_linear.h"
#include "tests/support/result_matchers.h"

namespace swage::synth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string noteOf(std::string_view text) {
  Code code;
  code.note(text);
  return code.take();
}

TEST(Note, IsOneAsciiLine) {
  EXPECT_EQ(noteOf("model.py:3: y = x"), "// model.py:3: y = x\n");
  EXPECT_EQ(noteOf("a\nb\r\tc"), "// a b  c\n");
  EXPECT_EQ(noteOf("a + \\"), "// a +\n");
  EXPECT_EQ(noteOf("a \\ \\  "), "// a\n");
  EXPECT_EQ(noteOf("what?\?/"), "// what\n");
  EXPECT_EQ(noteOf("\xCF\x83 = \xE2\x88\x91x */ // \"\"\""), "// ? = ?x */ // \"\"\"\n");
  const std::string cut = noteOf(std::string(200, 'x'));
  EXPECT_EQ(cut.size(), 111U);
  EXPECT_THAT(cut, ::testing::EndsWith("xxx...\n"));
  EXPECT_THAT(noteOf(std::string(103, 'x') + "\\\\" + std::string(90, 'x')), ::testing::EndsWith("xxx...\n"));
}

TEST(Identifier, IsValidInC) {
  EXPECT_EQ(identifier("encoder.0.weight"), "encoder_0_weight");
  EXPECT_EQ(identifier("__x"), "x");
  EXPECT_EQ(identifier("2x"), "v2x");
  EXPECT_EQ(identifier(""), "v");
  EXPECT_EQ(identifier("\xCF\x83"), "__");
}

// total = x + residual; mean_square = total.pow(2).mean(…); return total * rsqrt(mean_square + e), total
domain::Graph rmsNormWithText() {
  constexpr std::int64_t kRows = 1024;
  constexpr std::int64_t kColumns = 1024;
  GraphBuilder b;
  const auto total = b.add(b.input({kRows, kColumns}), b.input({kRows, kColumns}));
  const auto square = b.like("aten.pow.Tensor_Scalar", total, {arg(2)});
  const auto mean = b.call("aten.mean.dim", {arg(square), listArg({-1}), arg(true)}, {kRows, 1});
  const auto root = b.like("aten.rsqrt.default", b.like("aten.add.Tensor", mean, {arg(1e-6)}));
  b.output(b.mul(total, root));
  b.output(total);
  domain::Graph graph = b.graph();
  const std::array<std::string, 3> code{"total = x + residual", "mean_square = total.pow(2).mean(-1)",
                                        "return total * rsqrt(mean_square + e), total"};
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    const std::size_t line = node == 0 ? 0 : node < 3 ? 1 : 2;
    graph.nodes[node].where = "model.py:" + std::to_string(line + 4) + " in forward";
    graph.nodes[node].code = code[line];
  }
  graph.nodes[0].name = "total";
  graph.nodes[2].name = "mean_square";
  return graph;
}

std::string sourceOf(const domain::Graph& graph, const std::string& pattern, const domain::DeviceInfo& device) {
  const auto synthesizer = makeSynthesizer(graph, device);
  for (const domain::Genome& genome : synthesizer->seeds()) {
    if (genome.regions.size() == 1 && genome.rewrites.empty() && genome.regions[0].pattern == pattern) {
      const auto program = synthesizer->realise(genome);
      EXPECT_THAT(program, swage::testing::IsOk());
      return program ? program->source : "";
    }
  }
  ADD_FAILURE() << "no seed has " << pattern;
  return {};
}

TEST(ModelText, NamesAndExplainsWhatTheKernelComputes) {
  const std::string source = sourceOf(rmsNormWithText(), "row_warp", cudaDevice());
  EXPECT_THAT(source,
              AllOf(HasSubstr("// model.py:4: total = x + residual\n      const float total = "),
                    HasSubstr("// model.py:5: mean_square = total.pow(2).mean(-1)\n      sum[v] += total * total"),
                    HasSubstr("const float mean_square = row_sum * "),
                    HasSubstr("// model.py:6: return total * rsqrt(mean_square + e), total\n"),
                    HasSubstr("[v] = total;\n"), Not(HasSubstr("out1_i")), Not(HasSubstr(" in forward"))))
      << source;
}

TEST(ModelText, IsTheSameForBothLanguages) {
  const std::string source = sourceOf(rmsNormWithText(), "row", cpuDevice());
  EXPECT_THAT(source,
              AllOf(HasSubstr("// model.py:4: total = x + residual\n"), HasSubstr("const float mean_square = ")))
      << source;
}

// Comments one behind the other, without what is in between.
std::vector<std::string> notesOf(const std::string& source) {
  std::vector<std::string> notes;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t at = line.find("// model.py:"); at != std::string::npos) {
      notes.push_back(line.substr(at));
    }
  }
  return notes;
}

TEST(ModelText, NamesNoLineTwiceInARow) {
  for (const domain::DeviceInfo& device : {cudaDevice(), cpuDevice()}) {
    const auto synthesizer = makeSynthesizer(rmsNormWithText(), device);
    for (const domain::Genome& genome : synthesizer->seeds()) {
      const auto program = synthesizer->realise(genome);
      ASSERT_THAT(program, swage::testing::IsOk());
      for (std::size_t start = 0; start != std::string::npos;) {
        const std::size_t next = program->source.find("extern \"C\"", start + 1);
        const std::vector<std::string> notes = notesOf(program->source.substr(start, next - start));
        EXPECT_EQ(std::adjacent_find(notes.begin(), notes.end()), notes.end()) << program->source;
        start = next;
      }
    }
  }
}

TEST(ModelText, OfAGraphWithoutTheTextOfItsLinesSaysWhereTheyAre) {
  domain::Graph graph = rmsNormWithText();
  for (domain::Node& node : graph.nodes) {
    node.code.clear();
    node.name.clear();
  }
  EXPECT_THAT(sourceOf(graph, "row_warp", cudaDevice()),
              AllOf(HasSubstr("// model.py:4 in forward\n"), HasSubstr("const float out1_i = ")));
}

TEST(ModelText, LeavesTheGenomesAsTheyAre) {
  domain::Graph plain = rmsNormWithText();
  for (domain::Node& node : plain.nodes) {
    node.code.clear();
    node.name.clear();
  }
  EXPECT_EQ(makeSynthesizer(plain, cudaDevice())->seeds(), makeSynthesizer(rmsNormWithText(), cudaDevice())->seeds());
}

TEST(ModelText, GoesOverIntoRewrittenGraphs) {
  domain::Graph graph = meanOfLinear(true).graph();
  for (domain::Node& node : graph.nodes) {
    node.code = node.op;
    node.name = "made";
  }
  const std::vector<domain::Rewrite> rewrites = allRewrites(graph);
  ASSERT_FALSE(rewrites.empty());
  const auto changed = rewritten(graph, rewrites);
  ASSERT_TRUE(changed);
  for (const domain::Node& node : changed->nodes) {
    EXPECT_NE(node.code, "") << node.op;
    const bool wasThere = node.outputs.front().value() < static_cast<std::int32_t>(graph.values.size());
    EXPECT_EQ(node.name, wasThere ? "made" : "") << node.op;
  }
}

TEST(ModelText, BreaksNoProgramForTheProcessor) {
  const domain::Graph graph = hostileModel();
  const auto synthesizer = makeSynthesizer(graph, cpuDevice());
  const Numbers x = randomNumbers(8 * 64, 1);
  const Numbers y = randomNumbers(8 * 64, 2);
  std::vector<Bytes> first;
  int tried = 0;
  for (const domain::Genome& genome : synthesizer->seeds()) {
    if (++tried > 4) {
      break;
    }
    const auto program = synthesizer->realise(genome);
    ASSERT_THAT(program, swage::testing::IsOk());
    EXPECT_EQ(program->source.find("\\\n"), std::string::npos) << program->source;
    const std::vector<Bytes> results = runOnCpu(*program, {toBytes<float>(x), toBytes<float>(y)});
    ASSERT_EQ(results.size(), 1U) << program->source;
    first = first.empty() ? results : first;
    EXPECT_EQ(firstDifference(toNumbers<float>(results[0]), toNumbers<float>(first[0]), 1e-4), "") << program->source;
  }
}

}  // namespace
}  // namespace swage::synth
