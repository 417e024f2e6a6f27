// SPDX-License-Identifier: MIT-0
// Few groups of many elements along the innermost axis: all threads work on one group, meet at a barrier after each
// stage, and then share its map.
#include "../common.h"

//! swage:begin parameters
constexpr int kLanes = 64;
constexpr int kStreaming = 0;
//! swage:end parameters
//! swage:begin region
//! swage:end region

constexpr int kMaxThreads = 256;
constexpr Index kSlices = (kInner + kLanes - 1) / kLanes;  // of each run of the innermost axis

// The part [begin, end) of kOuter * kSlices slices that belongs to a thread.
struct Share {
  Index begin;
  Index end;
};
static Share shareOf(int thread, int threads) {
  const Index total = kOuter * kSlices;
  return {total * thread / threads, total * (thread + 1) / threads};
}

template <int K>
static void accumulateShare(SWAGE_PARAMETERS, Index g, const Group& q, Share share, State<K, 1>& result) {
  State<K, kLanes> s;
  State<K, kLanes> rest;
  identity(s);
  identity(rest);
  I64 steps = 0;
  I64 restSteps = 0;
  for (Index t = share.begin; t < share.end; ++t) {
    const Index o = t / kSlices;
    const Index i = (t % kSlices) * kLanes;
    const Base base = baseAt(g, o);
    if (i + kLanes <= kInner) {
      const float inverse = 1.0f / float(++steps);
#pragma omp simd
      for (int l = 0; l < kLanes; ++l) {
        Element e;
        load(SWAGE_PASS, base, i + l, e);
        accumulate(s, l, e, q, o * kInner + i + l, inverse);
      }
    } else {
      const float inverse = 1.0f / float(++restSteps);
      for (Index v = i; v < kInner; ++v) {
        Element e;
        load(SWAGE_PASS, base, v, e);
        accumulate(rest, int(v - i), e, q, o * kInner + v, inverse);
      }
    }
  }
  merge(s, rest);
  result = joinLanes(s);
}

// Every thread joins the partial results in the same order, so all of them hold the same group.
template <int K>
static void reduceTogether(SWAGE_PARAMETERS, Index g, Group& q, Share share, int thread, int threads) {
  if constexpr (K < kStages) {
    static State<K, 1> partial[kMaxThreads];
    accumulateShare<K>(SWAGE_PASS, g, q, share, partial[thread]);
#pragma omp barrier
    State<K, 1> total = partial[0];
    for (int other = 1; other < threads; ++other) {
      merge(total, partial[other]);
    }
    finish(total, q);
    reduceTogether<K + 1>(SWAGE_PASS, g, q, share, thread, threads);
  }
}

static void mapShare(SWAGE_PARAMETERS, Index g, const Group& q, Share share) {
  for (Index t = share.begin; t < share.end; ++t) {
    const Index o = t / kSlices;
    const Index i = (t % kSlices) * kLanes;
    const Base base = baseAt(g, o);
    if (i + kLanes <= kInner) {
      Outputs out[kLanes];
#pragma omp simd
      for (int l = 0; l < kLanes; ++l) {
        Element e;
        load(SWAGE_PASS, base, i + l, e);
        evaluate(e, q, o * kInner + i + l, out[l]);
      }
      storeVector<kLanes, kStreaming != 0>(SWAGE_PASS, base, i, out);
    } else {
      for (Index v = i; v < kInner; ++v) {
        Element e;
        load(SWAGE_PASS, base, v, e);
        Outputs out;
        evaluate(e, q, o * kInner + v, out);
        store(SWAGE_PASS, base, v, out);
      }
    }
  }
}

extern "C" __attribute__((visibility("default"))) void SWAGE_ENTRY(void** arguments) {
  SWAGE_UNPACK
#pragma omp parallel num_threads(omp_get_max_threads() < kMaxThreads ? omp_get_max_threads() : kMaxThreads)
  {
    const int threads = omp_get_num_threads();
    const int thread = omp_get_thread_num();
    const Share share = shareOf(thread, threads);
    for (Index g = 0; g < kGroups; ++g) {
      const Base first = baseAt(g, 0);
      Group q = groupAt(SWAGE_PASS, first, 0);
      reduceTogether<0>(SWAGE_PASS, g, q, share, thread, threads);
      if (thread == 0) {
        storeGroup(SWAGE_PASS, first, g, 0, q);
      }
      if constexpr (kElementStores > 0) {
        mapShare(SWAGE_PASS, g, q, share);
      }
#pragma omp barrier
    }
    if constexpr (kStreaming != 0) {
      _mm_sfence();
    }
  }
}
