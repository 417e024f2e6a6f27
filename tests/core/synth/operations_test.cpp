// SPDX-License-Identifier: Apache-2.0
#include "core/synth/operations.h"

#include <gmock/gmock.h>

#include "core/domain/aten.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Type = domain::ScalarType;

std::vector<int> operationCounts(const GraphBuilder& b) {
  return findOperations(b.graph()).operationCount;
}

TEST(Operations, StemFromOperatorsOfTheOneTable) {
  EXPECT_THAT(loweredOperators(), ::testing::Each(::testing::ResultOf(domain::isKnownAten, true)));
}

TEST(Operations, AreFoundForPointwiseAndSoftmax) {
  GraphBuilder b;
  const auto x = b.input({8, 33});
  b.output(b.softmax(b.relu(x), -1));
  const OperationGraph found = findOperations(b.graph());
  EXPECT_THAT(found.operationCount, ElementsAre(1, 1));
  EXPECT_THAT(found.operations[0].layout.reducedDims, IsEmpty());
  EXPECT_THAT(found.operations[1].layout.reducedDims, ElementsAre(1));
}

TEST(Operations, OfALayerNormAreItsStatisticsAndItsMap) {
  GraphBuilder b;
  const auto x = b.input({4, 5, 6});
  const auto weight = b.input({6});
  b.output(b.like("aten.layer_norm.default", x, {listArg({6}), arg(weight), noArg(), arg(1e-5)}));
  const OperationGraph found = findOperations(b.graph());
  ASSERT_EQ(found.operations.size(), 2U);
  EXPECT_THAT(found.operations[0].layout.reducedDims, ElementsAre(2));
  EXPECT_THAT(found.operations[0].inputs, ElementsAre(x));
  EXPECT_THAT(found.operations[1].layout.reducedDims, IsEmpty());
  EXPECT_THAT(found.operations[1].inputs, ::testing::IsSupersetOf(found.operations[0].outputs));
  EXPECT_THAT(found.operations[1].inputs, ::testing::IsSupersetOf({x, weight}));
  EXPECT_THAT(found.operations[1].outputs, ElementsAre(b.graph().outputs[0].value));
}

TEST(Operations, SplitTheChannelsOfGroupNorm) {
  GraphBuilder b;
  b.output(b.like("aten.group_norm.default", b.input({2, 6, 4, 4}), {arg(3), noArg(), noArg(), arg(1e-5)}));
  const OperationGraph found = findOperations(b.graph());
  ASSERT_EQ(found.operations.size(), 2U);
  for (const Operation& operation : found.operations) {
    EXPECT_EQ(operation.layout.splitDim, 1);
    EXPECT_EQ(operation.layout.splitOuter, 3);
  }
}

TEST(Operations, GiveTheRunningStatisticsOfBatchNormInTraining) {
  GraphBuilder b;
  const auto x = b.input({4, 3, 33});
  const auto channel = [&] { return arg(b.input({3})); };
  const auto weight = channel();
  const auto bias = channel();
  const auto mean = channel();
  const auto variance = channel();
  const auto results = b.node("aten._native_batch_norm_legit_functional.default",
                              {arg(x), weight, bias, mean, variance, arg(true), arg(0.1), arg(1e-5)},
                              {{{4, 3, 33}, Type::Float32},
                               {{3}, Type::Float32},
                               {{3}, Type::Float32},
                               {{3}, Type::Float32},
                               {{3}, Type::Float32}});
  b.dropResult(1);
  b.dropResult(2);
  const OperationGraph found = findOperations(b.graph());
  ASSERT_EQ(found.operations.size(), 2U);
  EXPECT_THAT(found.operations[0].layout.reducedDims, ElementsAre(0, 2));
  EXPECT_THAT(found.operations[0].outputs, ::testing::IsSupersetOf({results[3], results[4]}));
  EXPECT_THAT(found.operations[1].outputs, ElementsAre(results[0]));
}

