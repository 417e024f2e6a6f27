// SPDX-License-Identifier: Apache-2.0
#include "core/verify/recurrent_weights.h"

#include <ATen/ops/full.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/device/cpu_device.h"
#include "core/verify/task_inputs.h"
#include "tests/core/verify/task_builder.h"

namespace swage::verify {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A GRU of 2 units over x of 3 numbers, without biases; `kind` is that of its second weight, `weights` those it gets.
domain::Graph gruGraph(const std::string& kind = "parameter",
                       const std::string& weights = "{\"value\": 2}, {\"value\": 3}") {
  return testing::graphFromText(fmt::format(R"({{
    "values": [{{"dtype": "float32", "shape": [5, 1, 3], "strides": [3, 3, 1]}},
               {{"dtype": "float32", "shape": [1, 1, 2], "strides": [2, 2, 1]}},
               {{"dtype": "float32", "shape": [6, 3], "strides": [3, 1]}},
               {{"dtype": "float32", "shape": [6, 2], "strides": [2, 1]}},
               {{"dtype": "float32", "shape": [5, 1, 2], "strides": [2, 2, 1]}},
               {{"dtype": "float32", "shape": [1, 1, 2], "strides": [2, 2, 1]}}],
    "inputs": [{{"value": 0, "kind": "user", "name": "x"}}, {{"value": 1, "kind": "user", "name": "h"}},
               {{"value": 2, "kind": "parameter", "name": "w_ih"}}, {{"value": 3, "kind": "{}", "name": "w_hh"}}],
    "nodes": [{{"op": "aten.gru.input", "args": [{{"value": 0}}, {{"value": 1}}, [{}], false, 1, 0.0, false, false, true],
                "kwargs": {{}}, "outputs": [4, 5], "where": ""}}],
    "outputs": [{{"value": 4, "kind": "user", "name": ""}}]}})",
                                            kind, weights));
}

TEST(RecurrentWeights, AreFoundWithTheSizesOfTheirLayers) {
  RecurrentCall expected;
  expected.weights = {2, 3};
  expected.weightsEach = 2;
  expected.mode = 3;
  expected.inputs = 3;
  expected.hidden = 2;
  expected.layers = 1;
  expected.isBatchFirst = true;
  EXPECT_THAT(recurrentCalls(gruGraph()), ElementsAre(expected));
}

// The module has them nowhere in one piece, either.
TEST(RecurrentWeights, AreLeftWhereTheyAreWhenTheUserGivesThemOrTheyAreThereTwice) {
  EXPECT_THAT(recurrentCalls(gruGraph("user")), IsEmpty());
  EXPECT_THAT(recurrentCalls(gruGraph("parameter", "{\"value\": 3}, {\"value\": 3}")), IsEmpty());
}

TEST(RecurrentWeights, AreInOnePieceOnlyWhereCudnnWantsThem) {
  EXPECT_THAT(weightChunks(gruGraph(), c10::Device(c10::kCPU)), IsEmpty());
}

class WorkingInputsInOnePiece : public ::testing::Test {
 protected:
  // With four numbers that are no weight, between the two.
  WorkingInputsInOnePiece() {
    const WeightChunk chunk{34, {{2, 0}, {3, 22}}};
    m_working.emplace(m_graph, *m_device, c10::Device(c10::kCPU), std::vector{chunk});
    for (std::size_t i = 0; i < m_graph.inputs.size(); ++i) {
      const domain::TensorType& type = m_graph.type(m_graph.inputs[i].value);
      m_made.push_back(at::full(type.shape, static_cast<double>(i + 1), at::kFloat));
    }
    m_working->fill(m_made, 0);
  }

  domain::Graph m_graph = gruGraph();
  std::unique_ptr<device::Device> m_device = device::CpuDevice::create(1);
  std::optional<WorkingInputs> m_working;
  std::vector<at::Tensor> m_made;
};

TEST_F(WorkingInputsInOnePiece, HoldWhatTheyWereFilledWith) {
  for (std::size_t i = 0; i < m_made.size(); ++i) {
    EXPECT_TRUE(m_working->tensors()[i].equal(m_made[i])) << i;
    EXPECT_TRUE(hasStrides(m_working->tensors()[i], m_graph.type(m_graph.inputs[i].value))) << i;
  }
}

// What cuDNN looks at to see whether it must copy them.
TEST_F(WorkingInputsInOnePiece, HaveAStorageThatBeginsWithTheFirst) {
  const at::Tensor& first = m_working->tensors()[2];
  const at::Tensor& second = m_working->tensors()[3];
  EXPECT_TRUE(first.is_alias_of(second));
  EXPECT_EQ(first.storage().data(), first.data_ptr());
  EXPECT_EQ(first.storage().nbytes(), 34U * 4U);
  EXPECT_EQ(second.storage_offset(), 22);
  EXPECT_EQ(first.as_strided({4}, {1}, 18).abs().sum().item<float>(), 0.0F);
}

TEST_F(WorkingInputsInOnePiece, HaveRedZonesAroundThem) {
  ASSERT_THAT(m_working->buffers(), SizeIs(3));
  const auto& zones = m_working->buffers()[0].redZones();
  const auto* begin = static_cast<const char*>(m_working->tensors()[2].data_ptr());
  EXPECT_EQ(static_cast<const char*>(zones[0].data_ptr()) + zones[0].nbytes(), begin);
  EXPECT_EQ(static_cast<const char*>(zones[1].data_ptr()), begin + 34 * 4);
}

}  // namespace
}  // namespace swage::verify
