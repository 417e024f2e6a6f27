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
  Running<State<0, kVectorWidth>, (kSlice + kThreads - 1) / kThreads> s;
  startSteps(s);
  for (Index first = begin + threadIdx.x; first < end; first += Index(kThreads * kUnroll)) {
    Batch e;
    loadBatch(SWAGE_PASS, g, first, end, e);
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
  const Partial total = joinBlock<kThreads>(result(s));
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
