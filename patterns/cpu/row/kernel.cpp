// SPDX-License-Identifier: MIT-0
// Groups whose elements lie along the innermost axis: one thread reduces a group, stage by stage, then maps it.
#include "../common.h"

//! swage:begin parameters
constexpr int kLanes = 64;
constexpr int kTile = 512;
constexpr int kStreaming = 0;
constexpr int kKeep = 0;
//! swage:end parameters
//! swage:begin region
// Generated, as an example: softmax over the last dimension of float32[1024, 4096]
// clang-format off
using Index = NarrowIndex;
constexpr Index kGroups = 1024;
constexpr Index kOuter = 1;
constexpr Index kInner = 4096;
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
    base.a0 += c * 4096u;
    base.a1 += c * 4096u;
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

// What the last stage computed for each element, kept in the first-level caches for the map.
struct Keep {
  float values[kKeep != 0 ? kInner : 1];
};

// Every lane adds up its own elements, so that the loop over lanes is one of vector instructions. The elements that
// do not fill all lanes go to lanes of their own, because Welford's update needs to know how many each has seen.
template <int K>
static void reduceGroup(SWAGE_PARAMETERS, Index g, Group& q, [[maybe_unused]] Keep& keep) {
  if constexpr (K < kStages) {
    constexpr Index kFull = kInner / kLanes * kLanes;
    Running<State<K, kLanes>, kOuter*(kFull / kLanes)> s;
    Running<State<K, kLanes>, kOuter> rest;
    startSteps(s);
    startSteps(rest);
    for (Index o = 0; o < kOuter; ++o) {
      const Base base = baseAt(g, o);
      for (Index i = 0; i < kFull;) {
        const Index end = runEnd(s, i, kFull, kLanes);
        for (; i < end; i += kLanes) {
          const float inverse = 1.0f / float(++s.steps);
#pragma omp simd
          for (int l = 0; l < kLanes; ++l) {
            Element e;
            load(SWAGE_PASS, base, i + l, e);
            if constexpr (kKeep != 0 && K == kStages - 1) {
              accumulateKeeping(s.part, l, e, q, i + l, inverse, keep.values[i + l]);
            } else {
              accumulate(s.part, l, e, q, o * kInner + i + l, inverse);
            }
          }
        }
        endSteps(s);
      }
      const float inverse = 1.0f / float(++rest.steps);
      for (Index i = kFull; i < kInner; ++i) {
        Element e;
        load(SWAGE_PASS, base, i, e);
        if constexpr (kKeep != 0 && K == kStages - 1) {
          accumulateKeeping(rest.part, int(i - kFull), e, q, i, inverse, keep.values[i]);
        } else {
          accumulate(rest.part, int(i - kFull), e, q, o * kInner + i, inverse);
        }
      }
      endSteps(rest);
    }
    State<K, kLanes> found = result(s);
    if constexpr (kFull < kInner) {
      merge(found, result(rest));
    }
    finish(joinLanes(found), q);
    reduceGroup<K + 1>(SWAGE_PASS, g, q, keep);
  }
}

SWAGE_FN void evaluateAt(const Element& e, const Group& q, Index r, [[maybe_unused]] const Keep& keep, Outputs& out) {
  if constexpr (kKeep != 0) {
    evaluateKept(e, q, r, keep.values[r], out);
  } else {
    evaluate(e, q, r, out);
  }
}

static void mapRun(SWAGE_PARAMETERS, const Base& base, const Group& q, const Keep& keep, Index first, Index start,
                   Index end) {
  Index i = start;
  if constexpr (kStreaming != 0) {
    const Index tiled = start + (end - start) / kTile * kTile;
    for (; i < tiled; i += kTile) {
      Outputs out[kTile];
#pragma omp simd
      for (Index v = 0; v < kTile; ++v) {
        Element e;
        load(SWAGE_PASS, base, i + v, e);
        evaluateAt(e, q, first + i + v, keep, out[v]);
      }
      storeVector<kTile, true>(SWAGE_PASS, base, i, out);
    }
  }
#pragma omp simd
  for (Index v = i; v < end; ++v) {
    Element e;
    load(SWAGE_PASS, base, v, e);
    Outputs out;
    evaluateAt(e, q, first + v, keep, out);
    store(SWAGE_PASS, base, v, out);
  }
}

extern "C" __attribute__((visibility("default"))) void SWAGE_ENTRY(void** arguments) {
  SWAGE_UNPACK
#pragma omp parallel for schedule(static)
  for (Index g = 0; g < kGroups; ++g) {
    const Base first = baseAt(g, 0);
    Group q = groupAt(SWAGE_PASS, first, 0);
    Keep keep;
    reduceGroup<0>(SWAGE_PASS, g, q, keep);
    storeGroup(SWAGE_PASS, first, g, 0, q);
    if constexpr (kElementStores > 0) {
      for (Index o = 0; o < kOuter; ++o) {
        mapRun(SWAGE_PASS, baseAt(g, o), q, keep, o * kInner, 0, kInner);
      }
    }
  }
  if constexpr (kStreaming != 0) {
    _mm_sfence();
  }
}
