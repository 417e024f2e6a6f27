// SPDX-License-Identifier: MIT-0
// Element by element over all axes, threads share tiles of the innermost axis.
#include "../common.h"

//! swage:begin parameters
constexpr int kTile = 1024;
constexpr int kStreaming = 0;
//! swage:end parameters
//! swage:begin region
//! swage:end region

// A tile is computed into a buffer in the first-level cache when it is then streamed to memory; without streaming
// each result is stored where it is computed.
static void tile(SWAGE_PARAMETERS, const Base& base, const Group& q, Index start) {
  if constexpr (kStreaming != 0) {
    Outputs out[kTile];
#pragma omp simd
    for (Index v = 0; v < kTile; ++v) {
      Element e;
      load(SWAGE_PASS, base, start + v, e);
      evaluate(e, q, start + v, out[v]);
    }
    storeVector<kTile, true>(SWAGE_PASS, base, start, out);
  } else {
#pragma omp simd
    for (Index v = 0; v < kTile; ++v) {
      Element e;
      load(SWAGE_PASS, base, start + v, e);
      Outputs out;
      evaluate(e, q, start + v, out);
      store(SWAGE_PASS, base, start + v, out);
    }
  }
}

static void rest(SWAGE_PARAMETERS, const Base& base, const Group& q, Index start, Index end) {
#pragma omp simd
  for (Index i = start; i < end; ++i) {
    Element e;
    load(SWAGE_PASS, base, i, e);
    Outputs out;
    evaluate(e, q, i, out);
    store(SWAGE_PASS, base, i, out);
  }
}

extern "C" __attribute__((visibility("default"))) void SWAGE_ENTRY(void** arguments) {
  SWAGE_UNPACK
  constexpr Index kTiles = (kInner + kTile - 1) / kTile;
#pragma omp parallel for schedule(static)
  for (Index t = 0; t < kGroups * kTiles; ++t) {
    const Base base = baseAt(t / kTiles, 0);
    const Group q = groupAt(SWAGE_PASS, base, 0);
    const Index start = (t % kTiles) * kTile;
    if (start + kTile <= kInner) {
      tile(SWAGE_PASS, base, q, start);
    } else {
      rest(SWAGE_PASS, base, q, start, kInner);
    }
  }
  if constexpr (kStreaming != 0) {
    _mm_sfence();
  }
}
