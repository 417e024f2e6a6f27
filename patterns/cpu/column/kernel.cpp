// SPDX-License-Identifier: MIT-0
// Groups numbered by the innermost axis: a thread reduces a block of neighbouring groups together, walking down the
// reduced axes with vector accumulators.
#include "../common.h"

//! swage:begin parameters
constexpr int kBlock = 256;
constexpr int kStreaming = 0;
//! swage:end parameters
//! swage:begin region
// Generated, as an example: softmax over dimension 1 of float32[16, 512, 1024]
// clang-format off
using Index = NarrowIndex;
constexpr Index kGroups = 16;
constexpr Index kOuter = 512;
constexpr Index kInner = 1024;
constexpr int kStages = 2;
constexpr int kElementStores = 1;
constexpr int kGroupStores = 0;

#undef SWAGE_ENTRY
#undef SWAGE_ENTRY_FINISH
#undef SWAGE_PARAMETERS
#undef SWAGE_PASS
#undef SWAGE_UNPACK
#define SWAGE_ENTRY example
#define SWAGE_ENTRY_FINISH example_finish
#define SWAGE_PARAMETERS const float* SWAGE_RESTRICT p0, float* SWAGE_RESTRICT p1
#define SWAGE_PASS p0, p1
#define SWAGE_UNPACK const float* SWAGE_RESTRICT p0 = *static_cast<const float**>(arguments[0]); float* SWAGE_RESTRICT p1 = *static_cast<float**>(arguments[1]); 

struct Base {
  Index a0 = 0;
  Index a1 = 0;
};
SWAGE_FN Base baseAt([[maybe_unused]] Index group, [[maybe_unused]] Index outer) {
  Base base;
  {
    const Index c = group;
    base.a0 += c * 524288u;
    base.a1 += c * 524288u;
  }
  {
    const Index c = outer;
    base.a0 += c * 1024u;
    base.a1 += c * 1024u;
  }
  return base;
}

struct Element {
  float x0;
};
SWAGE_FN void load(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] Element& e) {
  e.x0 = toCompute(p0[base.a0 + i]);
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
}
template <int V>
SWAGE_FN void loadAgainVector(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] Element (&e)[V]) {
  {
    float chunk[V];
    loadCached<V>(&p0[base.a0 + i], chunk);
    SWAGE_UNROLL for (int v = 0; v < V; ++v) { e[v].x0 = toCompute(chunk[v]); }
  }
}
template <int V>
SWAGE_FN void loadOtherVector(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] Element (&e)[V]) {
}
constexpr int kStreamed = 1;
SWAGE_FN float streamed([[maybe_unused]] const Element& e, [[maybe_unused]] int which) {
  if (which == 0) { return float(e.x0); }
  return 0.0f;
}
SWAGE_FN void setStreamed([[maybe_unused]] Element& e, [[maybe_unused]] int which, [[maybe_unused]] float value) {
  if (which == 0) { e.x0 = float(value); }
}
template <int V>
SWAGE_FN void copyStreamed(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] float* to, [[maybe_unused]] Index row) {
  copyAsync<V>(to + 0u * row, &p0[base.a0 + i]);
}

struct Group {
  float g1 = 0;
  float g4 = 0;
  float g5 = 0;
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
  float r0_value[L];
};
template <int L>
struct Total<0, L> {
  State<0, L> s;
};
template <int L>
SWAGE_FN void identity([[maybe_unused]] State<0, L>& s) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    s.r0_value[l] = -SWAGE_INFINITYF;
  }
}
template <int L>
SWAGE_FN void accumulate([[maybe_unused]] State<0, L>& s, [[maybe_unused]] int l, [[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, [[maybe_unused]] float inverse) {
  s.r0_value[l] = fn_max(s.r0_value[l], e.x0);
}
template <int L>
SWAGE_FN void merge([[maybe_unused]] State<0, L>& s, [[maybe_unused]] const State<0, L>& other) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    s.r0_value[l] = fn_max(s.r0_value[l], other.r0_value[l]);
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
    half.r0_value[l] = s.r0_value[l];
    half.r0_value[l] = fn_max(half.r0_value[l], s.r0_value[L / 2 + l]);
    }
    return joinLanes(half);
  }
}
template <int L>
SWAGE_FN State<0, 1> laneOf([[maybe_unused]] const State<0, L>& s, [[maybe_unused]] int l) {
  State<0, 1> one;
  one.r0_value[0] = s.r0_value[l];
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
    t.s.r0_value[l] = fn_max(t.s.r0_value[l], s.r0_value[l]);
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
  q.g1 = s.r0_value[0];
}

