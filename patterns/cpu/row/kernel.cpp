// SPDX-License-Identifier: MIT-0
// Groups whose elements lie along the innermost axis: one thread reduces a group, stage by stage, then maps it.
#include "../common.h"

//! swage:begin parameters
constexpr int kLanes = 64;
constexpr int kTile = 512;
constexpr int kStreaming = 0;
//! swage:end parameters
//! swage:begin region
//! swage:end region

// Every lane adds up its own elements, so that the loop over lanes is one of vector instructions. The elements that
// do not fill all lanes go to lanes of their own, because Welford's update needs to know how many each has seen.
template <int K>
static void reduceGroup(SWAGE_PARAMETERS, Index g, Group& q) {
  if constexpr (K < kStages) {
    State<K, kLanes> s;
    State<K, kLanes> rest;
    identity(s);
    identity(rest);
    constexpr Index kFull = kInner / kLanes * kLanes;
    I64 steps = 0;
    for (Index o = 0; o < kOuter; ++o) {
      const Base base = baseAt(g, o);
      for (Index i = 0; i < kFull; i += kLanes) {
        const float inverse = 1.0f / float(++steps);
#pragma omp simd
        for (int l = 0; l < kLanes; ++l) {
          Element e;
          load(SWAGE_PASS, base, i + l, e);
          accumulate(s, l, e, q, o * kInner + i + l, inverse);
        }
      }
      const float inverse = 1.0f / float(o + 1);
      for (Index i = kFull; i < kInner; ++i) {
        Element e;
        load(SWAGE_PASS, base, i, e);
        accumulate(rest, int(i - kFull), e, q, o * kInner + i, inverse);
      }
    }
    merge(s, rest);
    finish(joinLanes(s), q);
    reduceGroup<K + 1>(SWAGE_PASS, g, q);
  }
}

static void mapRun(SWAGE_PARAMETERS, const Base& base, const Group& q, Index first, Index start, Index end) {
  Index i = start;
  if constexpr (kStreaming != 0) {
    for (; i + kTile <= end; i += kTile) {
      Outputs out[kTile];
#pragma omp simd
      for (Index v = 0; v < kTile; ++v) {
        Element e;
        load(SWAGE_PASS, base, i + v, e);
        evaluate(e, q, first + i + v, out[v]);
      }
      storeVector<kTile, true>(SWAGE_PASS, base, i, out);
    }
  }
#pragma omp simd
  for (Index v = i; v < end; ++v) {
    Element e;
    load(SWAGE_PASS, base, v, e);
    Outputs out;
    evaluate(e, q, first + v, out);
    store(SWAGE_PASS, base, v, out);
  }
}

extern "C" __attribute__((visibility("default"))) void SWAGE_ENTRY(void** arguments) {
  SWAGE_UNPACK
#pragma omp parallel for schedule(static)
  for (Index g = 0; g < kGroups; ++g) {
    const Base first = baseAt(g, 0);
    Group q = groupAt(SWAGE_PASS, first, 0);
    reduceGroup<0>(SWAGE_PASS, g, q);
    storeGroup(SWAGE_PASS, first, g, 0, q);
    if constexpr (kElementStores > 0) {
      for (Index o = 0; o < kOuter; ++o) {
        mapRun(SWAGE_PASS, baseAt(g, o), q, o * kInner, 0, kInner);
      }
    }
  }
  if constexpr (kStreaming != 0) {
    _mm_sfence();
  }
}
