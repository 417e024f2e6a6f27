// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/classify_x86.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace swage::toolchain {
namespace {

using domain::Arithmetic;
using domain::DataMovement;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// A listing of one function: each line gets an address; `loop` lines jump back to the start.
std::string listing(const std::string& name, const std::vector<std::string>& lines, unsigned base = 0x1000) {
  std::string text = fmt::format("{:016x} <{}>:\n", base, name);
  unsigned address = base;
  for (const std::string& line : lines) {
    text += fmt::format("    {:x}:\t{}\n", address, line);
    address += 4;
  }
  return text + "\n";
}

domain::KernelFacts factsOf(const std::vector<std::string>& lines) {
  const auto kernels = classifyX86(parseDisassembly(listing("kernel", lines)), {"kernel"});
  EXPECT_EQ(kernels.size(), 1U);
  return kernels.empty() ? domain::KernelFacts{} : kernels.front();
}

TEST(Disassembly, ReadsFunctionsOperandsAndTargets) {
  const auto functions = parseDisassembly(
      "\n/out/kernel.so:     file format elf64-x86-64\n\n\nDisassembly of section .text:\n\n"
      "0000000000001120 <kernel>:\n"
      "    1120:\tvfmadd132ps zmm0,zmm1,ZMMWORD PTR [rdi+rax*4+0x40]\n"
      "    1128:\tlock xadd DWORD PTR [rdx],eax\n"
      "    112c:\tlea    rdi,[rip+0xfffffffffffffe9e]        # 1000 <kernel._omp_fn.0>\n"
      "    1130:\tcall   1040 <GOMP_parallel@plt>\n"
      "    1135:\tjne    1120 <kernel+0x10>\n");
  ASSERT_EQ(functions.size(), 1U);
  const auto& body = functions[0].body;
  ASSERT_EQ(body.size(), 5U);
  EXPECT_EQ(functions[0].name, "kernel");
  EXPECT_THAT(body[0].operands, ElementsAre("zmm0", "zmm1", "ZMMWORD PTR [rdi+rax*4+0x40]"));
  EXPECT_TRUE(body[1].isLocked);
  EXPECT_EQ(body[1].mnemonic, "xadd");
  EXPECT_EQ(body[2].mentions, "kernel._omp_fn.0");
  EXPECT_EQ(body[3].mentions, "GOMP_parallel@plt");
  EXPECT_EQ(body[4].jumpTarget, 0x1120U);
  EXPECT_EQ(body[4].mentions, "kernel");
}

TEST(ClassifyX86, ScalarLoopStaysInTheFirstCell) {
  const auto facts = factsOf({"vmovss xmm0,DWORD PTR [rdi+rax*4]", "vaddss xmm0,xmm0,xmm1",
                              "vmovss DWORD PTR [rsi+rax*4],xmm0", "jne    1000 <kernel>", "ret"});
  EXPECT_EQ(facts.movement, DataMovement::Direct);
  EXPECT_EQ(facts.arithmetic, Arithmetic::Scalar);
  EXPECT_THAT(facts.evidence, ElementsAre(Pair("load.scalar", 1), Pair("store.scalar", 1)));
}

TEST(ClassifyX86, VectorsCountOnlyInsideALoop) {
  const std::vector<std::string> work{"vmovups ymm0,YMMWORD PTR [rdi+rax*1]",
                                      "vaddps ymm0,ymm0,YMMWORD PTR [rip+0x123]        # 2000 <x>",
                                      "vmovups YMMWORD PTR [rsi+rax*1],ymm0"};
  auto straight = work;
  straight.emplace_back("ret");
  EXPECT_EQ(factsOf(straight).movement, DataMovement::Direct);
  auto loop = work;
  loop.emplace_back("jne    1000 <kernel>");
  const auto facts = factsOf(loop);
  EXPECT_EQ(facts.movement, DataMovement::Wide);
  EXPECT_EQ(facts.arithmetic, Arithmetic::Packed);
  EXPECT_THAT(facts.evidence, ElementsAre(Pair("arith.ymm", 1), Pair("load.ymm", 1), Pair("store.ymm", 1)));
}

TEST(ClassifyX86, SpilledRegistersAreNoTile) {
  const auto facts = factsOf({"vmovaps YMMWORD PTR [rsp+0x40],ymm0", "vmovups ymm0,YMMWORD PTR [rdi+rax*1]",
                              "vmovaps ymm1,YMMWORD PTR [rsp+0x40]", "jne    1000 <kernel>"});
  EXPECT_EQ(facts.movement, DataMovement::Wide);
}

TEST(ClassifyX86, IndexedStackMemoryIsATile) {
  const auto direct = factsOf(
      {"vmovss DWORD PTR [rsp+rax*4+0x40],xmm0", "vmovaps ymm1,YMMWORD PTR [rsp+rcx*1]", "jne    1000 <kernel>"});
  EXPECT_EQ(direct.movement, DataMovement::Staged);
  const auto walking = factsOf({"lea    rbx,[rsp+0x40]", "vmovaps YMMWORD PTR [rbx],ymm0",
                                "vmovaps ymm1,YMMWORD PTR [rbx+0x20]", "add    rbx,0x20", "jne    1004 <kernel+0x4>"});
  EXPECT_EQ(walking.movement, DataMovement::Staged);
  const auto other = factsOf({"lea    rbx,[rsp+0x40]", "mov    rbx,QWORD PTR [rdi]", "vmovaps YMMWORD PTR [rbx],ymm0",
                              "vmovaps ymm1,YMMWORD PTR [rbx+0x20]", "add    rbx,0x20", "jne    1004 <kernel+0x4>"});
  EXPECT_EQ(other.movement, DataMovement::Wide);
}

TEST(ClassifyX86, KnowsPrefetchStreamingAndTileProducts) {
  EXPECT_EQ(factsOf({"prefetcht0 BYTE PTR [rdi+0x800]"}).movement, DataMovement::Pipelined);
  EXPECT_EQ(factsOf({"vmovntps YMMWORD PTR [rsi],ymm0"}).movement, DataMovement::Pipelined);
  EXPECT_EQ(factsOf({"tdpbf16ps tmm0,tmm1,tmm2", "jne    1000 <kernel>"}).arithmetic, Arithmetic::TensorCore);
}

TEST(ClassifyX86, TakesInTheFunctionsOfParallelRegions) {
  const std::string text =
      listing("kernel._omp_fn.0", {"vmovups zmm0,ZMMWORD PTR [rdi+rax*1]", "jne    1000 <kernel._omp_fn.0>"}) +
      listing("unrelated", {"lock add DWORD PTR [rdx],1"}, 0x1800) +
      listing(
          "kernel",
          {"lea    rdi,[rip+0xfffffffffffffe9e]        # 1000 <kernel._omp_fn.0>", "call   1040 <GOMP_parallel@plt>"},
          0x2000);
  const auto functions = parseDisassembly(text);
  const auto kernels = classifyX86(functions, {"kernel"});
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].movement, DataMovement::Wide);
  EXPECT_FALSE(kernels[0].interBlock);
  EXPECT_THAT(kernels[0].evidence, Contains(Pair("GOMP_parallel", 1)));
  EXPECT_THAT(listingOf(functions, {"kernel"}), HasSubstr("<kernel._omp_fn.0>:"));
  EXPECT_THAT(listingOf(functions, {"kernel"}), Not(HasSubstr("<unrelated>:")));
}

