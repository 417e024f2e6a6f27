// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/cell.h"
#include "core/toolchain/disassembly.h"

namespace swage::toolchain {

// The coordinates of cpu kernels, read from disassembled x86-64 code, with the counts they rest on. An entry is taken
// together with every function of the object that it mentions, because OpenMP puts a parallel region into a function
// of its own ("entry._omp_fn.0"). Only instructions inside a loop (between the target of a backward jump and the jump)
// count for A1, A2 and B1: the compiler also uses vector registers to copy arguments and to clear structures.
//
//   A1  a load or store of a whole xmm, ymm or zmm register, not on the stack and not a constant
//   A2  a scratch tile: stores and loads of floating-point registers at a varying address on the stack, one of the
//       two of a whole vector register. Spilled registers have a fixed address and do not count.
//   A3  prefetch, or a store that bypasses the caches (movnt)
//   B1  packed arithmetic (ps, pd, ph, packed integers), or a call of a vector function of libmvec
//   B2  AMX tile product (tdp…)
//   inter-block  a locked instruction or an exchange with memory, GOMP_barrier, GOMP_atomic, GOMP_critical
//
// An entry that the listing does not hold gets no facts.
[[nodiscard]] std::vector<domain::KernelFacts> classifyX86(const std::vector<AsmFunction>& functions,
                                                           const std::vector<std::string>& entries);

// The listing of the entries and of what they mention, in the order of the object.
[[nodiscard]] std::string listingOf(const std::vector<AsmFunction>& functions, const std::vector<std::string>& entries);

// A system call in the code, which only inline assembly can put there, an instruction that leaves something in
// registers of the process, where a later call finds it, or one that reads a clock or random numbers; empty when there
// is none.
[[nodiscard]] std::string findSystemCall(const std::vector<AsmFunction>& functions);

// A call or jump to an address that the code works out: the way to functions that the object does not import, such as
// those beside memcpy in the C library. Empty when there is none. (Jump tables are turned off in flags.cpp.)
[[nodiscard]] std::string findComputedCall(const std::vector<AsmFunction>& functions);

}  // namespace swage::toolchain
