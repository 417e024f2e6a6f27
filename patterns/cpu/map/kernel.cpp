// SPDX-License-Identifier: MIT-0
// Element by element over all axes, threads share tiles of the innermost axis.
#include "../common.h"

//! swage:begin parameters
constexpr int kTile = 1024;
constexpr int kStreaming = 0;
//! swage:end parameters
//! swage:begin region
// Generated, as an example: silu(x) * y, float32[4096, 1024]
// clang-format off
using Index = NarrowIndex;
constexpr Index kGroups = 1;
constexpr Index kOuter = 1;
constexpr Index kInner = 4194304;
constexpr int kStages = 0;
constexpr int kElementStores = 1;
constexpr int kGroupStores = 0;

#undef SWAGE_ENTRY
#undef SWAGE_ENTRY_FINISH
#undef SWAGE_PARAMETERS
#undef SWAGE_PASS
#undef SWAGE_UNPACK
#define SWAGE_ENTRY example
#define SWAGE_ENTRY_FINISH example_finish
#define SWAGE_PARAMETERS const float* SWAGE_RESTRICT p0, const float* SWAGE_RESTRICT p1, float* SWAGE_RESTRICT p2
#define SWAGE_PASS p0, p1, p2
#define SWAGE_UNPACK const float* SWAGE_RESTRICT p0 = *static_cast<const float**>(arguments[0]); const float* SWAGE_RESTRICT p1 = *static_cast<const float**>(arguments[1]); float* SWAGE_RESTRICT p2 = *static_cast<float**>(arguments[2]); 

struct Base {
  Index a0 = 0;
  Index a1 = 0;
  Index a2 = 0;
};
SWAGE_FN Base baseAt([[maybe_unused]] Index group, [[maybe_unused]] Index outer) {
  Base base;
  return base;
}

struct Element {
  float x0;
  float x3;
};
SWAGE_FN void load(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] Element& e) {
  e.x0 = toCompute(p0[base.a0 + i]);
  e.x3 = toCompute(p1[base.a1 + i]);
}
SWAGE_FN void loadOther(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] Element& e) {
}
template <int V>
SWAGE_FN void loadVector(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] Element (&e)[V]) {
  {
    float chunk[V];
    loadChunk<V>(&p0[base.a0 + i], chunk);
    SWAGE_UNROLL for (int v = 0; v < V; ++v) { e[v].x0 = toCompute(chunk[v]); }
  }
  {
    float chunk[V];
    loadChunk<V>(&p1[base.a1 + i], chunk);
    SWAGE_UNROLL for (int v = 0; v < V; ++v) { e[v].x3 = toCompute(chunk[v]); }
  }
}
template <int V>
SWAGE_FN void loadAgainVector(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] Element (&e)[V]) {
  {
    float chunk[V];
    loadCached<V>(&p0[base.a0 + i], chunk);
    SWAGE_UNROLL for (int v = 0; v < V; ++v) { e[v].x0 = toCompute(chunk[v]); }
  }
  {
    float chunk[V];
    loadCached<V>(&p1[base.a1 + i], chunk);
    SWAGE_UNROLL for (int v = 0; v < V; ++v) { e[v].x3 = toCompute(chunk[v]); }
  }
}
template <int V>
SWAGE_FN void loadOtherVector(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] Element (&e)[V]) {
}
constexpr int kStreamed = 2;
SWAGE_FN float streamed([[maybe_unused]] const Element& e, [[maybe_unused]] int which) {
  if (which == 0) { return float(e.x0); }
  if (which == 1) { return float(e.x3); }
  return 0.0f;
}
SWAGE_FN void setStreamed([[maybe_unused]] Element& e, [[maybe_unused]] int which, [[maybe_unused]] float value) {
  if (which == 0) { e.x0 = float(value); }
  if (which == 1) { e.x3 = float(value); }
}
template <int V>
SWAGE_FN void copyStreamed(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] float* to, [[maybe_unused]] Index row) {
  copyAsync<V>(to + 0u * row, &p0[base.a0 + i]);
  copyAsync<V>(to + 1u * row, &p1[base.a1 + i]);
}

struct Group {
};
SWAGE_FN Group groupAt(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i) {
  Group q;
  return q;
}

template <int K, int L>
struct State;
template <int K, int L>
struct Total;
template <int L>
struct State<0, L> {
  using One = State<0, 1>;
  using Sum = Total<0, L>;
  static constexpr bool kSums = false;
};
template <int L>
struct Total<0, L> {
  State<0, L> s;
};
template <int L>
SWAGE_FN void identity([[maybe_unused]] State<0, L>& s) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
  }
}
template <int L>
SWAGE_FN void accumulate([[maybe_unused]] State<0, L>& s, [[maybe_unused]] int l, [[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, [[maybe_unused]] float inverse) {
}
template <int L>
SWAGE_FN void merge([[maybe_unused]] State<0, L>& s, [[maybe_unused]] const State<0, L>& other) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
  }
}
template <int L>
SWAGE_FN State<0, 1> joinLanes([[maybe_unused]] const State<0, L>& s) {
  if constexpr (L == 1) {
    return s;
  } else {
    static_assert(L % 2 == 0);
    State<0, L / 2> half;
    SWAGE_UNROLL for (int l = 0; l < L / 2; ++l) {
    }
    return joinLanes(half);
  }
}
template <int L>
SWAGE_FN State<0, 1> laneOf([[maybe_unused]] const State<0, L>& s, [[maybe_unused]] int l) {
  State<0, 1> one;
  return one;
}
template <int L>
SWAGE_FN void identity([[maybe_unused]] Total<0, L>& t) {
  identity(t.s);
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
  }
}
template <int L>
SWAGE_FN void add([[maybe_unused]] Total<0, L>& t, [[maybe_unused]] const State<0, L>& s) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
  }
}
template <int L>
SWAGE_FN State<0, L> settled([[maybe_unused]] const Total<0, L>& t) {
  State<0, L> s = t.s;
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
  }
  return s;
}
SWAGE_FN void finish([[maybe_unused]] const State<0, 1>& s, [[maybe_unused]] Group& q) {
}

struct Outputs {
  float y0;
};
SWAGE_FN void evaluate([[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, [[maybe_unused]] Outputs& out) {
  const float v1 = fn_sigmoid(e.x0);
  const float v2 = (e.x0 * v1);
  const float v4 = (v2 * e.x3);
  out.y0 = fromCompute<float>(v4);
}
SWAGE_FN void store(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] const Outputs& out) {
  p2[base.a2 + i] = out.y0;
}
template <int V, bool Streaming>
SWAGE_FN void storeVector(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] const Outputs (&out)[V]) {
  {
    float chunk[V];
    SWAGE_UNROLL for (int v = 0; v < V; ++v) { chunk[v] = out[v].y0; }
    storeChunk<V, Streaming>(&p2[base.a2 + i], chunk);
  }
}
SWAGE_FN void storeGroup(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index group, [[maybe_unused]] Index i, [[maybe_unused]] const Group& q) {
}
constexpr bool kHasKept = false;
template <int L>
SWAGE_FN void accumulateKeeping(State<0, L>& s, int l, const Element& e, const Group& q, Index r, float inverse, [[maybe_unused]] float& kept) {
  accumulate(s, l, e, q, r, inverse);
}
SWAGE_FN void evaluateKept([[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, [[maybe_unused]] float kept, [[maybe_unused]] Outputs& out) {
  const float v1 = fn_sigmoid(e.x0);
  const float v2 = (e.x0 * v1);
  const float v4 = (v2 * e.x3);
  out.y0 = fromCompute<float>(v4);
}
// clang-format on
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
