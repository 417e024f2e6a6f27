// SPDX-License-Identifier: MIT-0
// Short groups along the innermost axis: a warp reduces a group, keeping its elements in registers where asked.
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kWarps = 8;
constexpr int kKeep = 1;
constexpr int kStreaming = 1;
//! swage:end parameters
//! swage:begin region
//! swage:end region

constexpr Index kVectors = kInner / kVectorWidth;
constexpr Index kTotal = kOuter * kVectors;

// Divisions that the compiler cannot know to be trivial when there is one run of the innermost axis.
SWAGE_FN Index outerOf(Index at) { return kOuter == 1 ? 0 : at / kVectors; }
SWAGE_FN Index innerOf(Index at) { return (kOuter == 1 ? at : at % kVectors) * kVectorWidth; }
constexpr int kSteps = int((kTotal + 31) / 32);
// Elements in registers: all of a lane's, or those of one step.
constexpr int kHeld = kKeep != 0 ? kSteps : 1;

SWAGE_FN void fetch(SWAGE_PARAMETERS, Index g, Index at, Element (&e)[kVectorWidth]) {
  loadVector<kVectorWidth>(SWAGE_PASS, baseAt(g, outerOf(at)), innerOf(at), e);
}

template <int K>
SWAGE_FN void reduceGroup(SWAGE_PARAMETERS, Index g, Group& q, int lane, Element (&held)[kHeld][kVectorWidth]) {
  if constexpr (K < kStages) {
    State<K, kVectorWidth> s;
    identity(s);
    SWAGE_UNROLL for (int step = 0; step < kSteps; ++step) {
      const Index at = Index(step * 32 + lane);
      if (at < kTotal) {
        if constexpr (kKeep == 0) {
          fetch(SWAGE_PASS, g, at, held[0]);
        }
        const float inverse = 1.0f / float(step + 1);
        const Index r = outerOf(at) * kInner + innerOf(at);
        SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
          accumulate(s, v, held[kKeep != 0 ? step : 0][v], q, r + Index(v), inverse);
        }
      }
    }
    finish(joinWarp(joinLanes(s)), q);
    reduceGroup<K + 1>(SWAGE_PASS, g, q, lane, held);
  }
}

extern "C" __global__ void __launch_bounds__(kWarps * 32) SWAGE_ENTRY(SWAGE_PARAMETERS) {
  const int lane = int(threadIdx.x % 32);
  const Index g = Index(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (g >= kGroups) {
    return;
  }
  Element held[kHeld][kVectorWidth];
  if constexpr (kKeep != 0) {
    SWAGE_UNROLL for (int step = 0; step < kSteps; ++step) {
      const Index at = Index(step * 32 + lane);
      if (at < kTotal) {
        fetch(SWAGE_PASS, g, at, held[step]);
      }
    }
  }
  const Base first = baseAt(g, 0);
  Group q = groupAt(SWAGE_PASS, first, 0);
  reduceGroup<0>(SWAGE_PASS, g, q, lane, held);
  if (lane == 0) {
    storeGroup(SWAGE_PASS, first, g, 0, q);
  }
  if constexpr (kElementStores > 0) {
    SWAGE_UNROLL for (int step = 0; step < kSteps; ++step) {
      const Index at = Index(step * 32 + lane);
      if (at < kTotal) {
        if constexpr (kKeep == 0) {
          fetch(SWAGE_PASS, g, at, held[0]);
        }
        const Index i = innerOf(at);
        Outputs out[kVectorWidth];
        SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
          evaluate(held[kKeep != 0 ? step : 0][v], q, outerOf(at) * kInner + i + Index(v), out[v]);
        }
        storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, baseAt(g, outerOf(at)), i, out);
      }
    }
  }
}
