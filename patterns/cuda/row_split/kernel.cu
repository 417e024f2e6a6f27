// SPDX-License-Identifier: MIT-0
// Long groups along the innermost axis in two launches: blocks reduce slices of all groups, then blocks join the
// slices of their group and map a part of it. Nobody waits for anybody inside a launch, at the price of a second read.
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kThreads = 512;
constexpr int kUnroll = 4;
constexpr int kSlices = 64;
constexpr int kStreaming = 1;
//! swage:end parameters
//! swage:begin region
//! swage:end region

constexpr Index kVectors = kInner / kVectorWidth;
constexpr Index kTotal = kOuter * kVectors;
constexpr Index kSlice = (kTotal + kSlices - 1) / kSlices;
constexpr int kStateBytes = 64;  // at most
using Partial = State<0, 1>;
static_assert(kStages <= 1 && sizeof(Partial) <= kStateBytes);

// Divisions that the compiler cannot know to be trivial when there is one run of the innermost axis.
SWAGE_FN Index outerOf(Index at) { return kOuter == 1 ? 0 : at / kVectors; }
SWAGE_FN Index innerOf(Index at) { return (kOuter == 1 ? at : at % kVectors) * kVectorWidth; }

SWAGE_FN Partial* partialOf(unsigned char* scratch, Index g, int slice) {
  return reinterpret_cast<Partial*>(scratch + (g * kSlices + Index(slice)) * Index(kStateBytes));
}

using Batch = Element[kUnroll][kVectorWidth];

SWAGE_FN void loadBatch(SWAGE_PARAMETERS, Index g, Index first, Index end, Batch& e) {
  SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
    const Index at = first + Index(u * kThreads);
    if (at < end) {
      loadAgainVector<kVectorWidth>(SWAGE_PASS, baseAt(g, outerOf(at)), innerOf(at), e[u]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) SWAGE_ENTRY(SWAGE_PARAMETERS, unsigned char* scratch) {
  const Index g = Index(blockIdx.x) / kSlices;
  const int slice = int(Index(blockIdx.x) % kSlices);
  const Index begin = Index(slice) * kSlice < kTotal ? Index(slice) * kSlice : kTotal;
  const Index end = begin + kSlice < kTotal ? begin + kSlice : kTotal;
  const Group q = groupAt(SWAGE_PASS, baseAt(g, 0), 0);
  State<0, kVectorWidth> s;
  identity(s);
  int steps = 0;
  for (Index first = begin + threadIdx.x; first < end; first += Index(kThreads * kUnroll)) {
    Batch e;
    loadBatch(SWAGE_PASS, g, first, end, e);
    SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
      const Index at = first + Index(u * kThreads);
      if (at < end) {
        const float inverse = 1.0f / float(++steps);
        const Index r = outerOf(at) * kInner + innerOf(at);
        SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { accumulate(s, v, e[u][v], q, r + Index(v), inverse); }
      }
    }
  }
  const Partial total = joinBlock<kThreads>(joinLanes(s));
  if (threadIdx.x == 0) {
    *partialOf(scratch, g, slice) = total;
  }
}

SWAGE_FN void mapBatch(SWAGE_PARAMETERS, Index g, const Group& q, Index first, Index end, const Batch& e) {
  SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
    const Index at = first + Index(u * kThreads);
    if (at < end) {
      const Index i = innerOf(at);
      Outputs out[kVectorWidth];
      SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
        evaluate(e[u][v], q, outerOf(at) * kInner + i + Index(v), out[v]);
      }
      storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, baseAt(g, outerOf(at)), i, out);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) SWAGE_ENTRY_FINISH(SWAGE_PARAMETERS, unsigned char* scratch) {
  // Without a map one block a group is enough; with it, the last slices first: they may still be in the cache.
  constexpr int kParts = kElementStores > 0 ? kSlices : 1;
  const Index block = kElementStores > 0 ? Index(gridDim.x) - 1 - Index(blockIdx.x) : Index(blockIdx.x);
  const Index g = block / kParts;
  const int part = int(block % kParts);
  const Index begin = Index(part) * kSlice < kTotal ? Index(part) * kSlice : kTotal;
  const Index end = begin + kSlice < kTotal ? begin + kSlice : kTotal;
  // The first elements are on their way while the slices are joined.
  Batch e;
  Index at = begin + threadIdx.x;
  if constexpr (kElementStores > 0) {
    loadBatch(SWAGE_PASS, g, at, end, e);
  }
  __shared__ Partial parts[kSlices];
  for (int slice = int(threadIdx.x); slice < kSlices; slice += kThreads) {
    parts[slice] = *partialOf(scratch, g, slice);
  }
  const Base first = baseAt(g, 0);
  Group q = groupAt(SWAGE_PASS, first, 0);
  finish(joinParts(parts, kSlices), q);
  if (threadIdx.x == 0 && part == 0) {
    storeGroup(SWAGE_PASS, first, g, 0, q);
  }
  if constexpr (kElementStores > 0) {
    while (at < end) {
      mapBatch(SWAGE_PASS, g, q, at, end, e);
      at += Index(kThreads * kUnroll);
      loadBatch(SWAGE_PASS, g, at, end, e);
    }
  }
}
