// SPDX-License-Identifier: MIT-0
// Groups along the innermost axis that fit into the registers of a block or of a cluster of blocks: each element is
// read from memory once and never leaves its thread. All loops have constant bounds, so that the compiler can also
// keep what a stage computed for the stages after it (the exponentials of a softmax).
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kThreads = 512;
constexpr int kCluster = 1;
constexpr int kBlocksPerMultiprocessor = 1;
constexpr int kStreaming = 1;
//! swage:end parameters
//! swage:begin region
//! swage:end region

constexpr Index kVectors = kInner / kVectorWidth;
constexpr Index kTotal = kOuter * kVectors;
constexpr Index kSlice = (kTotal + kCluster - 1) / kCluster;  // vectors of one block
constexpr int kSteps = int((kSlice + kThreads - 1) / kThreads);

// Divisions that the compiler cannot know to be trivial when there is one run of the innermost axis.
SWAGE_FN Index outerOf(Index at) { return kOuter == 1 ? 0 : at / kVectors; }
SWAGE_FN Index innerOf(Index at) { return (kOuter == 1 ? at : at % kVectors) * kVectorWidth; }

// A cluster of one block has no others to meet.
template <class S>
SWAGE_FN S joinAll(S s) {
  const S block = joinBlock<kThreads>(s);
  if constexpr (kCluster == 1) {
    return block;
  } else {
    __shared__ S mine;
    __shared__ S all[kCluster];
    if (threadIdx.x == 0) {
      mine = block;
    }
    clusterBarrier();
    if (threadIdx.x < kCluster) {
      all[threadIdx.x] = readRemote(&mine, threadIdx.x);
    }
    return joinParts(all, kCluster);
  }
}

template <int K>
SWAGE_FN void reduceGroup(Group& q, Index begin, Index end, const Element (&held)[kSteps][kVectorWidth]) {
  if constexpr (K < kStages) {
    State<K, kVectorWidth> s;
    identity(s);
    SWAGE_UNROLL for (int step = 0; step < kSteps; ++step) {
      const Index at = begin + Index(step * kThreads) + threadIdx.x;
      if (at < end) {
        const float inverse = 1.0f / float(step + 1);
        const Index r = outerOf(at) * kInner + innerOf(at);
        SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
          accumulate(s, v, held[step][v], q, r + Index(v), inverse);
        }
      }
    }
    finish(joinAll(joinLanes(s)), q);
    reduceGroup<K + 1>(q, begin, end, held);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor) SWAGE_ENTRY(SWAGE_PARAMETERS) {
  const Index g = Index(blockIdx.x) / kCluster;
  const unsigned int rank = kCluster == 1 ? 0u : clusterRank();
  const Index begin = rank * kSlice < kTotal ? rank * kSlice : kTotal;
  const Index end = begin + kSlice < kTotal ? begin + kSlice : kTotal;
  Element held[kSteps][kVectorWidth];
  SWAGE_UNROLL for (int step = 0; step < kSteps; ++step) {
    const Index at = begin + Index(step * kThreads) + threadIdx.x;
    if (at < end) {
      loadVector<kVectorWidth>(SWAGE_PASS, baseAt(g, outerOf(at)), innerOf(at), held[step]);
    }
  }
  const Base first = baseAt(g, 0);
  Group q = groupAt(SWAGE_PASS, first, 0);
  reduceGroup<0>(q, begin, end, held);
  if (threadIdx.x == 0 && rank == 0) {
    storeGroup(SWAGE_PASS, first, g, 0, q);
  }
  if constexpr (kElementStores > 0) {
    SWAGE_UNROLL for (int step = 0; step < kSteps; ++step) {
      const Index at = begin + Index(step * kThreads) + threadIdx.x;
      if (at < end) {
        const Index i = innerOf(at);
        Outputs out[kVectorWidth];
        SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
          evaluate(held[step][v], q, outerOf(at) * kInner + i + Index(v), out[v]);
        }
        storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, baseAt(g, outerOf(at)), i, out);
      }
    }
  }
  if constexpr (kCluster > 1) {
    clusterBarrier();  // no block may leave while another reads its shared memory
  }
}
