// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/classify_ptx.h"

#include <gmock/gmock.h>

#include "core/toolchain/ptx_module.h"

namespace swage::toolchain {
namespace {

using domain::Arithmetic;
using domain::DataMovement;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;

domain::KernelFacts factsOf(const std::string& body) {
  const auto kernels = classifyPtx(
      ".version 9.0\n.target sm_90a\n.visible .entry kernel(\n\t.param .u64 p\n)\n{\n" + body + "\n}\n", {"kernel"});
  EXPECT_EQ(kernels.size(), 1U);
  return kernels.empty() ? domain::KernelFacts{} : kernels.front();
}

TEST(PtxModule, CutsFunctionsInstructionsAndLabels) {
  const auto functions = parsePtx(R"(// a comment with .entry in it
.extern .func (.param .b32 r) helper (.param .b32 a);
.visible .entry kernel(
  .param .u64 p
)
.maxntid 256, 1, 1
{
  .reg .f32 %f<5>;
  .loc 1 4 0, function_name $L__info, inlined_at 1 9 3
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];
$L__BB0_2:
  // begin inline asm
  { .reg .pred q; @q mma.sync.x {%f1}, {%f2}; }
  // end inline asm
  @%p1 bra $L__BB0_2;
  ld.shared::cluster.u32 %r1, [%r2];
}
)");
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0].name, "kernel");
  EXPECT_TRUE(functions[0].isEntry);
  std::vector<std::string> lines;
  for (const PtxInstruction& instruction : functions[0].body) {
    lines.push_back(instruction.label.empty() ? instruction.opcode : instruction.label + ":");
  }
  EXPECT_THAT(lines, ElementsAre("ld.global.v4.f32", "$L__BB0_2:", "mma.sync.x", "bra", "ld.shared::cluster.u32"));
  EXPECT_THAT(functions[0].body[0].operands, ElementsAre("%f1", "%f2", "%f3", "%f4", "%rd1", "16"));
}

TEST(ClassifyPtx, LoadsOfParametersAndConstantsMoveNoData) {
  const auto facts = factsOf("ld.param.v4.u32 {%r1,%r2,%r3,%r4}, [p];\nld.const.v2.f32 {%f1,%f2}, [c];");
  EXPECT_EQ(facts.movement, DataMovement::Direct);
  EXPECT_TRUE(facts.evidence.empty());
}

TEST(ClassifyPtx, CountsWideAccessWithAndWithoutStateSpace) {
  EXPECT_THAT(factsOf("ld.global.nc.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];").evidence, ElementsAre(Pair("ld.global.v4", 1)));
  EXPECT_EQ(factsOf("st.v2.f32 [%rd1], {%f1,%f2};").movement, DataMovement::Wide);
  EXPECT_EQ(factsOf("ld.global.b128 %rq1, [%rd1];").movement, DataMovement::Wide);
  EXPECT_EQ(factsOf("ld.local.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];").movement, DataMovement::Direct);
}

TEST(ClassifyPtx, TakesTheHighestMovement) {
  const auto facts = factsOf("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\nst.shared.f32 [%r1], %f1;");
  EXPECT_EQ(facts.movement, DataMovement::Staged);
  EXPECT_EQ(factsOf("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], [%r2];")
                .movement,
            DataMovement::Pipelined);
  EXPECT_EQ(factsOf("mbarrier.init.shared.b64 [%r1], 1;").movement, DataMovement::Pipelined);
}

TEST(ClassifyPtx, TellsPackedArithmeticFromPackedConversions) {
  EXPECT_EQ(factsOf("fma.rn.f16x2 %r1, %r2, %r3, %r4;").arithmetic, Arithmetic::Packed);
  EXPECT_EQ(factsOf("fma.rn.f32x2 %rd1, %rd2, %rd3, %rd4;").arithmetic, Arithmetic::Packed);
  EXPECT_EQ(factsOf("cvt.rn.bf16x2.f32 %r1, %f1, %f2;").arithmetic, Arithmetic::Scalar);
  EXPECT_EQ(factsOf("dp4a.u32.u32 %r1, %r2, %r3, %r4;").arithmetic, Arithmetic::Packed);
}

TEST(ClassifyPtx, KnowsEveryTensorCoreInstruction) {
  for (const std::string opcode :
       {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", "tcgen05.mma.cta_group::1.kind::f16"}) {
    EXPECT_EQ(factsOf(opcode + " %r1, %r2;").arithmetic, Arithmetic::TensorCore) << opcode;
  }
  EXPECT_EQ(factsOf("wgmma.fence.sync.aligned;").arithmetic, Arithmetic::Scalar);
}

TEST(ClassifyPtx, AtomicsOnSharedMemoryStayInTheBlock) {
  EXPECT_FALSE(factsOf("atom.shared.add.f32 %f1, [%r1], %f2;").interBlock);
  EXPECT_TRUE(factsOf("red.global.add.f32 [%rd1], %f2;").interBlock);
  EXPECT_TRUE(factsOf("atom.add.release.gpu.u32 %r1, [%rd1], 1;").interBlock);
  EXPECT_TRUE(factsOf("barrier.cluster.arrive.aligned;").interBlock);
  EXPECT_TRUE(factsOf("mapa.shared::cluster.u32 %r1, %r2, 1;").interBlock);
}

TEST(ClassifyPtx, FindsTheGridSizeInTheStepOfALoop) {
  const auto facts = factsOf(R"(mov.u32 %r5, %nctaid.x;
mul.lo.s32 %r6, %r5, %r4;
$L1:
ld.global.f32 %f1, [%rd1];
add.s32 %r30, %r10, %r6;
mov.u32 %r10, %r30;
setp.lt.s32 %p1, %r10, %r1;
@%p1 bra $L1;)");
  EXPECT_TRUE(facts.interBlock);
  EXPECT_THAT(facts.evidence, Contains(Pair("nctaid.loop", 1)));
}

TEST(ClassifyPtx, IgnoresTheGridSizeInAnIndex) {
  EXPECT_FALSE(factsOf(R"(mov.u32 %r5, %nctaid.x;
mad.lo.s32 %r10, %r3, %r5, %r4;
$L1:
add.s32 %r20, %r10, %r9;
ld.global.f32 %f1, [%rd1];
add.s32 %r9, %r9, %r8;
setp.lt.s32 %p1, %r9, %r1;
@%p1 bra $L1;)")
                   .interBlock);
}

TEST(ClassifyPtx, GivesNoFactsForAnEntryThatIsNotThere) {
  EXPECT_TRUE(classifyPtx(".visible .entry other()\n{\nret;\n}\n", {"kernel"}).empty());
  EXPECT_TRUE(classifyPtx("", {"kernel"}).empty());
}

TEST(PtxModule, EndsOnTextThatIsCutOff) {
  for (const std::string text :
       {".entry", ".entry k", ".entry k(", ".entry k {", ".entry k { ld", ".func (", "/*", "//", "/"}) {
    EXPECT_LE(parsePtx(text).size(), 1U) << text;
  }
}

}  // namespace
}  // namespace swage::toolchain