TEST(Operations, AreTwoForACrossEntropyWithAMeanAndOneWithout) {
  for (const auto& [reduction, count] : {std::pair(0, 1), std::pair(1, 2), std::pair(2, 2)}) {
    GraphBuilder b;
    const auto logits = b.input({33, 7});
    const auto target = b.input({33}, Type::Int64);
    const domain::Shape shape = reduction == 0 ? domain::Shape{33} : domain::Shape{};
    b.output(b.call("aten.cross_entropy_loss.default", {arg(logits), arg(target), noArg(), arg(reduction)}, shape));
    EXPECT_THAT(operationCounts(b), ElementsAre(count)) << "reduction " << reduction;
  }
}

TEST(Operations, FollowTheIndexOfAMaximumOnlyWhereItIsRead) {
  for (const bool read : {true, false}) {
    GraphBuilder b;
    const auto results =
        b.node("aten.max.dim", {arg(b.input({7, 33})), arg(1), arg(false)}, {{{7}, Type::Float32}, {{7}, Type::Int64}});
    b.output(results[0]);
    if (read) {
      b.output(results[1]);
    } else {
      b.dropResult(1);
    }
    const Lab lab(b.graph());
    const Region program = lab.region({0});
    ASSERT_EQ(program.folds.size(), 1U);
    EXPECT_EQ(program.folds[0].kind, read ? FoldKind::ArgMaximum : FoldKind::Maximum);
    EXPECT_EQ(program.groupStores.size(), read ? 2U : 1U);
  }
}

TEST(Operations, AreFoundForAMeanOverSomeAndOverAllDimensions) {
  GraphBuilder b;
  const auto x = b.input({4, 5, 6});
  b.output(b.call("aten.mean.dim", {arg(x), listArg({0, -1}), arg(true)}, {1, 5, 1}));
  b.output(b.call("aten.mean.default", {arg(x)}, {}));
  const OperationGraph found = findOperations(b.graph());
  ASSERT_EQ(found.operations.size(), 2U);
  EXPECT_THAT(found.operations[0].layout.reducedDims, ElementsAre(0, 2));
  EXPECT_THAT(found.operations[1].layout.reducedDims, ElementsAre(0, 1, 2));
}

TEST(Operations, LeaveWhatIsNotSupportedToAten) {
  GraphBuilder b;
  const auto x = b.input({8, 8});
  const auto logits = b.input({8, 4});
  const auto target = b.input({8}, Type::Int64);
  const auto weight = b.input({4});
  const auto whole = b.input({8, 8}, Type::Int64);
  b.output(b.call("aten.cdist.default", {arg(x), arg(x)}, {8, 8}));
  b.output(b.like("aten.logcumsumexp.default", x, {arg(1)}));
  b.output(b.call("aten.cross_entropy_loss.default", {arg(logits), arg(target), arg(weight), arg(1)}, {}));
  b.output(b.call("aten.sum.default", {arg(whole)}, {}, Type::Int64));
  b.output(b.like("aten.dropout.default", x, {arg(0.5), arg(true)}));
  EXPECT_THAT(operationCounts(b), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(makeSynthesizer(b.graph(), cpuDevice())->coveredNodes(), IsEmpty());
}

TEST(Operations, OfAGraphThatNothingCoversMakeAProgramOfAtenStepsOnly) {
  GraphBuilder b;
  const auto x = b.input({8, 8});
  b.output(b.call("aten.cdist.default", {arg(x), arg(x)}, {8, 8}));
  const auto synthesizer = makeSynthesizer(b.graph(), cudaDevice());
  EXPECT_THAT(synthesizer->seeds(), IsEmpty());
  const auto program = synthesizer->realise({});
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->source, "");
  ASSERT_EQ(program->plan.steps.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<domain::AtenStep>(program->plan.steps[0]));
  EXPECT_EQ(domain::findDefect(program->plan), "");
}

}  // namespace
}  // namespace swage::synth
