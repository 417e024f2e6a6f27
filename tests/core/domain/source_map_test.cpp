// SPDX-License-Identifier: Apache-2.0
#include "core/domain/source_map.h"

#include <gmock/gmock.h>

namespace swage::domain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WithProgramLines, PlacesThePartInItsProgram) {
  constexpr const char* kPtx = R"(.visible .entry kernel()
	.loc	2 3 9
	mov.u32 	%r1, %ctaid.x;
	.loc	2 11 3, function_name $L__info_string0, inlined_at 2 7 3
	mul.f32 	%f6, %f5, %f5;
	.loc	1 90 3
	ret;
	.loc	2 5 0
	.file	1 "/include/cuda_fp16.h"
	.file	2 "/in/source.cu"
)";
  EXPECT_EQ(withProgramLines(kPtx, {{1, 4, 21}, {10, 5, 100}}), R"(.visible .entry kernel()
	.loc	1 23 0
	mov.u32 	%r1, %ctaid.x;
	.loc	1 101 0
	mul.f32 	%f6, %f5, %f5;
	.loc	2 0 0
	ret;
	.loc	2 0 0
)");
  EXPECT_EQ(programLine({}, 12), 12) << "the text is the program's source";
  EXPECT_EQ(programLine({{1, 4, 21}}, 0), 0);
  EXPECT_EQ(programLine({{1, 4, 21}}, 4), 24);
  EXPECT_EQ(programLine({{1, 4, 21}}, 5), 0);
}

TEST(MapListing, ReadsPtx) {
  constexpr const char* kPtx = R"(.version 9.0
.visible .entry kernel(
	.param .u64 kernel_param_0
)
{
	.reg .f32 	%f<19>;
	.loc	1 4 0
	ld.param.u64 	%rd1, [kernel_param_0];
	.loc	1 5 3
	mov.u32 	%r1, %ctaid.x;
$L__BB0_2:
	mov.u32 	%r2, %ctaid.x;
	.loc	2 90 3
	fma.rn.f32 	%f5, %f4, %f3, %f2;
	.loc	1 2 3, function_name $L__info_string0, inlined_at 1 7 3
	mul.f32 	%f6, %f5, %f5;
	ret;
}
	.file	1 "/tmp/source.cu"
	.file	2 "/include/cuda_fp16.h"
)";
  const SourceMap map = mapListing(kPtx);
  EXPECT_THAT(map.lineOf, ElementsAre(0, 0, 0, 0, 0, 0, 0, 4, 0, 5, 0, 5, 0, 0, 0, 2, 2, 0, 0, 0));
  EXPECT_THAT(map.listingLines(5), ElementsAre(9, 11));
  EXPECT_THAT(map.listingLines(90), IsEmpty());
  EXPECT_THAT(map.listingLines(0), IsEmpty());
  EXPECT_FALSE(map.isEmpty());
}

TEST(MapListing, ReadsObjdump) {
  constexpr const char* kListing = R"(0000000000001120 <k>:
k():
/in/source.cpp:12
    1120:	vmovups ymm0,YMMWORD PTR [rdi+rax*1]
    1125:	jne    1120 <k>
/usr/lib/gcc/x86_64-linux-gnu/12/include/avxintrin.h:880
    1127:	vmulps ymm0,ymm0,ymm0
source.cpp:13 (discriminator 3)
    112b:	ret

0000000000001130 <k._omp_fn.0>:
    1130:	ret
)";
  EXPECT_THAT(mapListing(kListing).lineOf, ElementsAre(0, 0, 0, 12, 12, 0, 0, 0, 13, 0, 0, 0));
}

TEST(ListedInstructions, HaveTheirLineByAddress) {
  const auto listed = listedInstructions(
      "0000000000001120 <k>:\nk():\n/in/source.cpp:12\n    1120:\tvmovups ymm0,YMMWORD PTR [rdi]\n"
      "/usr/include/x.h:8\n    112b:\tret\n");
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed.at(0x1120).text, "vmovups ymm0,YMMWORD PTR [rdi]");
  EXPECT_EQ(listed.at(0x1120).line, 12);
  EXPECT_EQ(listed.at(0x112b).line, 0);
}

TEST(MapListing, ReadsNvdisasm) {
  constexpr const char* kSass = R"(.text.kernel:
	//## File "/tmp/source.cu", line 6
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/tmp/other.h", line 8
        /*0010*/                   EXIT ;
)";
  EXPECT_THAT(mapListing(kSass).lineOf, ElementsAre(0, 0, 6, 0, 0));
}

TEST(MapListing, IsEmptyWithoutLineInformation) {
  EXPECT_TRUE(mapListing("0000000000001120 <k>:\n    1120:\tret\n").isEmpty());
  EXPECT_TRUE(mapListing("").isEmpty());
}

}  // namespace
}  // namespace swage::domain
