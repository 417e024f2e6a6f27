// SPDX-License-Identifier: Apache-2.0
#include "core/synth/fusion.h"

#include <gmock/gmock.h>

#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

using ::testing::ElementsAre;
using Partition = std::vector<std::vector<int>>;

TEST(Fusion, JoinsAChainAroundASoftmaxIntoOneRegion) {
  GraphBuilder b;
  const auto x = b.input({7, 33});
  b.output(b.mul(b.softmax(b.relu(x), -1), 2.0));
  const Lab lab(b.graph());
  EXPECT_EQ(lab.fusion().greedyPartition(), (Partition{{0, 1, 2}}));
  EXPECT_EQ(lab.fusion().singlePartition(), (Partition{{0}, {1}, {2}}));
  const Region program = lab.region({0, 1, 2});
  EXPECT_EQ(program.elementStores.size(), 1U);
  EXPECT_EQ(program.groupStores.size(), 0U);
}

TEST(Fusion, StoresWhatIsReadOutsideOrIsAResult) {
  GraphBuilder b;
  const auto x = b.input({7, 33});
  const auto shown = b.relu(x);
  const auto readOutside = b.mul(shown, 2.0);
  const auto inner = b.mul(readOutside, 3.0);
  b.output(b.add(inner, shown));
  b.output(shown);
  b.output(b.like("aten.logcumsumexp.default", readOutside, {arg(1)}));
  const Lab lab(b.graph());
  const std::vector<int> all{0, 1, 2, 3};
  EXPECT_THAT(lab.fusion().outputsOf(all), ElementsAre(shown, readOutside, b.graph().outputs[0].value));
  EXPECT_EQ(lab.region(all).elementStores.size(), 3U);
  EXPECT_THAT(lab.fusion().outputsOf({2, 3}), ElementsAre(b.graph().outputs[0].value));
}

TEST(Fusion, StoresNoCounterForEachElementOfALargeResult) {
  const auto partitionOf = [](std::int64_t rows) {
    GraphBuilder b;
    const auto x = b.input({rows, 1024});
    b.output(b.relu(x));
    for (int i = 0; i < 2; ++i) {
      b.output(b.like("aten.add.Tensor", b.input({}, domain::ScalarType::Int64), {arg(1)}));
    }
    return Lab(b.graph()).fusion().greedyPartition();
  };
  EXPECT_EQ(partitionOf(64), (Partition{{0, 1, 2}}));
  EXPECT_EQ(partitionOf(65), (Partition{{0}, {1, 2}}));
}

TEST(Fusion, JoinsBranchesThatMeet) {
  GraphBuilder b;
  const auto gate = b.like("aten.sigmoid.default", b.input({7, 33}));
  const auto value = b.softmax(b.input({7, 33}), -1);
  const auto last = b.relu(b.input({7, 33}));
  b.output(b.add(b.mul(gate, value), last));
  EXPECT_EQ(Lab(b.graph()).fusion().greedyPartition(), (Partition{{0, 1, 2, 3, 4}}));
}

TEST(Fusion, JoinsNoOtherBranchIntoAProduct) {
  GraphBuilder b;
  const auto other = b.relu(b.input({64, 48}));
  const auto product = b.call("aten.mm.default", {arg(b.input({64, 32})), arg(b.input({32, 48}))}, {64, 48});
  b.output(b.add(product, other));
  EXPECT_EQ(Lab(b.graph()).fusion().greedyPartition(), (Partition{{0}, {1, 2}}));
}

TEST(Fusion, RefusesACycleThroughAnAtenNode) {
  GraphBuilder b;
  const auto x = b.input({7, 33});
  const auto first = b.relu(x);
  const auto between = b.like("aten.logcumsumexp.default", first, {arg(1)});
  b.output(b.add(first, between));
  const Lab lab(b.graph());
  ASSERT_NE(lab.fusion().region({0, 1}), nullptr);
  EXPECT_FALSE(lab.fusion().schedule({{0, 1}}).has_value());
  EXPECT_EQ(lab.fusion().greedyPartition(), (Partition{{0}, {1}}));
  const auto order = lab.fusion().schedule({{0}, {1}});
  ASSERT_TRUE(order.has_value());
  EXPECT_THAT(*order, ElementsAre(0, ~1, 1));
}

