// SPDX-License-Identifier: MIT-0
// Groups along the innermost axis that fit into the shared memory of a cluster of blocks: each is read from memory
// once, and the blocks exchange their partial results through distributed shared memory.
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kThreads = 512;
constexpr int kCluster = 8;
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
constexpr Index kSlice = (kTotal + kCluster - 1) / kCluster;  // vectors of one block
constexpr Index kRow = kSlice * kVectorWidth;                 // floats of one streamed load in one block

extern __shared__ __align__(16) float cache[];  // [kStreamed][kRow]

template <class S>
SWAGE_FN S joinCluster(S s) {
  __shared__ S mine;
  __shared__ S all[kCluster];
  const S block = joinBlock<kThreads>(s);
  if (threadIdx.x == 0) {
    mine = block;
  }
  clusterBarrier();
  if (threadIdx.x < kCluster) {
    all[threadIdx.x] = readRemote(&mine, threadIdx.x);
  }
  return joinParts(all, kCluster);
}

SWAGE_FN void fill(SWAGE_PARAMETERS, Index g, Index begin, Index end) {
  for (Index at = begin + threadIdx.x; at < end; at += kThreads) {
    const Base base = baseAt(g, outerOf(at));
    const Index i = innerOf(at);
    if constexpr (kAsynchronous != 0) {
      copyStreamed<kVectorWidth>(SWAGE_PASS, base, i, cache + (at - begin) * kVectorWidth, kRow);
    } else {
      Element e[kVectorWidth];
      loadVector<kVectorWidth>(SWAGE_PASS, base, i, e);
      SWAGE_UNROLL for (int which = 0; which < kStreamed; ++which) {
        SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
          cache[Index(which) * kRow + (at - begin) * kVectorWidth + Index(v)] = streamed(e[v], which);
        }
      }
    }
  }
  if constexpr (kAsynchronous != 0) {
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
}

SWAGE_FN void fetch(SWAGE_PARAMETERS, Index g, Index begin, Index at, Element (&e)[kVectorWidth]) {
  SWAGE_UNROLL for (int which = 0; which < kStreamed; ++which) {
    float chunk[kVectorWidth];
    loadCached<kVectorWidth>(cache + Index(which) * kRow + (at - begin) * kVectorWidth, chunk);
    SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { setStreamed(e[v], which, chunk[v]); }
  }
  loadOtherVector<kVectorWidth>(SWAGE_PASS, baseAt(g, outerOf(at)), innerOf(at), e);
}

template <int K>
SWAGE_FN void reduceGroup(SWAGE_PARAMETERS, Index g, Group& q, Index begin, Index end) {
  if constexpr (K < kStages) {
    State<K, kVectorWidth> s;
    identity(s);
    int steps = 0;
    for (Index at = begin + threadIdx.x; at < end; at += kThreads) {
      Element e[kVectorWidth];
      fetch(SWAGE_PASS, g, begin, at, e);
      const float inverse = 1.0f / float(++steps);
      const Index r = outerOf(at) * kInner + innerOf(at);
      SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { accumulate(s, v, e[v], q, r + Index(v), inverse); }
    }
    finish(joinCluster(joinLanes(s)), q);
    reduceGroup<K + 1>(SWAGE_PASS, g, q, begin, end);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) SWAGE_ENTRY(SWAGE_PARAMETERS) {
  const Index g = Index(blockIdx.x) / kCluster;
  const Index begin = clusterRank() * kSlice < kTotal ? clusterRank() * kSlice : kTotal;
  const Index end = begin + kSlice < kTotal ? begin + kSlice : kTotal;
  fill(SWAGE_PASS, g, begin, end);
  const Base first = baseAt(g, 0);
  Group q = groupAt(SWAGE_PASS, first, 0);
  reduceGroup<0>(SWAGE_PASS, g, q, begin, end);
  if (threadIdx.x == 0 && clusterRank() == 0) {
    storeGroup(SWAGE_PASS, first, g, 0, q);
  }
  if constexpr (kElementStores > 0) {
    for (Index at = begin + threadIdx.x; at < end; at += kThreads) {
      Element e[kVectorWidth];
      fetch(SWAGE_PASS, g, begin, at, e);
      const Index i = innerOf(at);
      Outputs out[kVectorWidth];
      SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
        evaluate(e[v], q, outerOf(at) * kInner + i + Index(v), out[v]);
      }
      storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, baseAt(g, outerOf(at)), i, out);
    }
  }
  clusterBarrier();  // no block may leave while another reads its shared memory
}
