// SPDX-License-Identifier: Apache-2.0
// Attention: what it is lowered to, and what the kernel for the CPU computes.
#include <gmock/gmock.h>

#include <ostream>

#include "core/domain/checks.h"
#include "core/synth/rewriting/rewriting.h"
#include "tests/core/synth/attention_numbers.h"

namespace swage::synth {
namespace {

using Mask = AttentionCase::Mask;

std::vector<NestKind> kindsOf(const Region& region) {
  std::vector<NestKind> kinds;
  for (const Nest& nest : region.nests) {
    kinds.push_back(nest.kind);
  }
  return kinds;
}

TEST(Attention, IsAChainOfTwoProductsAndWhatIsFoundBetween) {
  for (const Mask mask : {Mask::None, Mask::Causal, Mask::Bool, Mask::Bias}) {
    AttentionCase sizes;
    sizes.mask = mask;
    const GraphBuilder b = AttentionNumbers(sizes).builder();
    const Lab lab(b.graph());
    const Region region = lab.region({0});
    EXPECT_THAT(kindsOf(region), ::testing::ElementsAre(NestKind::Contract, NestKind::Reduce, NestKind::Contract));
    EXPECT_EQ(region.axes.size(), 5U);  // batches and heads are one
    EXPECT_TRUE(region.elementStores.empty());
  }
}

TEST(Attention, TakesInWhatFollows) {
  const GraphBuilder b = AttentionNumbers(AttentionCase()).builder(true);
  const Lab lab(b.graph());
  EXPECT_NE(lab.fusion().region({0, 1}), nullptr);
}

TEST(Attention, WithDropoutIsLeftToPyTorch) {
  GraphBuilder b;
  const auto x = b.input({2, 3, 16, 8});
  b.output(b.like("aten.scaled_dot_product_attention.default", x, {arg(x), arg(x), noArg(), arg(0.1), arg(false)}));
  EXPECT_THAT(findOperations(b.graph()).operationCount, ::testing::ElementsAre(0));
}

// --- written out -----------------------------------------------------------------------------------------------------

enum class Between : std::uint8_t { Nothing, Fill, Bias, Reader };

GraphBuilder writtenOut(std::int64_t depth, Between between) {
  GraphBuilder b;
  const domain::Shape scores{2, 4, 32, 32};
  const auto q = b.input({2, 4, 32, depth});
  const auto k = b.input({2, 4, 32, depth});
  const auto v = b.input({2, 4, 32, depth});
  const auto turned = b.call("aten.transpose.int", {arg(k), arg(-2), arg(-1)}, {2, 4, depth, 32});
  auto score = b.mul(b.call("aten.matmul.default", {arg(q), arg(turned)}, scores), 0.125);
  if (between == Between::Fill) {
    const auto mask = b.input({1, 1, 32, 32}, domain::ScalarType::Bool);
    score = b.like("aten.masked_fill.Scalar", score, {arg(mask), arg(-std::numeric_limits<double>::infinity())});
  } else if (between == Between::Bias) {
    score = b.add(score, b.input({32, 32}));
  } else if (between == Between::Reader) {
    b.output(b.relu(score));
  }
  // As models have it that train without dropout.
  const auto weights = b.like("aten.dropout.default", b.softmax(score, -1), {arg(0.0), arg(true)});
  b.output(b.call("aten.matmul.default", {arg(weights), arg(v)}, {2, 4, 32, depth}));
  return b;
}

std::vector<std::string> operatorsAfterAll(const domain::Graph& graph) {
  std::vector<std::string> names;
  const auto changed = rewritten(graph, allRewrites(graph));
  EXPECT_TRUE(changed.has_value());
  EXPECT_EQ(changed ? domain::findDefect(*changed) : "", "");
  for (const domain::Node& node : changed ? changed->nodes : std::vector<domain::Node>()) {
    names.push_back(node.op);
  }
  return names;
}

TEST(WrittenOutAttention, BecomesOneOperation) {
  EXPECT_THAT(operatorsAfterAll(writtenOut(16, Between::Nothing).graph()),
              ::testing::ElementsAre("aten.scaled_dot_product_attention.default"));
  EXPECT_THAT(operatorsAfterAll(writtenOut(16, Between::Bias).graph()),
              ::testing::ElementsAre("aten.scaled_dot_product_attention.default"));
  EXPECT_THAT(operatorsAfterAll(writtenOut(16, Between::Fill).graph()),
              ::testing::ElementsAre("aten.logical_not.default", "aten.scaled_dot_product_attention.default"));
}

TEST(WrittenOutAttention, StaysWhereOthersNeedTheScoresOrHeadsAreLarge) {
  EXPECT_EQ(operatorsAfterAll(writtenOut(16, Between::Reader).graph()).size(), 7U);
  EXPECT_EQ(operatorsAfterAll(writtenOut(512, Between::Nothing).graph()).size(), 6U);
}

TEST(AttentionOfLargeHeads, BecomesTwoProducts) {
  const auto ofDepth = [](std::size_t depth) {
    return operatorsAfterAll(AttentionNumbers({1, 2, 2, 32, 32, depth, depth}).builder().graph());
  };
  EXPECT_THAT(ofDepth(512), ::testing::ElementsAre("aten.einsum.default", "aten.mul.Tensor", "aten.softmax.int",
                                                   "aten.matmul.default"));
  EXPECT_THAT(ofDepth(64), ::testing::ElementsAre("aten.scaled_dot_product_attention.default"));
}

// --- on a processor --------------------------------------------------------------------------------------------------

struct Setting {
  const char* name;
  AttentionCase sizes;
  friend void PrintTo(const Setting& self, std::ostream* out) { *out << self.name; }
};

class CpuAttentions : public ::testing::TestWithParam<Setting> {};

TEST_P(CpuAttentions, AgreeWithLoopsInDouble) {
  const AttentionNumbers numbers(GetParam().sizes);
  const auto synthesizer = makeSynthesizer(numbers.builder(true).graph(), cpuDevice());
  Numbers want = numbers.want();
  for (double& number : want) {
    number = std::max(number, 0.0);
  }
  int tried = 0;
  for (domain::Genome genome : synthesizer->seeds()) {
    if (genome.regions.size() != 1 || genome.regions[0].pattern != "attention" || tried == 2) {
      continue;
    }
    genome.regions[0].parameters["tile_rows"] = tried == 0 ? 8 : 32;
    genome.regions[0].parameters["tile_keys"] = tried == 0 ? 16 : 64;
    ++tried;
    const auto program = synthesizer->realise(genome);
    ASSERT_TRUE(program.has_value()) << program.error().message();
    const bool isDouble = GetParam().sizes.type == domain::ScalarType::Float64;
    const auto results = runOnCpu(*program, isDouble ? numbers.inputs<double>() : numbers.inputs<float>());
    ASSERT_EQ(results.size(), 1U) << program->source;
    EXPECT_EQ(firstDifference(isDouble ? toNumbers<double>(results[0]) : toNumbers<float>(results[0]), want,
                              isDouble ? 1e-13 : 2e-6),
              "")
        << program->source;
  }
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, CpuAttentions,
    ::testing::Values(Setting{"Plain", {}}, Setting{"Causal", {2, 2, 2, 40, 33, 16, 20, Mask::Causal}},
                      Setting{"WithABias", {1, 3, 3, 33, 45, 24, 24, Mask::Bias, 0.3}},
                      Setting{"WithAMask", {2, 2, 2, 20, 9, 24, 17, Mask::Bool}},
                      Setting{"OfGroupedQueries", {2, 6, 2, 19, 31, 8, 16}},
                      Setting{"OfOneQuery", {2, 2, 2, 1, 70, 16, 16}},
                      Setting{"InDouble", {1, 2, 1, 9, 70, 16, 16, Mask::Causal, {}, domain::ScalarType::Float64}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swage::synth