template <int L>
struct State<1, L> {
  using One = State<1, 1>;
  using Sum = Total<1, L>;
  static constexpr bool kSums = kSum32Loses;
  Sum32 r1_value[L];
};
template <int L>
struct Total<1, L> {
  State<1, L> s;
  Sum32 r1_lost[L];
};
template <int L>
SWAGE_FN void identity([[maybe_unused]] State<1, L>& s) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    s.r1_value[l] = 0;
  }
}
template <int L>
SWAGE_FN void accumulate([[maybe_unused]] State<1, L>& s, [[maybe_unused]] int l, [[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, [[maybe_unused]] float inverse) {
  const float v2 = (e.x0 - q.g1);
  const float v3 = fn_exp(v2);
  s.r1_value[l] += v3;
}
template <int L>
SWAGE_FN void merge([[maybe_unused]] State<1, L>& s, [[maybe_unused]] const State<1, L>& other) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    s.r1_value[l] += other.r1_value[l];
  }
}
template <int L>
SWAGE_FN State<1, 1> joinLanes([[maybe_unused]] const State<1, L>& s) {
  if constexpr (L == 1) {
    return s;
  } else {
    static_assert(L % 2 == 0);
    State<1, L / 2> half;
    SWAGE_UNROLL for (int l = 0; l < L / 2; ++l) {
    half.r1_value[l] = s.r1_value[l];
    half.r1_value[l] += s.r1_value[L / 2 + l];
    }
    return joinLanes(half);
  }
}
template <int L>
SWAGE_FN State<1, 1> laneOf([[maybe_unused]] const State<1, L>& s, [[maybe_unused]] int l) {
  State<1, 1> one;
  one.r1_value[0] = s.r1_value[l];
  return one;
}
template <int L>
SWAGE_FN void identity([[maybe_unused]] Total<1, L>& t) {
  identity(t.s);
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    t.r1_lost[l] = 0;
  }
}
template <int L>
SWAGE_FN void add([[maybe_unused]] Total<1, L>& t, [[maybe_unused]] const State<1, L>& s) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    { const Sum32 sum = t.s.r1_value[l] + s.r1_value[l]; t.r1_lost[l] += lostIn(sum, t.s.r1_value[l], s.r1_value[l]); t.s.r1_value[l] = sum; }
  }
}
template <int L>
SWAGE_FN State<1, L> settled([[maybe_unused]] const Total<1, L>& t) {
  State<1, L> s = t.s;
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    s.r1_value[l] = withLost(s.r1_value[l], t.r1_lost[l]);
  }
  return s;
}
SWAGE_FN void finish([[maybe_unused]] const State<1, 1>& s, [[maybe_unused]] Group& q) {
  q.g4 = s.r1_value[0];
  q.g5 = fn_reciprocal(q.g4);
}

