// SPDX-License-Identifier: Apache-2.0
#include "core/domain/listing.h"

#include <gmock/gmock.h>

namespace swage::domain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kObjdump = R"(0000000000001120 <_ZN5swage3sumEPKf>:
_ZN5swage3sumEPKf():
/in/source.cpp:12
    1120:	vmovups ymm0,YMMWORD PTR [rdi+rax*1]
././source.cpp:471
    1125:	jne    1120 <_ZN5swage3sumEPKf+0x10>
source.cpp:13 (discriminator 3)
    1127:	lea    rdi,[rip+0xfffffffffffffe9e]        # 1000 <_ZN5swage3sumEPKf._omp_fn.0>
    112b:	ret

0000000000001130 <k._omp_fn.0>:
    1130:	call   1050 <expf@plt>
    1135:	vfmadd213ps ymm1,ymm2,YMMWORD PTR [rsp+0x20]
)";

constexpr const char* kPtx = R"(.version 9.0
.visible .entry kernel(
	.param .u64 kernel_param_0
)
{
	.reg .b32 	%r<19>;
	.loc	1 4 0
	ld.param.u64 	%rd1, [kernel_param_0];
$L__BB0_2:
	bra 	$L__BB0_2;
}
	.file	1 "/tmp/source.cu"
	.section	.debug_abbrev
	{
.b8 1
	}
)";

TEST(ReadableListing, HasNeitherPlacesNorDirectivesAndPlainNames) {
  EXPECT_EQ(readableListing(kObjdump).text, R"(0000000000001120 <swage::sum(float const*)>:
    1120:	vmovups ymm0,YMMWORD PTR [rdi+rax*1]
    1125:	jne    1120 <swage::sum(float const*)+0x10>
    1127:	lea    rdi,[rip+0xfffffffffffffe9e]        # 1000 <swage::sum(float const*)._omp_fn.0>
    112b:	ret

0000000000001130 <k._omp_fn.0>:
    1130:	call   1050 <expf@plt>
    1135:	vfmadd213ps ymm1,ymm2,YMMWORD PTR [rsp+0x20]
)");
  EXPECT_EQ(readableListing(kPtx).text, R"(.version 9.0
.visible .entry kernel(
	.param .u64 kernel_param_0
)
{
	.reg .b32 	%r<19>;
	ld.param.u64 	%rd1, [kernel_param_0];
$L__BB0_2:
	bra 	$L__BB0_2;
}
)");
}

TEST(ReadableListing, KnowsTheLineOfTheOriginal) {
  EXPECT_THAT(readableListing(kObjdump).lineOf, ElementsAre(0, 3, 5, 7, 8, 9, 10, 11, 12));
}

TEST(ReadableListing, WithoutAddressesIsTheSameWhereverTheCodeLies) {
  const ListingOptions options{.addresses = false};
  const std::string here = readableListing(kObjdump, options).text;
  EXPECT_EQ(here, R"(<swage::sum(float const*)>:
    vmovups ymm0,YMMWORD PTR [rdi+rax*1]
    jne    <swage::sum(float const*)>
    lea    rdi,[rip]        # <swage::sum(float const*)._omp_fn.0>
    ret

<k._omp_fn.0>:
    call   <expf@plt>
    vfmadd213ps ymm1,ymm2,YMMWORD PTR [rsp+0x20]
)");
  const std::string there =
      readableListing("0000000000002240 <k._omp_fn.0>:\n    2240:\tcall   1060 <expf@plt>\n", options).text;
  EXPECT_EQ(there, "<k._omp_fn.0>:\n    call   <expf@plt>\n");
  const std::string sass = readableListing(
                               ".text.kernel:\n\t//## File \"/tmp/source.cu\", line 6\n        /*0000*/   LDC R1, "
                               "c[0x0][0x28] ;   /* 0x0a00 */\n"
                               "                     /* 0x000fe4000f8e003f */\n",
                               options)
                               .text;
  EXPECT_EQ(sass, ".text.kernel:\n    LDC R1, c[0x0][0x28] ;\n");
}

TEST(ReadableListing, KeepsWhatIsAskedFor) {
  const ListingOptions all{.places = true, .directives = true, .addresses = true, .demangle = false};
  EXPECT_EQ(readableListing(kObjdump, all).text, kObjdump);
  EXPECT_EQ(readableListing(kPtx, all).text, kPtx);
  EXPECT_EQ(readableListing("").text, "");
}

TEST(FunctionsOf, AreThoseOfObjdumpPtxAndNvdisasm) {
  EXPECT_THAT(functionsOf(kObjdump), ElementsAre("_ZN5swage3sumEPKf", "k._omp_fn.0"));
  EXPECT_THAT(functionsOf(kPtx), ElementsAre("kernel"));
  EXPECT_THAT(functionsOf(".func  (.param .b32 func_retval0) helper(\n.text.kernel:\n"),
              ElementsAre("helper", "kernel"));
}

TEST(FunctionListing, IsThatOfTheFunctionAndOfWhatTheCompilerCutOutOfIt) {
  EXPECT_THAT(functionListing(kObjdump, "k"), HasSubstr("vfmadd213ps"));
  EXPECT_THAT(functionListing(kObjdump, "k"), Not(HasSubstr("vmovups")));
  EXPECT_THAT(functionListing(kObjdump, "swage::sum(float const*)"), HasSubstr("vmovups"));
  EXPECT_EQ(functionListing(kObjdump, "unknown"), "");
}

TEST(Demangled, LeavesWhatIsNoMangledName) {
  EXPECT_EQ(demangled("call _Zebra and x_ZN5swage3sumEv"), "call _Zebra and x_ZN5swage3sumEv");
  EXPECT_EQ(demangled("<_Z1fi.cold+0x3>"), "<f(int).cold+0x3>");
}

TEST(ReadableListing, LeavesOutFunctionsThatHaveNoLineOfTheSource) {
  ListingOptions options;
  options.library = false;
  const std::string text = readableListing(kObjdump, options).text;
  EXPECT_THAT(text, HasSubstr("swage::sum"));
  EXPECT_THAT(text, Not(HasSubstr("call   1050 <expf@plt>")));
  EXPECT_THAT(readableListing("0 <f>:\n    0:\tret\n", options).text, HasSubstr("ret")) << "nothing has lines";
}

TEST(ReadableListing, LeavesOutLabelsThatNothingMentions) {
  constexpr const char* kLabels = "$L__BB0_1:\n\tadd.s32 \t%r1, %r1, 1;\n$L__BB0_2:\n\tbra \t$L__BB0_2;\n";
  ListingOptions options;
  options.unusedLabels = false;
  EXPECT_EQ(readableListing(kLabels, options).text, "\tadd.s32 \t%r1, %r1, 1;\n$L__BB0_2:\n\tbra \t$L__BB0_2;\n");
  EXPECT_EQ(readableListing(kLabels).text, kLabels);
}

TEST(ReadableListing, LeavesOutLinesThatAreCommentsOnly) {
  ListingOptions options;
  options.comments = false;
  EXPECT_EQ(readableListing("// Generated\n\tret; // end\n", options).text, "\tret; // end\n");
}

}  // namespace
}  // namespace swage::domain