TEST(ClassifyX86, ThreadsThatWaitForOrWriteToEachOtherAreInterBlock) {
  EXPECT_TRUE(factsOf({"lock cmpxchg DWORD PTR [rdi],edx"}).interBlock);
  EXPECT_TRUE(factsOf({"xchg   DWORD PTR [rdi],eax"}).interBlock);
  EXPECT_FALSE(factsOf({"xchg   ax,ax"}).interBlock);
  EXPECT_TRUE(factsOf({"call   1040 <GOMP_barrier@plt>"}).interBlock);
  EXPECT_TRUE(factsOf({"call   1040 <GOMP_atomic_start@plt>"}).interBlock);
}

TEST(ClassifyX86, FindsSystemCalls) {
  EXPECT_EQ(findSystemCall(parseDisassembly(listing("kernel", {"syscall"}))),
            "makes a system call ('syscall' in kernel)");
  EXPECT_EQ(findSystemCall(parseDisassembly(listing("kernel", {"int3", "ret"}))), "");
}

TEST(ClassifyX86, FindsRegistersOfTheProcess) {
  EXPECT_EQ(findSystemCall(parseDisassembly(listing("kernel", {"wrgsbase rax"}))),
            "keeps something in registers of the process ('wrgsbase' in kernel)");
  for (const char* instruction : {"xrstor64 [rdi]", "ldmxcsr DWORD PTR [rsp-0x4]", "vldmxcsr DWORD PTR [rsp-0x4]",
                                  "fldcw  WORD PTR [rsp-0x2]", "fldenv [rdi]", "frstor [rdi]", "fninit"}) {
    EXPECT_NE(findSystemCall(parseDisassembly(listing("kernel", {instruction}))), "") << instruction;
  }
  EXPECT_EQ(findSystemCall(parseDisassembly(listing("kernel", {"vstmxcsr DWORD PTR [rsp-0x4]"}))), "") << "only read";
}

TEST(ClassifyX86, FindsClocksAndRandomNumbers) {
  EXPECT_EQ(findSystemCall(parseDisassembly(listing("kernel", {"rdtsc"}))),
            "looks at a clock or at chance ('rdtsc' in kernel)");
  for (const char* instruction : {"rdtscp", "rdrand eax", "rdseed rax", "rdpmc", "rdpid  rax"}) {
    EXPECT_NE(findSystemCall(parseDisassembly(listing("kernel", {instruction}))), "") << instruction;
  }
}

TEST(ClassifyX86, FindsComputedCallsWhateverTheFunctionMentions) {
  const std::vector<std::string> body{
      "mov    rdx,QWORD PTR [rip+0x2fe5]        # 3fe0 <_ITM_registerTMCloneTable@Base>", "jmp    rax"};
  EXPECT_NE(findComputedCall(parseDisassembly(listing("kernel", body))), "");
  EXPECT_EQ(findComputedCall(parseDisassembly(listing("register_tm_clones", body))), "");
}

}  // namespace
}  // namespace swage::toolchain
