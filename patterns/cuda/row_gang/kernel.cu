// SPDX-License-Identifier: MIT-0
// Long groups along the innermost axis: a gang of blocks works on one group at a time, all gangs at once on the device
// (a cooperative launch). The blocks of a gang meet at a counter in memory after each stage. The group is read again
// for the map, backwards, so that what was read last is taken from the second-level cache.
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kThreads = 512;
constexpr int kUnroll = 4;
constexpr int kGang = 33;
constexpr int kGangs = 4;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kStreaming = 1;
//! swage:end parameters
//! swage:begin region
// Generated, as an example: softmax over the last dimension of float32[4, 1048576]
// clang-format off
using Index = NarrowIndex;
constexpr Index kGroups = 4;
constexpr Index kOuter = 1;
constexpr Index kInner = 1048576;
constexpr int kStages = 1;
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
    base.a0 += c * 1048576u;
    base.a1 += c * 1048576u;
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
  static constexpr bool kSums = true;
  float r0_max[L];
  float r0_sum[L];
};
template <int L>
struct Total<0, L> {
  State<0, L> s;
  float r0_lost[L];
};
template <int L>
SWAGE_FN void identity([[maybe_unused]] State<0, L>& s) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    s.r0_max[l] = -SWAGE_MAXF; s.r0_sum[l] = 0;
  }
}
template <int L>
SWAGE_FN void accumulate([[maybe_unused]] State<0, L>& s, [[maybe_unused]] int l, [[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, [[maybe_unused]] float inverse) {
  { const float d = e.x0 - s.r0_max[l]; const float w = fn_weight(-fn_abs(d)); s.r0_sum[l] = d > 0 ? s.r0_sum[l] * w + 1 : s.r0_sum[l] + w; s.r0_max[l] = fn_max(s.r0_max[l], e.x0); }
}
template <int L>
SWAGE_FN void merge([[maybe_unused]] State<0, L>& s, [[maybe_unused]] const State<0, L>& other) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    { const float m = fn_max(s.r0_max[l], other.r0_max[l]); s.r0_sum[l] = s.r0_sum[l] * fn_weight(s.r0_max[l] - m) + other.r0_sum[l] * fn_weight(other.r0_max[l] - m); s.r0_max[l] = m; }
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
    half.r0_max[l] = s.r0_max[l];
    half.r0_sum[l] = s.r0_sum[l];
    { const float m = fn_max(half.r0_max[l], s.r0_max[L / 2 + l]); half.r0_sum[l] = half.r0_sum[l] * fn_weight(half.r0_max[l] - m) + s.r0_sum[L / 2 + l] * fn_weight(s.r0_max[L / 2 + l] - m); half.r0_max[l] = m; }
    }
    return joinLanes(half);
  }
}
template <int L>
SWAGE_FN State<0, 1> laneOf([[maybe_unused]] const State<0, L>& s, [[maybe_unused]] int l) {
  State<0, 1> one;
  one.r0_max[0] = s.r0_max[l];
  one.r0_sum[0] = s.r0_sum[l];
  return one;
}
template <int L>
SWAGE_FN void identity([[maybe_unused]] Total<0, L>& t) {
  identity(t.s);
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    t.r0_lost[l] = 0;
  }
}
template <int L>
SWAGE_FN void add([[maybe_unused]] Total<0, L>& t, [[maybe_unused]] const State<0, L>& s) {
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    { const float m = fn_max(t.s.r0_max[l], s.r0_max[l]); const float w = fn_weight(t.s.r0_max[l] - m); const float own = t.s.r0_sum[l] * w; const float other = s.r0_sum[l] * fn_weight(s.r0_max[l] - m); const float sum = own + other; t.r0_lost[l] = t.r0_lost[l] * w + lostIn(sum, own, other); t.s.r0_sum[l] = sum; t.s.r0_max[l] = m; }
  }
}
template <int L>
SWAGE_FN State<0, L> settled([[maybe_unused]] const Total<0, L>& t) {
  State<0, L> s = t.s;
  SWAGE_UNROLL for (int l = 0; l < L; ++l) {
    s.r0_sum[l] = withLost(s.r0_sum[l], t.r0_lost[l]);
  }
  return s;
}
SWAGE_FN void finish([[maybe_unused]] const State<0, 1>& s, [[maybe_unused]] Group& q) {
  q.g1 = s.r0_max[0];
  q.g4 = s.r0_sum[0];
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
constexpr bool kHasKept = false;
template <int L>
SWAGE_FN void accumulateKeeping(State<0, L>& s, int l, const Element& e, const Group& q, Index r, float inverse, [[maybe_unused]] float& kept) {
  accumulate(s, l, e, q, r, inverse);
}
SWAGE_FN void evaluateKept([[maybe_unused]] const Element& e, [[maybe_unused]] const Group& q, [[maybe_unused]] Index r, [[maybe_unused]] float kept, [[maybe_unused]] Outputs& out) {
  const float v2 = (e.x0 - q.g1);
  const float v3 = fn_exp(v2);
  const float v6 = (v3 * q.g5);
  out.y0 = fromCompute<float>(v6);
}
// clang-format on
//! swage:end region

constexpr Index kVectors = kInner / kVectorWidth;
constexpr Index kTotal = kOuter * kVectors;

// Divisions that the compiler cannot know to be trivial when there is one run of the innermost axis.
SWAGE_FN Index outerOf(Index at) { return kOuter == 1 ? 0 : at / kVectors; }
SWAGE_FN Index innerOf(Index at) { return (kOuter == 1 ? at : at % kVectors) * kVectorWidth; }
constexpr Index kSlice = (kTotal + kGang - 1) / kGang;

using OwnGang = Gang<kGang, kGangs, (kStages > 0 ? kStages : 1)>;

template <int K>
SWAGE_FN void reduceGroup(SWAGE_PARAMETERS, Index g, Group& q, Index begin, Index end, OwnGang& gang) {
  if constexpr (K < kStages) {
    Running<State<K, kVectorWidth>, (kSlice + kThreads - 1) / kThreads> s;
    startSteps(s);
    for (Index first = begin + threadIdx.x; first < end; first += Index(kThreads * kUnroll)) {
      Element e[kUnroll][kVectorWidth];
      SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
        const Index at = first + Index(u * kThreads);
        if (at < end) {
          loadAgainVector<kVectorWidth>(SWAGE_PASS, baseAt(g, outerOf(at)), innerOf(at), e[u]);
        }
      }
      SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
        const Index at = first + Index(u * kThreads);
        if (at < end) {
          const float inverse = inverseOf(++s.steps);
          const Index r = outerOf(at) * kInner + innerOf(at);
          SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { accumulate(s.part, v, e[u][v], q, r + Index(v), inverse); }
        }
      }
      endSteps(s);
    }
    finish(joinGang<kThreads, K>(result(s), gang), q);
    reduceGroup<K + 1>(SWAGE_PASS, g, q, begin, end, gang);
  }
}

