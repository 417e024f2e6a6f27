// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/synth/emit/cuda_batch.h"
#include "core/synth/emit/kernel_writer.h"
#include "core/synth/region_shape.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

// The form and the loops of a graph that is one region.
struct Walk {
  Form form = Form::Map;
  std::int64_t groups = 0;
  std::int64_t outer = 0;
  std::int64_t inner = 0;
  friend bool operator==(const Walk&, const Walk&) = default;
  friend void PrintTo(const Walk& walk, std::ostream* out) {
    *out << "form " << static_cast<int>(walk.form) << ": " << walk.groups << " x " << walk.outer << " x " << walk.inner;
  }
};

Walk walkOf(const Region& program) {
  const Loops loops = loopsOf(program);
  return {formOf(program), loops.groups, loops.outer, loops.inner};
}

Walk walkOf(const GraphBuilder& b) {
  const Lab lab(b.graph());
  const auto partition = lab.fusion().greedyPartition();
  EXPECT_EQ(partition.size(), 1U);
  return walkOf(lab.region(partition.front()));
}

TEST(Axes, OfASoftmaxOverTheLastDimensionAreRows) {
  GraphBuilder b;
  b.output(b.softmax(b.input({8, 16, 32}), -1));
  EXPECT_EQ(walkOf(b), (Walk{Form::Row, 128, 1, 32}));
}

TEST(Axes, OfASoftmaxOverAMiddleDimensionAreColumns) {
  GraphBuilder b;
  b.output(b.softmax(b.input({8, 16, 32}), 1));
  EXPECT_EQ(walkOf(b), (Walk{Form::Column, 8, 16, 32}));
}

TEST(Axes, OfAGroupNormCutTheChannels) {
  GraphBuilder b;
  b.output(b.like("aten.group_norm.default", b.input({2, 6, 4, 5}), {arg(3), noArg(), noArg(), arg(1e-5)}));
  EXPECT_EQ(walkOf(b), (Walk{Form::Row, 6, 1, 40}));
}

TEST(Axes, OfAGroupNormWithAWeightKeepItsChannelsApart) {
  GraphBuilder b;
  const auto x = b.input({2, 6, 4, 5});
  const auto weight = b.input({6});
  b.output(b.like("aten.group_norm.default", x, {arg(3), arg(weight), noArg(), arg(1e-5)}));
  EXPECT_EQ(walkOf(b), (Walk{Form::Row, 6, 2, 20}));
}

TEST(Axes, OfAChannelStatisticAreReducedOnBothSides) {
  GraphBuilder b;
  b.output(b.call("aten.mean.dim", {arg(b.input({4, 3, 33})), listArg({0, 2}), arg(false)}, {3}));
  EXPECT_EQ(walkOf(b), (Walk{Form::Row, 3, 4, 33}));
}

TEST(Axes, OfContiguousPointwiseWorkBecomeOne) {
  GraphBuilder b;
  const auto x = b.input({4, 5, 6});
  const auto y = b.input({4, 5, 6});
  b.output(b.add(x, y));
  EXPECT_EQ(walkOf(b), (Walk{Form::Map, 1, 1, 120}));
}

TEST(Axes, OfABroadcastBiasStayApart) {
  GraphBuilder b;
  const auto x = b.input({4, 5, 6});
  const auto bias = b.input({6});
  b.output(b.add(x, bias));
  EXPECT_EQ(walkOf(b), (Walk{Form::Map, 20, 1, 6}));
}

TEST(Axes, OfExtentOneAreDropped) {
  GraphBuilder b;
  b.output(b.softmax(b.input({1, 7, 1, 33}), 3));
  EXPECT_EQ(walkOf(b), (Walk{Form::Row, 7, 1, 33}));
}

TEST(Axes, SetTheWidestVectorThatStaysAligned) {
  for (const auto& [inner, width] : {std::pair(33, 1), std::pair(34, 2), std::pair(36, 4), std::pair(64, 8)}) {
    GraphBuilder b;
    b.output(b.softmax(b.input({7, inner}), 1));
    const Lab lab(b.graph());
    EXPECT_EQ(maxVectorWidth(lab.region({0}), 8), width) << inner;
  }
}

