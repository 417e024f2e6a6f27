// SPDX-License-Identifier: MIT-0
// Element by element over all axes. A thread loads all its vectors before it computes the first, so that enough
// loads are in flight to cover the latency of memory.
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kThreads = 256;
constexpr int kItems = 2;
constexpr int kStreaming = 1;
constexpr int kPersistent = 0;
//! swage:end parameters
//! swage:begin region
//! swage:end region

constexpr Index kVectors = kInner / kVectorWidth;
constexpr Index kTotal = kGroups * kVectors;

// Divisions that the compiler cannot know to be trivial when there is one group.
SWAGE_FN Index groupOf(Index at) { return kGroups == 1 ? 0 : at / kVectors; }
SWAGE_FN Index innerOf(Index at) { return (kGroups == 1 ? at : at % kVectors) * kVectorWidth; }

SWAGE_FN void tile(SWAGE_PARAMETERS, Index first) {
  Element e[kItems][kVectorWidth];
  Base base[kItems];
  SWAGE_UNROLL for (int k = 0; k < kItems; ++k) {
    const Index at = first + Index(k * kThreads);
    if (at < kTotal) {
      base[k] = baseAt(groupOf(at), 0);
      if constexpr (kStreaming != 0) {
        loadVector<kVectorWidth>(SWAGE_PASS, base[k], innerOf(at), e[k]);
      } else {
        loadAgainVector<kVectorWidth>(SWAGE_PASS, base[k], innerOf(at), e[k]);
      }
    }
  }
  SWAGE_UNROLL for (int k = 0; k < kItems; ++k) {
    const Index at = first + Index(k * kThreads);
    if (at < kTotal) {
      const Index i = innerOf(at);
      const Group q = groupAt(SWAGE_PASS, base[k], 0);
      Outputs out[kVectorWidth];
      SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { evaluate(e[k][v], q, i + Index(v), out[v]); }
      storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, base[k], i, out);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) SWAGE_ENTRY(SWAGE_PARAMETERS) {
  const Index start = Index(blockIdx.x) * Index(kThreads * kItems) + threadIdx.x;
  if constexpr (kPersistent != 0) {
    for (Index first = start; first < kTotal; first += Index(gridDim.x) * Index(kThreads * kItems)) {
      tile(SWAGE_PASS, first);
    }
  } else {
    tile(SWAGE_PASS, start);
  }
}
