// SPDX-License-Identifier: MIT-0
// Groups numbered by the innermost axis: a thread reduces a block of neighbouring groups together, walking down the
// reduced axes with vector accumulators.
#include "../common.h"

//! swage:begin parameters
constexpr int kBlock = 256;
constexpr int kStreaming = 0;
//! swage:end parameters
//! swage:begin region
//! swage:end region

// L groups from `start`.
template <int K, int L>
static void reduceBlock(SWAGE_PARAMETERS, Index g, Index start, Group (&q)[L]) {
  if constexpr (K < kStages) {
    State<K, L> s;
    identity(s);
    for (Index o = 0; o < kOuter; ++o) {
      const Base base = baseAt(g, o);
      const float inverse = 1.0f / float(o + 1);
#pragma omp simd
      for (int l = 0; l < L; ++l) {
        Element e;
        load(SWAGE_PASS, base, start + l, e);
        accumulate(s, l, e, q[l], o, inverse);
      }
    }
    for (int l = 0; l < L; ++l) {
      finish(laneOf(s, l), q[l]);
    }
    reduceBlock<K + 1, L>(SWAGE_PASS, g, start, q);
  }
}

template <int L>
static void block(SWAGE_PARAMETERS, Index g, Index start) {
  const Base first = baseAt(g, 0);
  Group q[L];
  for (int l = 0; l < L; ++l) {
    q[l] = groupAt(SWAGE_PASS, first, start + l);
  }
  reduceBlock<0, L>(SWAGE_PASS, g, start, q);
  for (int l = 0; l < L; ++l) {
    storeGroup(SWAGE_PASS, first, g, start + l, q[l]);
  }
  if constexpr (kElementStores > 0) {
    for (Index o = 0; o < kOuter; ++o) {
      const Base base = baseAt(g, o);
      Outputs out[L];
#pragma omp simd
      for (int l = 0; l < L; ++l) {
        Element e;
        load(SWAGE_PASS, base, start + l, e);
        evaluate(e, q[l], o, out[l]);
      }
      storeVector<L, kStreaming != 0>(SWAGE_PASS, base, start, out);
    }
  }
}

extern "C" __attribute__((visibility("default"))) void SWAGE_ENTRY(void** arguments) {
  SWAGE_UNPACK
  constexpr Index kBlocks = (kInner + kBlock - 1) / kBlock;
#pragma omp parallel for schedule(static)
  for (Index t = 0; t < kGroups * kBlocks; ++t) {
    const Index g = t / kBlocks;
    const Index start = (t % kBlocks) * kBlock;
    if (start + kBlock <= kInner) {
      block<kBlock>(SWAGE_PASS, g, start);
    } else {
      constexpr int kRest = int(kInner % kBlock);
      if constexpr (kRest > 0) {
        block<kRest>(SWAGE_PASS, g, start);
      }
    }
  }
  if constexpr (kStreaming != 0) {
    _mm_sfence();
  }
}
