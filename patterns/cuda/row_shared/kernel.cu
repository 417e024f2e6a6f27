// SPDX-License-Identifier: MIT-0
// Groups along the innermost axis that fit into the shared memory of one block: each is read from memory once.
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kThreads = 512;
constexpr int kAsynchronous = 1;
constexpr int kStreaming = 1;
//! swage:end parameters
//! swage:begin region
//! swage:end region

constexpr Index kVectors = kInner / kVectorWidth;
constexpr Index kTotal = kOuter * kVectors;

// Divisions that the compiler cannot know to be trivial when there is one run of the innermost axis.
SWAGE_FN Index outerOf(Index at) { return kOuter == 1 ? 0 : at / kVectors; }
SWAGE_FN Index innerOf(Index at) { return (kOuter == 1 ? at : at % kVectors) * kVectorWidth; }
constexpr Index kRow = kTotal * kVectorWidth;  // floats of one streamed load

extern __shared__ __align__(16) float cache[];  // [kStreamed][kRow]

// A thread only ever reads what it has written itself, so the cache needs no barrier.
SWAGE_FN void fill(SWAGE_PARAMETERS, Index g) {
  for (Index at = threadIdx.x; at < kTotal; at += kThreads) {
    const Base base = baseAt(g, outerOf(at));
    const Index i = innerOf(at);
    if constexpr (kAsynchronous != 0) {
      copyStreamed<kVectorWidth>(SWAGE_PASS, base, i, cache + at * kVectorWidth, kRow);
    } else {
      Element e[kVectorWidth];
      loadVector<kVectorWidth>(SWAGE_PASS, base, i, e);
      SWAGE_UNROLL for (int which = 0; which < kStreamed; ++which) {
        SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
          cache[Index(which) * kRow + at * kVectorWidth + Index(v)] = streamed(e[v], which);
        }
      }
    }
  }
  if constexpr (kAsynchronous != 0) {
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
}

SWAGE_FN void fetch(SWAGE_PARAMETERS, Index g, Index at, Element (&e)[kVectorWidth]) {
  SWAGE_UNROLL for (int which = 0; which < kStreamed; ++which) {
    float chunk[kVectorWidth];
    loadCached<kVectorWidth>(cache + Index(which) * kRow + at * kVectorWidth, chunk);
    SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { setStreamed(e[v], which, chunk[v]); }
  }
  loadOtherVector<kVectorWidth>(SWAGE_PASS, baseAt(g, outerOf(at)), innerOf(at), e);
}

template <int K>
SWAGE_FN void reduceGroup(SWAGE_PARAMETERS, Index g, Group& q) {
  if constexpr (K < kStages) {
    State<K, kVectorWidth> s;
    identity(s);
    int steps = 0;
    for (Index at = threadIdx.x; at < kTotal; at += kThreads) {
      Element e[kVectorWidth];
      fetch(SWAGE_PASS, g, at, e);
      const float inverse = 1.0f / float(++steps);
      const Index r = outerOf(at) * kInner + innerOf(at);
      SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { accumulate(s, v, e[v], q, r + Index(v), inverse); }
    }
    finish(joinBlock<kThreads>(joinLanes(s)), q);
    reduceGroup<K + 1>(SWAGE_PASS, g, q);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) SWAGE_ENTRY(SWAGE_PARAMETERS) {
  const Index g = blockIdx.x;
  fill(SWAGE_PASS, g);
  const Base first = baseAt(g, 0);
  Group q = groupAt(SWAGE_PASS, first, 0);
  reduceGroup<0>(SWAGE_PASS, g, q);
  if (threadIdx.x == 0) {
    storeGroup(SWAGE_PASS, first, g, 0, q);
  }
  if constexpr (kElementStores > 0) {
    for (Index at = threadIdx.x; at < kTotal; at += kThreads) {
      Element e[kVectorWidth];
      fetch(SWAGE_PASS, g, at, e);
      const Index i = innerOf(at);
      Outputs out[kVectorWidth];
      SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
        evaluate(e[v], q, outerOf(at) * kInner + i + Index(v), out[v]);
      }
      storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, baseAt(g, outerOf(at)), i, out);
    }
  }
}