TEST(Stages, OfASoftmaxFuseIntoOne) {
  GraphBuilder b;
  b.output(b.softmax(b.input({7, 33}), 1));
  const Lab lab(b.graph());
  Region program = lab.region({0});
  EXPECT_EQ(program.stageCount(), 2);
  EXPECT_EQ(fuseStages(program), Changed::Yes);
  EXPECT_EQ(program.stageCount(), 1);
  ASSERT_EQ(program.folds.size(), 1U);
  EXPECT_EQ(program.folds[0].kind, FoldKind::SoftmaxPair);
  EXPECT_EQ(fuseStages(program), Changed::No);
}

TEST(Stages, OfALayerNormFuseIntoOne) {
  GraphBuilder b;
  b.output(b.like("aten.layer_norm.default", b.input({7, 33}), {listArg({33}), noArg(), noArg(), arg(1e-5)}));
  const Lab lab(b.graph());
  Region program = lab.region({0, 1});
  EXPECT_EQ(program.stageCount(), 2);
  EXPECT_EQ(fuseStages(program), Changed::Yes);
  EXPECT_EQ(program.stageCount(), 1);
  ASSERT_EQ(program.folds.size(), 1U);
  EXPECT_EQ(program.folds[0].kind, FoldKind::MomentPair);
}

TEST(Stages, OfAPlainSumStayAsTheyAre) {
  GraphBuilder b;
  b.output(b.call("aten.sum.dim_IntList", {arg(b.input({7, 33})), listArg({1}), arg(false)}, {7}));
  const Lab lab(b.graph());
  Region program = lab.region({0});
  EXPECT_EQ(fuseStages(program), Changed::No);
}

// A kernel for a region of a GPU, before anything of it is written.
struct Kernel {
  explicit Kernel(Region of) : region(std::move(of)) { device.kind = domain::DeviceKind::Cuda; }

  Region region;
  patterns::Pattern pattern;
  Parameters parameters;
  domain::DeviceInfo device;
  Instance instance{pattern, region, parameters, device};
};

TEST(WrittenKernel, NamesEachTensorOnceInputsFirst) {
  GraphBuilder b;
  const auto x = b.input({7, 33});
  const auto y = b.input({7, 33});
  b.output(b.mul(b.add(x, y), x));
  const Kernel kernel(Lab(b.graph()).region({0, 1}));
  const KernelWriter writer(kernel.instance, Dialect::of(domain::Language::CudaCpp));
  ASSERT_EQ(writer.buffers().size(), 3U);
  EXPECT_EQ(writer.buffers()[0].value, x);
  EXPECT_EQ(writer.buffers()[1].value, y);
  EXPECT_FALSE(writer.buffers()[1].output);
  EXPECT_EQ(writer.buffers()[2].value, b.graph().outputs[0].value);
  EXPECT_TRUE(writer.buffers()[2].output);
}

TEST(WrittenKernel, HasWideCoordinatesForLargeTensorsOnly) {
  for (const auto& [rows, type] : {std::pair(1 << 10, "int"), std::pair(1 << 17, "long long")}) {
    GraphBuilder b;
    b.output(b.relu(b.input({rows, 1 << 15})));
    const Kernel kernel(Lab(b.graph()).region({0}));
    EXPECT_EQ(KernelWriter(kernel.instance, Dialect::of(domain::Language::CudaCpp)).index(), type);
  }
}

// A walk backwards ends below zero in the first block, where unsigned positions would lie behind every tensor.
TEST(WrittenKernel, CountsBackwardsWithASign) {
  GraphBuilder b;
  b.output(b.relu(b.input({7, 33})));
  const Kernel kernel(Lab(b.graph()).region({0}));
  KernelWriter writer(kernel.instance, Dialect::of(domain::Language::CudaCpp));
  writer.countUnsigned();
  cuda::Batch batch{.first = "first", .distance = 64, .count = 2, .end = "begin", .axes = {}, .backwards = true};
  cuda::forEach(writer, batch, cuda::Position::Used, [] {});
  batch.backwards = false;
  batch.end = "end";
  cuda::forEach(writer, batch, cuda::Position::Used, [] {});
  EXPECT_THAT(writer.finish().source,
              ::testing::AllOf(::testing::HasSubstr("const int k = first - u * 64;\n  if (k >= begin) {"),
                               ::testing::HasSubstr("const unsigned int k = first + u * 64;")));
}

}  // namespace
}  // namespace swage::synth