struct Outputs {
  float y0;
};
SWAGE_FN void evaluate([[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, [[maybe_unused]] Outputs& out) {
  const float v2 = (e.x0 - q.g1);
  const float v3 = fn_exp(v2);
  const float v6 = (v3 * q.g5);
  out.y0 = fromCompute<float>(v6);
}
SWAGE_FN void store(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] const Outputs& out) {
  p1[base.a1 + i] = out.y0;
}
template <int V, bool Streaming>
SWAGE_FN void storeVector(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index i, [[maybe_unused]] const Outputs (&out)[V]) {
  {
    float chunk[V];
    SWAGE_UNROLL for (int v = 0; v < V; ++v) { chunk[v] = out[v].y0; }
    storeChunk<V, Streaming>(&p1[base.a1 + i], chunk);
  }
}
SWAGE_FN void storeGroup(SWAGE_PARAMETERS, [[maybe_unused]] const Base& base, [[maybe_unused]] Index group, [[maybe_unused]] Index i, [[maybe_unused]] const Group& q) {
}
constexpr bool kHasKept = true;
template <int L>
SWAGE_FN void accumulateKeeping(State<1, L>& s, int l, const Element& e, const Group& q, Index r, float inverse, [[maybe_unused]] float& kept) {
  accumulate(s, l, e, q, r, inverse);
  const float v2 = (e.x0 - q.g1);
  const float v3 = fn_exp(v2);
  kept = v3;
}
SWAGE_FN void evaluateKept([[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, [[maybe_unused]] float kept, [[maybe_unused]] Outputs& out) {
  const float v6 = (kept * q.g5);
  out.y0 = fromCompute<float>(v6);
}
// clang-format on
//! swage:end region

// L groups from `start`.
template <int K, int L>
static void reduceBlock(SWAGE_PARAMETERS, Index g, Index start, Group (&q)[L]) {
  if constexpr (K < kStages) {
    Running<State<K, L>, kOuter> s;
    startSteps(s);
    for (Index o = 0; o < kOuter;) {
      const Index end = runEnd(s, o, kOuter, 1);
      for (; o < end; ++o) {
        const Base base = baseAt(g, o);
        const float inverse = 1.0f / float(++s.steps);
#pragma omp simd
        for (int l = 0; l < L; ++l) {
          Element e;
          load(SWAGE_PASS, base, start + l, e);
          accumulate(s.part, l, e, q[l], o, inverse);
        }
      }
      endSteps(s);
    }
    const State<K, L> found = result(s);
    for (int l = 0; l < L; ++l) {
      finish(laneOf(found, l), q[l]);
    }
    reduceBlock<K + 1, L>(SWAGE_PASS, g, start, q);
  }
}

template <int L>
static void block(SWAGE_PARAMETERS, Index g, Index start) {
  const Base first = baseAt(g, 0);
  Group q[L];
  for (int l = 0; l < L; ++l) {
    q[l] = groupAt(SWAGE_PASS, first, start + l);
  }
  reduceBlock<0, L>(SWAGE_PASS, g, start, q);
  for (int l = 0; l < L; ++l) {
    storeGroup(SWAGE_PASS, first, g, start + l, q[l]);
  }
  if constexpr (kElementStores > 0) {
    for (Index o = 0; o < kOuter; ++o) {
      const Base base = baseAt(g, o);
      Outputs out[L];
#pragma omp simd
      for (int l = 0; l < L; ++l) {
        Element e;
        load(SWAGE_PASS, base, start + l, e);
        evaluate(e, q[l], o, out[l]);
      }
      storeVector<L, kStreaming != 0>(SWAGE_PASS, base, start, out);
    }
  }
}

extern "C" __attribute__((visibility("default"))) void SWAGE_ENTRY(void** arguments) {
  SWAGE_UNPACK
  constexpr Index kBlocks = (kInner + kBlock - 1) / kBlock;
#pragma omp parallel for schedule(static)
  for (Index t = 0; t < kGroups * kBlocks; ++t) {
    const Index g = t / kBlocks;
    const Index start = (t % kBlocks) * kBlock;
    if (start + kBlock <= kInner) {
      block<kBlock>(SWAGE_PASS, g, start);
    } else {
      constexpr int kRest = int(kInner % kBlock);
      if constexpr (kRest > 0) {
        block<kRest>(SWAGE_PASS, g, start);
      }
    }
  }
  if constexpr (kStreaming != 0) {
    _mm_sfence();
  }
}
