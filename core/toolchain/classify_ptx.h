// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/domain/cell.h"

namespace swage::toolchain {

// The coordinates of CUDA kernels, read from PTX, with the counts they rest on. Functions that an entry calls count as
// part of it.
//
//   A1  ld.global / st.global (or without a state space) of a vector or of 128 bits
//   A2  ld.shared, st.shared, ldmatrix, stmatrix, an atomic on shared memory
//   A3  cp.async, cp.async.bulk, mbarrier
//   B1  arithmetic on f16x2, bf16x2 or f32x2, dp4a/dp2a, shfl.sync, redux.sync
//   B2  mma.sync, wmma.mma, wgmma.mma_async, tcgen05.mma
//   inter-block  an atomic that is not on shared memory, cluster instructions, or %nctaid in the step of a loop
//
// %nctaid elsewhere does not count: it is also read to linearise a two-dimensional block index.
// An entry that the PTX does not define gets no facts: the caller reports it.
[[nodiscard]] std::vector<domain::KernelFacts> classifyPtx(std::string_view ptx,
                                                           const std::vector<std::string>& entries);

// A use of the device's heap, whose blocks outlive the launch; empty when there is none.
[[nodiscard]] std::string findHeapCall(std::string_view ptx);

}  // namespace swage::toolchain
