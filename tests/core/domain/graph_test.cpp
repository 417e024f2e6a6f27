// SPDX-License-Identifier: Apache-2.0
#include "core/domain/graph.h"

#include <gmock/gmock.h>

#include <ostream>

#include "core/domain/checks.h"
#include "tests/core/domain/samples.h"

namespace swage::domain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScalarTypes, HavePyTorchNamesAndSizes) {
  EXPECT_EQ(name(ScalarType::BFloat16), "bfloat16");
  EXPECT_EQ(byteSize(ScalarType::BFloat16), 2U);
  EXPECT_TRUE(isFloating(ScalarType::Float16));
  EXPECT_FALSE(isFloating(ScalarType::Bool));
  for (int i = 0; i <= static_cast<int>(ScalarType::Float64); ++i) {
    const auto type = static_cast<ScalarType>(i);
    EXPECT_EQ(parseScalarType(name(type)), type);
  }
  EXPECT_EQ(parseScalarType("complex64"), std::nullopt);
}

TEST(TensorTypes, CountElementsAndBytes) {
  const TensorType type = contiguousTensor(ScalarType::Float64, {2, 3, 4});
  EXPECT_THAT(type.strides, ElementsAre(12, 4, 1));
  EXPECT_EQ(type.elementCount(), 24);
  EXPECT_EQ(type.byteCount(), 192);
  EXPECT_EQ(contiguousTensor(ScalarType::Int8, {}).elementCount(), 1);
  EXPECT_EQ(contiguousTensor(ScalarType::Int8, {3, 0}).elementCount(), 0);
}

TEST(TensorTypes, AreContiguousWhateverTheStridesOfSingleElements) {
  EXPECT_TRUE((TensorType{ScalarType::Float32, {2, 1, 3}, {3, 99, 1}}).isContiguous());
  EXPECT_TRUE((TensorType{ScalarType::Float32, {0, 3}, {7, 7}}).isContiguous());
  EXPECT_FALSE((TensorType{ScalarType::Float32, {2, 3}, {1, 2}}).isContiguous());
  EXPECT_FALSE((TensorType{ScalarType::Float32, {2, 3}, {0, 1}}).isContiguous());
}

TEST(TensorTypes, WithImpossibleSizesHaveADefect) {
  EXPECT_EQ(findDefect(TensorType{ScalarType::Float32, {4, 8}, {0, 1}}), "") << "an expanded dimension is fine";
  EXPECT_THAT(findDefect(TensorType{ScalarType::Float32, {-1}, {1}}), HasSubstr("negative"));
  EXPECT_THAT(findDefect(TensorType{ScalarType::Float32, {1}, {-1}}), HasSubstr("negative"));
  EXPECT_THAT(findDefect(TensorType{ScalarType::Float32, {1, 2}, {1}}), HasSubstr("2 sizes and 1 strides"));
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_THAT(findDefect(TensorType{ScalarType::Float32, {huge, huge}, {0, 0}}), HasSubstr("elements"));
  EXPECT_THAT(findDefect(TensorType{ScalarType::Float32, {0, huge, huge}, {0, 0, 0}}), HasSubstr("elements"));
  EXPECT_THAT(findDefect(TensorType{ScalarType::Float32, {huge}, {huge}}), HasSubstr("elements"));
}

TEST(Nodes, TellTheirInputsAlsoInsideLists) {
  EXPECT_THAT(inputsOf(testing::sampleGraph().nodes.front()), ElementsAre(ValueId(0), ValueId(1)));
}

struct BrokenGraph {
  const char* expected;
  void (*damage)(Graph&);
  friend void PrintTo(const BrokenGraph& self, std::ostream* out) { *out << self.expected; }
};

class GraphDefects : public ::testing::TestWithParam<BrokenGraph> {};

TEST_P(GraphDefects, AreNamed) {
  Graph graph = testing::sampleGraph();
  ASSERT_EQ(findDefect(graph), "");
  GetParam().damage(graph);
  EXPECT_THAT(findDefect(graph), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, GraphDefects,
    ::testing::Values(
        BrokenGraph{"value 0 has", [](Graph& graph) { graph.values[0].shape[0] = -16; }},
        BrokenGraph{"input 0 has the id 99", [](Graph& graph) { graph.inputs[0].value = ValueId(99); }},
        BrokenGraph{"input 1 defines value 0 a second", [](Graph& graph) { graph.inputs[1].value = ValueId(0); }},
        BrokenGraph{"uses value 3 before", [](Graph& graph) { graph.nodes[0].args[0] = {ValueId(3)}; }},
        BrokenGraph{"uses the id -1", [](Graph& graph) { graph.nodes[0].args[0] = {ValueId()}; }},
        BrokenGraph{"node 0 has no operator", [](Graph& graph) { graph.nodes[0].op = "softmax"; }},
        BrokenGraph{"a second time", [](Graph& graph) { graph.nodes[0].outputs[1] = ValueId(3); }},
        BrokenGraph{"output 1 uses the id 5", [](Graph& graph) { graph.outputs[1].value = ValueId(5); }},
        BrokenGraph{"'gone', which is not an input", [](Graph& graph) { graph.outputs[0].name = "gone"; }},
        BrokenGraph{"comes after", [](Graph& graph) { std::swap(graph.outputs[0], graph.outputs[1]); }}));

}  // namespace
}  // namespace swage::domain
