// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "core/domain/checks.h"
#include "tests/fuzz/candidates.h"
#include "tests/fuzz/minimise.h"
#include "tests/fuzz/random_graph.h"

namespace swage::fuzz {
namespace {

TEST(FuzzCase, IsTheSameForTheSameSeed) {
  EXPECT_EQ(makeCase(7).graph, makeCase(7).graph);
  EXPECT_EQ(makeCase(7).generator, makeCase(7).generator);
  EXPECT_NE(makeCase(7).graph, makeCase(8).graph);
}

TEST(FuzzCase, HasNoDefectAndComesBackFromItsFile) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const FuzzCase made = makeCase(seed);
    ASSERT_EQ(domain::findDefect(made.graph), "") << seed;
    ASSERT_EQ(domain::findDefect(made.generator), "") << seed;
    const auto back = caseFromJson(toJson(made));
    ASSERT_TRUE(back.has_value()) << seed << ": " << back.error().message();
    ASSERT_EQ(back->graph, made.graph) << seed;
    ASSERT_EQ(back->seed, seed);
  }
}

// What the issue asks for is there, often enough that 500 graphs meet it.
TEST(FuzzCase, MeetsOperatorsTypesAndOddShapes) {
  std::set<std::string> operators;
  std::set<domain::ScalarType> types;
  int scalars = 0;
  int empty = 0;
  int strided = 0;
  int inputsAsOutputs = 0;
  int repeatedOutputs = 0;
  int sharedTensors = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const FuzzCase made = makeCase(seed);
    const domain::Graph& graph = made.graph;
    for (const domain::Node& node : graph.nodes) {
      operators.insert(node.op);
    }
    std::set<ValueId> outputs;
    for (const domain::GraphOutput& output : graph.outputs) {
      repeatedOutputs += outputs.insert(output.value).second ? 0 : 1;
    }
    std::set<ValueId> drawn;
    for (const domain::GraphOutput& tensor : made.generator.outputs) {
      sharedTensors += drawn.insert(tensor.value).second ? 0 : 1;
    }
    for (const domain::GraphInput& input : graph.inputs) {
      const domain::TensorType& type = graph.type(input.value);
      types.insert(type.dtype);
      scalars += type.shape.empty() ? 1 : 0;
      empty += type.elementCount() == 0 ? 1 : 0;
      strided += type.isContiguous() ? 0 : 1;
      inputsAsOutputs += outputs.contains(input.value) ? 1 : 0;
    }
  }
  EXPECT_GE(operators.size(), 110U);
  EXPECT_GE(types.size(), 9U);
  for (const int count : {scalars, empty, strided, inputsAsOutputs, repeatedOutputs, sharedTensors}) {
    EXPECT_GE(count, 5);
  }
}

TEST(SmallerCases, LoseANodeOrAnOutputAndStayWhole) {
  const FuzzCase whole = makeCase(3);
  for (const FuzzCase& smaller : smallerCases(whole)) {
    EXPECT_EQ(domain::findDefect(smaller.graph), "");
    EXPECT_EQ(smaller.graph.inputs.size(), smaller.generator.outputs.size());
    const bool isLess = smaller.graph.nodes.size() < whole.graph.nodes.size() ||
                        smaller.graph.outputs.size() < whole.graph.outputs.size();
    EXPECT_TRUE(isLess);
  }
}

TEST(Promotion, IsThatOfPyTorch) {
  EXPECT_EQ(promote(ScalarType::Float16, ScalarType::BFloat16), ScalarType::Float32);
  EXPECT_EQ(promote(ScalarType::Int64, ScalarType::Float16), ScalarType::Float16);
  EXPECT_EQ(promote(ScalarType::UInt8, ScalarType::Int8), ScalarType::Int16);
  EXPECT_EQ(promote(ScalarType::Bool, ScalarType::Int32), ScalarType::Int32);
  EXPECT_EQ(promote(ScalarType::Float64, ScalarType::Float32), ScalarType::Float64);
}

}  // namespace
}  // namespace swage::fuzz