TEST(Fusion, RefusesACycleThroughAnotherRegion) {
  GraphBuilder b;
  const auto x = b.input({7, 33});
  const auto first = b.relu(x);
  const auto between = b.mul(first, 2.0);
  b.output(b.add(first, between));
  const Lab lab(b.graph());
  EXPECT_FALSE(lab.fusion().schedule({{0, 2}, {1}}).has_value());
  EXPECT_TRUE(lab.fusion().schedule({{0}, {1, 2}}).has_value());
}

TEST(Fusion, RefusesAValueThatComesBackOnAnotherAxis) {
  GraphBuilder b;
  const auto x = b.input({33, 33});
  // The sums number rows; broadcast against x they would number columns.
  const auto sums = b.call("aten.sum.dim_IntList", {arg(x), listArg({1}), arg(false)}, {33});
  b.output(b.add(x, sums));
  const Lab lab(b.graph());
  EXPECT_EQ(lab.fusion().region({0, 1}), nullptr);
  EXPECT_EQ(lab.fusion().greedyPartition(), (Partition{{0}, {1}}));
}

TEST(Fusion, AllowsAReductionThatKeepsItsDimension) {
  GraphBuilder b;
  const auto x = b.input({33, 33});
  const auto sums = b.call("aten.sum.dim_IntList", {arg(x), listArg({1}), arg(true)}, {33, 1});
  b.output(b.like("aten.div.Tensor", x, {arg(sums)}));
  const Lab lab(b.graph());
  EXPECT_EQ(lab.fusion().greedyPartition(), (Partition{{0, 1}}));
}

TEST(Fusion, RefusesReductionsOverDifferentDimensions) {
  GraphBuilder b;
  const auto x = b.input({7, 33});
  b.output(b.softmax(b.softmax(x, 0), 1));
  const Lab lab(b.graph());
  EXPECT_EQ(lab.fusion().region({0, 1}), nullptr);
}

TEST(Fusion, RelatesOperationsThatShareATensor) {
  GraphBuilder b;
  const auto x = b.input({7, 33});
  const auto y = b.input({7, 33});
  b.output(b.relu(x));
  b.output(b.silu(x));
  b.output(b.relu(y));
  const Lab lab(b.graph());
  EXPECT_TRUE(lab.fusion().areRelated({0}, {1}));
  EXPECT_FALSE(lab.fusion().areRelated({0, 1}, {2}));
}

TEST(Fusion, StoresNothingForAGroupThatDiffersBetweenItsElements) {
  GraphBuilder b;
  const auto x = b.input({7, 33});
  const auto doubled = b.mul(b.input({33}), 2.0);
  b.output(doubled);
  b.output(b.call("aten.sum.default", {arg(b.add(x, doubled))}, {}));
  const Lab lab(b.graph());
  for (const std::vector<int>& operations : lab.fusion().greedyPartition()) {
    const Region program = lab.region(operations);
    for (const Store& store : program.groupStores) {
      EXPECT_FALSE(program.prims[static_cast<std::size_t>(store.prim)].perElement);
    }
  }
}

TEST(Fusion, KeepsBothPassesOfACrossEntropyApart) {
  GraphBuilder b;
  const auto logits = b.input({33, 7});
  const auto target = b.input({33}, domain::ScalarType::Int64);
  b.output(b.call("aten.cross_entropy_loss.default", {arg(logits), arg(target), noArg(), arg(1)}, {}));
  const Lab lab(b.graph());
  EXPECT_EQ(lab.fusion().greedyPartition(), (Partition{{0}, {1}}));
  // The losses and the rows that count: both of ours, both read by the second pass.
  EXPECT_EQ(lab.region({0}).groupStores.size(), 2U);
}

}  // namespace
}  // namespace swage::synth