SWAGE_FN void mapGroup(SWAGE_PARAMETERS, Index g, const Group& q, Index begin, Index end) {
  // Backwards: what was read last is still in the second-level cache.
  for (Index done = threadIdx.x; done < end - begin; done += Index(kThreads * kUnroll)) {
    Element e[kUnroll][kVectorWidth];
    SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
      const Index back = done + Index(u * kThreads);
      if (back < end - begin) {
        const Index at = end - 1 - back;
        loadAgainVector<kVectorWidth>(SWAGE_PASS, baseAt(g, outerOf(at)), innerOf(at), e[u]);
      }
    }
    SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
      const Index back = done + Index(u * kThreads);
      if (back < end - begin) {
        const Index at = end - 1 - back;
        const Index i = innerOf(at);
        Outputs out[kVectorWidth];
        SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
          evaluate(e[u][v], q, outerOf(at) * kInner + i + Index(v), out[v]);
        }
        storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, baseAt(g, outerOf(at)), i, out);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor) SWAGE_ENTRY(SWAGE_PARAMETERS, unsigned char* scratch) {
  OwnGang gang{scratch};
  const Index begin = Index(gang.member()) * kSlice < kTotal ? Index(gang.member()) * kSlice : kTotal;
  const Index end = begin + kSlice < kTotal ? begin + kSlice : kTotal;
  for (Index g = Index(gang.number()); g < kGroups; g += kGangs) {
    const Base first = baseAt(g, 0);
    Group q = groupAt(SWAGE_PASS, first, 0);
    reduceGroup<0>(SWAGE_PASS, g, q, begin, end, gang);
    if (threadIdx.x == 0 && gang.member() == 0) {
      storeGroup(SWAGE_PASS, first, g, 0, q);
    }
    if constexpr (kElementStores > 0) {
      mapGroup(SWAGE_PASS, g, q, begin, end);
    }
    gang.half = 1 - gang.half;
  }
}
