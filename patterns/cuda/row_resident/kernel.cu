// SPDX-License-Identifier: MIT-0
// Groups along the innermost axis, read once and written once: a gang of blocks keeps a group in shared memory. The place
// of a vector gets one of the gang's next group as soon as its result is written, so loads are under way while results
// are stored, and the next group's first stage is accumulated behind them. All gangs are on the device at once (a
// cooperative launch), and as many as fit: while the blocks of one meet, the others keep the memory busy.
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kThreads = 256;
constexpr int kLookahead = 2;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kGang = 11;
constexpr int kGangs = 4;
constexpr int kStreaming = 0;
//! swage:end parameters
//! swage:begin region
// Generated, as an example: softmax over the last dimension of float32[4096, 262144]
// clang-format off
using Index = NarrowIndex;
constexpr Index kGroups = 4096;
constexpr Index kOuter = 1;
constexpr Index kInner = 262144;
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
    base.a0 += c * 262144u;
    base.a1 += c * 262144u;
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

constexpr Index kSlice = (kTotal + kGang - 1) / kGang;        // vectors of one block
constexpr Index kSteps = (kSlice + kThreads - 1) / kThreads;  // vectors of one thread
constexpr Index kSlots = kSteps + kLookahead;                 // places of one thread
constexpr Index kRow = kSlots * kThreads * kVectorWidth;      // floats of one streamed load
// A load may take this many steps, and the lookahead, before it is waited for.
constexpr Index kBehind = 4;
// Steps of the next group that are accumulated while this one is stored.
constexpr Index kEarly = kSteps > kBehind ? kSteps - kBehind : 0;

extern __shared__ __align__(16) float cache[];  // [kStreamed][kSlots][kThreads][kVectorWidth]: each thread's own

SWAGE_FN Index following(Index slot) { return slot + 1 == kSlots ? 0 : slot + 1; }
SWAGE_FN float* place(Index slot) { return cache + (slot * kThreads + threadIdx.x) * kVectorWidth; }

// What a block has of every group.
struct Slice {
  Index begin;
  Index end;
  SWAGE_FN Index at(Index step) const { return begin + step * kThreads + threadIdx.x; }
};

// The next vector to load.
struct Request {
  Index group;
  Index step = 0;
  Index slot = 0;
  Base base;

  SWAGE_FN explicit Request(Index first) : group(first), base(baseAt(first, 0)) {}
  SWAGE_FN void send(SWAGE_PARAMETERS, const Slice& slice) {
    const Index at = slice.at(step);
    if (group < kGroups && at < slice.end) {
      copyStreamed<kVectorWidth>(SWAGE_PASS, kOuter == 1 ? base : baseAt(group, outerOf(at)), innerOf(at), place(slot),
                                 kRow);
    }
    commitCopies();
    slot = following(slot);
    if (++step == kSteps) {
      step = 0;
      group += kGangs;
      base = baseAt(group < kGroups ? group : 0, 0);
    }
  }
};

SWAGE_FN void fetch(SWAGE_PARAMETERS, const Base& base, Index at, Index slot, Element (&e)[kVectorWidth]) {
  SWAGE_UNROLL for (int which = 0; which < kStreamed; ++which) {
    float chunk[kVectorWidth];
    loadCached<kVectorWidth>(place(slot) + Index(which) * kRow, chunk);
    SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { setStreamed(e[v], which, chunk[v]); }
  }
  loadOtherVector<kVectorWidth>(SWAGE_PASS, base, innerOf(at), e);
}

SWAGE_FN Base runOf(Index g, const Base& first, Index at) { return kOuter == 1 ? first : baseAt(g, outerOf(at)); }

template <int K>
using Lanes = Running<State<K, kVectorWidth>, kSteps>;

template <int K>
SWAGE_FN void accumulateStep(SWAGE_PARAMETERS, Index g, const Base& first, const Group& q, const Slice& slice, Index step,
                             Index slot, Lanes<K>& s) {
  const Index at = slice.at(step);
  if (at < slice.end) {
    Element e[kVectorWidth];
    fetch(SWAGE_PASS, runOf(g, first, at), at, slot, e);
    const float inverse = inverseOf(stepsOfRun(int(step)));
    const Index r = outerOf(at) * kInner + innerOf(at);
    SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { accumulate(s.part, v, e[v], q, r + Index(v), inverse); }
  }
  endStep(s, int(step));
}

