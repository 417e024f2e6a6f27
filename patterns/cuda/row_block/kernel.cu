// SPDX-License-Identifier: MIT-0
// Groups along the innermost axis, one block to a group; every stage reads the group again, from the second-level
// cache if it is still there.
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kThreads = 512;
constexpr int kUnroll = 4;
constexpr int kStreaming = 1;
//! swage:end parameters
//! swage:begin region
//! swage:end region

constexpr Index kVectors = kInner / kVectorWidth;
constexpr Index kTotal = kOuter * kVectors;

// Divisions that the compiler cannot know to be trivial when there is one run of the innermost axis.
SWAGE_FN Index outerOf(Index at) { return kOuter == 1 ? 0 : at / kVectors; }
SWAGE_FN Index innerOf(Index at) { return (kOuter == 1 ? at : at % kVectors) * kVectorWidth; }

template <int K>
SWAGE_FN void reduceGroup(SWAGE_PARAMETERS, Index g, Group& q) {
  if constexpr (K < kStages) {
    State<K, kVectorWidth> s;
    identity(s);
    int steps = 0;
    for (Index first = threadIdx.x; first < kTotal; first += Index(kThreads * kUnroll)) {
      Element e[kUnroll][kVectorWidth];
      SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
        const Index at = first + Index(u * kThreads);
        if (at < kTotal) {
          loadVector<kVectorWidth>(SWAGE_PASS, baseAt(g, outerOf(at)), innerOf(at), e[u]);
        }
      }
      SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
        const Index at = first + Index(u * kThreads);
        if (at < kTotal) {
          const float inverse = 1.0f / float(++steps);
          const Index r = outerOf(at) * kInner + innerOf(at);
          SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { accumulate(s, v, e[u][v], q, r + Index(v), inverse); }
        }
      }
    }
    finish(joinBlock<kThreads>(joinLanes(s)), q);
    reduceGroup<K + 1>(SWAGE_PASS, g, q);
  }
}

SWAGE_FN void mapGroup(SWAGE_PARAMETERS, Index g, const Group& q) {
  for (Index first = threadIdx.x; first < kTotal; first += Index(kThreads * kUnroll)) {
    Element e[kUnroll][kVectorWidth];
    SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
      const Index at = first + Index(u * kThreads);
      if (at < kTotal) {
        loadVector<kVectorWidth>(SWAGE_PASS, baseAt(g, outerOf(at)), innerOf(at), e[u]);
      }
    }
    SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
      const Index at = first + Index(u * kThreads);
      if (at < kTotal) {
        const Index i = innerOf(at);
        Outputs out[kVectorWidth];
        SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
          evaluate(e[u][v], q, outerOf(at) * kInner + i + Index(v), out[v]);
        }
        storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, baseAt(g, outerOf(at)), i, out);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) SWAGE_ENTRY(SWAGE_PARAMETERS) {
  const Index g = blockIdx.x;
  const Base first = baseAt(g, 0);
  Group q = groupAt(SWAGE_PASS, first, 0);
  reduceGroup<0>(SWAGE_PASS, g, q);
  if (threadIdx.x == 0) {
    storeGroup(SWAGE_PASS, first, g, 0, q);
  }
  if constexpr (kElementStores > 0) {
    mapGroup(SWAGE_PASS, g, q);
  }
}