SWAGE_FN void mapStep(SWAGE_PARAMETERS, Index g, const Base& first, const Group& q, const Slice& slice, Index step,
                      Index slot) {
  const Index at = slice.at(step);
  if (at < slice.end) {
    const Base base = runOf(g, first, at);
    Element e[kVectorWidth];
    fetch(SWAGE_PASS, base, at, slot, e);
    const Index i = innerOf(at);
    Outputs out[kVectorWidth];
    SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) {
      evaluate(e[v], q, outerOf(at) * kInner + i + Index(v), out[v]);
    }
    storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, base, i, out);
  }
}

using OwnGang = Gang<kGang, kGangs, (kStages > 0 ? kStages : 1)>;

// The stages after the first, over what is kept.
template <int K>
SWAGE_FN void reduceGroup(SWAGE_PARAMETERS, Index g, const Base& first, Group& q, const Slice& slice, Index slot,
                          OwnGang& gang) {
  if constexpr (K < kStages) {
    Lanes<K> s;
    startSteps(s);
    for (Index step = 0; step < kSteps; ++step) {
      accumulateStep<K>(SWAGE_PASS, g, first, q, slice, step, slot, s);
      slot = following(slot);
    }
    finish(joinGang<kThreads, K>(result(s), gang), q);
    reduceGroup<K + 1>(SWAGE_PASS, g, first, q, slice, slot, gang);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    SWAGE_ENTRY(SWAGE_PARAMETERS, unsigned char* scratch) {
  OwnGang gang{scratch};
  Slice slice;
  slice.begin = Index(gang.member()) * kSlice < kTotal ? Index(gang.member()) * kSlice : kTotal;
  slice.end = slice.begin + kSlice < kTotal ? slice.begin + kSlice : kTotal;

  Request request(Index(gang.number()));
  for (Index i = 0; i < kSlots; ++i) {
    request.send(SWAGE_PASS, slice);
  }
  Base base = baseAt(Index(gang.number()), 0);
  Group q = groupAt(SWAGE_PASS, base, 0);
  Lanes<0> s;
  startSteps(s);
  waitForCopies<kLookahead>();
  for (Index step = 0; step < kSteps; ++step) {
    accumulateStep<0>(SWAGE_PASS, Index(gang.number()), base, q, slice, step, step, s);
  }

  Index slot = 0;  // of the group's first vector
  for (Index g = Index(gang.number()); g < kGroups; g += kGangs) {
    finish(joinGang<kThreads, 0>(result(s), gang), q);
    reduceGroup<1>(SWAGE_PASS, g, base, q, slice, slot, gang);
    if (threadIdx.x == 0 && gang.member() == 0) {
      storeGroup(SWAGE_PASS, base, g, 0, q);
    }
    gang.half = 1 - gang.half;

    const Index next = g + kGangs;
    const bool goesOn = next < kGroups;
    const Base nextBase = baseAt(goesOn ? next : g, 0);
    const Group nextGroup = groupAt(SWAGE_PASS, nextBase, 0);
    startSteps(s);
    Index behind = (slot + kSteps) % kSlots;  // of the next group's vectors, in the order of their loads
    for (Index step = 0; step < kSteps; ++step) {
      if constexpr (kElementStores > 0) {
        mapStep(SWAGE_PASS, g, base, q, slice, step, slot);
      }
      request.send(SWAGE_PASS, slice);
      slot = following(slot);
      if (goesOn && step >= kBehind) {
        waitForCopies<int(kLookahead + kBehind)>();
        accumulateStep<0>(SWAGE_PASS, next, nextBase, nextGroup, slice, step - kBehind, behind, s);
        behind = following(behind);
      }
    }
    waitForCopies<kLookahead>();
    for (Index step = kEarly; goesOn && step < kSteps; ++step) {
      accumulateStep<0>(SWAGE_PASS, next, nextBase, nextGroup, slice, step, behind, s);
      behind = following(behind);
    }
    base = nextBase;
    q = nextGroup;
  }
}
