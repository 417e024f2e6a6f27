// SPDX-License-Identifier: MIT-0
// What every generated CUDA kernel starts with: types, conversions, scalar functions, wide moves and reductions over
// lanes. Includes nothing, so that a kernel compiles in milliseconds.
#ifndef SWAGE_PATTERN_COMMON
#define SWAGE_PATTERN_COMMON

#define SWAGE_FN __device__ __forceinline__
#define SWAGE_RESTRICT __restrict__
#define SWAGE_UNROLL _Pragma("unroll")
#define SWAGE_INFINITYF __int_as_float(0x7f800000)
#define SWAGE_INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define SWAGE_NANF __int_as_float(0x7fffffff)
#define SWAGE_NAN __longlong_as_double(0x7fffffffffffffffLL)
#define SWAGE_MAXF 3.402823466e+38f
#define SWAGE_MAX 1.7976931348623157e+308
#define SWAGE_INT_MAX 0x7fffffffffffffffLL
#define SWAGE_INT_MIN (-SWAGE_INT_MAX - 1)

using I64 = long long;
using NarrowIndex = unsigned int;
using WideIndex = unsigned long long;
struct F16 {
  unsigned short bits;
};
struct BF16 {
  unsigned short bits;
};
struct Bool8 {
  unsigned char value;
};

SWAGE_FN float toCompute(float x) { return x; }
SWAGE_FN double toCompute(double x) { return x; }
SWAGE_FN float toCompute(F16 x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}
SWAGE_FN float toCompute(BF16 x) { return __uint_as_float(static_cast<unsigned int>(x.bits) << 16); }
SWAGE_FN I64 toCompute(I64 x) { return x; }
SWAGE_FN I64 toCompute(int x) { return x; }
SWAGE_FN I64 toCompute(short x) { return x; }
SWAGE_FN I64 toCompute(signed char x) { return x; }
SWAGE_FN I64 toCompute(unsigned char x) { return x; }
SWAGE_FN bool toCompute(Bool8 x) { return x.value != 0; }

template <class T>
struct Stored {
  template <class V>
  static __device__ __forceinline__ T from(V value) { return static_cast<T>(value); }
};
template <>
struct Stored<F16> {
  static __device__ __forceinline__ F16 from(float value) {
    F16 result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  }
};
template <>
struct Stored<BF16> {
  static __device__ __forceinline__ BF16 from(float value) {
    BF16 result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  }
};
template <>
struct Stored<Bool8> {
  template <class V>
  static __device__ __forceinline__ Bool8 from(V value) { return {static_cast<unsigned char>(value ? 1 : 0)}; }
};
template <class T, class V>
SWAGE_FN T fromCompute(V value) { return Stored<T>::from(value); }

// Maximum and minimum that keep NaN, as PyTorch's do.
template <class T>
SWAGE_FN T fn_max(T a, T b) { return (a > b || a != a) ? a : b; }
template <class T>
SWAGE_FN T fn_min(T a, T b) { return (a < b || a != a) ? a : b; }
SWAGE_FN float fn_max(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return (a > b || a != a) ? a : b;
#endif
}
SWAGE_FN float fn_min(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return (a < b || a != a) ? a : b;
#endif
}
// Order of arg-reductions: the better value, NaN before all, the first index among equals.
template <class T>
SWAGE_FN bool isAbove(T x, I64 at, T best, I64 bestAt) {
  return (x > best) || (x != x && best == best) || ((x == best || (x != x && best != best)) && at < bestAt);
}
template <class T>
SWAGE_FN bool isBelow(T x, I64 at, T best, I64 bestAt) {
  return (x < best) || (x != x && best == best) || ((x == best || (x != x && best != best)) && at < bestAt);
}

#define SWAGE_UNARY(name, single, wide)                   \
  SWAGE_FN float fn_##name(float x) { return single(x); } \
  SWAGE_FN double fn_##name(double x) { return wide(x); }
SWAGE_UNARY(exp, expf, exp)
SWAGE_UNARY(log, logf, log)
SWAGE_UNARY(tanh, tanhf, tanh)
SWAGE_UNARY(erf, erff, erf)
SWAGE_UNARY(sin, sinf, sin)
SWAGE_UNARY(cos, cosf, cos)
SWAGE_UNARY(log1p, log1pf, log1p)
SWAGE_UNARY(expm1, expm1f, expm1)
SWAGE_UNARY(sqrt, sqrtf, sqrt)
SWAGE_UNARY(floor, floorf, floor)
SWAGE_UNARY(ceil, ceilf, ceil)
SWAGE_UNARY(trunc, truncf, trunc)
#undef SWAGE_UNARY
// exp of an argument of at most 0 that weighs a term of a sum: what counts is its error beside a weight of 1. That of
// __expf is 2 + |x| units in the last place of the result, which shrinks faster than |x| grows.
SWAGE_FN float fn_weight(float x) { return __expf(x); }
SWAGE_FN double fn_weight(double x) { return exp(x); }
// For running means, where a unit in the last place more or less is lost in what is added: the divisions that take one
// instruction or two.
SWAGE_FN float inverseOf(int count) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(float(count)));
  return result;
}
SWAGE_FN float fn_part(float some, float all) { return __fdividef(some, all); }
SWAGE_FN double fn_part(double some, double all) { return some / all; }
SWAGE_FN float fn_pow(float x, float y) { return powf(x, y); }
SWAGE_FN double fn_pow(double x, double y) { return pow(x, y); }
template <class T>
SWAGE_FN T fn_abs(T x) { return x < 0 ? -x : x; }
SWAGE_FN float fn_abs(float x) { return fabsf(x); }
SWAGE_FN double fn_abs(double x) { return fabs(x); }
template <class T>
SWAGE_FN T fn_reciprocal(T x) { return T(1) / x; }
template <class T>
SWAGE_FN T fn_rsqrt(T x) { return T(1) / fn_sqrt(x); }
template <class T>
SWAGE_FN T fn_sigmoid(T x) { return T(1) / (T(1) + fn_exp(-x)); }
template <class T>
SWAGE_FN T fn_sign(T x) { return T(x > 0) - T(x < 0); }

// --- wide moves: V neighbours in storage ------------------------------------------------------------------------------

template <int V, class T>
struct alignas(sizeof(T) * V > 16 ? 16 : sizeof(T) * V) Chunk {
  T item[V];
};

// Data read once: it should not push anything out of the caches.
template <int V, class T>
SWAGE_FN void loadChunk(const T* from, T (&chunk)[V]) {
  if constexpr (sizeof(T) * V == 16) {
    union {
      int4 raw;
      Chunk<V, T> typed;
    } move;
    move.raw = __ldcs(reinterpret_cast<const int4*>(from));
    SWAGE_UNROLL for (int v = 0; v < V; ++v) { chunk[v] = move.typed.item[v]; }
  } else {
    const Chunk<V, T> typed = *reinterpret_cast<const Chunk<V, T>*>(from);
    SWAGE_UNROLL for (int v = 0; v < V; ++v) { chunk[v] = typed.item[v]; }
  }
}
// Data that other groups read too.
template <int V, class T>
SWAGE_FN void loadCached(const T* from, T (&chunk)[V]) {
  const Chunk<V, T> typed = *reinterpret_cast<const Chunk<V, T>*>(from);
  SWAGE_UNROLL for (int v = 0; v < V; ++v) { chunk[v] = typed.item[v]; }
}
template <int V, bool Streaming, class T>
SWAGE_FN void storeChunk(T* to, const T (&chunk)[V]) {
  union {
    int4 raw;
    Chunk<V, T> typed;
  } move;
  SWAGE_UNROLL for (int v = 0; v < V; ++v) { move.typed.item[v] = chunk[v]; }
  if constexpr (Streaming && sizeof(T) * V == 16) {
    __stcs(reinterpret_cast<int4*>(to), move.raw);
  } else {
    *reinterpret_cast<Chunk<V, T>*>(to) = move.typed;
  }
}

// Copies four floats into shared memory past the registers; complete after cp.async.wait_all or
// waitForCopies.
template <int V>
SWAGE_FN void copyAsync(float* to, const float* from) {
  static_assert(V <= 4);
  const unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}
// Copies since the last call belong together, also none.
SWAGE_FN void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until no more than the last `Pending` of them are under way.
template <int Pending>
SWAGE_FN void waitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

// --- states across lanes ----------------------------------------------------------------------------------------------

// Every 4-byte word of a state, from the lane whose number differs in `mask`.
template <class S>
SWAGE_FN S shuffleXor(const S& state, int mask) {
  constexpr int kWords = int(sizeof(S) / 4);
  unsigned int words[kWords];
  memcpy(words, &state, sizeof(S));
  SWAGE_UNROLL for (int w = 0; w < kWords; ++w) { words[w] = __shfl_xor_sync(0xffffffffu, words[w], mask); }
  S other;
  memcpy(&other, words, sizeof(S));
  return other;
}
template <class S>
SWAGE_FN S shuffleFromFirst(const S& state) {
  constexpr int kWords = int(sizeof(S) / 4);
  unsigned int words[kWords];
  memcpy(words, &state, sizeof(S));
  SWAGE_UNROLL for (int w = 0; w < kWords; ++w) { words[w] = __shfl_sync(0xffffffffu, words[w], 0); }
  S first;
  memcpy(&first, words, sizeof(S));
  return first;
}

// --- clusters of blocks (compute capability 9.0) ----------------------------------------------------------------------

#if __CUDA_ARCH__ >= 900
SWAGE_FN unsigned int clusterRank() {
  unsigned int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
SWAGE_FN void clusterBarrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// The object at the same place in the shared memory of another block of the cluster.
template <class S>
SWAGE_FN S readRemote(const S* local, unsigned int rank) {
  constexpr int kWords = int(sizeof(S) / 4);
  const unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(local));
  unsigned int remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  unsigned int words[kWords];
  SWAGE_UNROLL for (int w = 0; w < kWords; ++w) {
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(words[w]) : "r"(remote + 4u * unsigned(w)) : "memory");
  }
  S value;
  memcpy(&value, words, sizeof(S));
  return value;
}
#endif

// --- long sums --------------------------------------------------------------------------------------------------------

// Sums of float are kept in float: many GPUs have one unit for double where they have 64 for float.
using Sum32 = float;
constexpr bool kSum32Loses = true;

// The error of a sum that is made one by one grows with its length. So a thread sums runs of about so many steps, and
// what a run found goes into a total that keeps what rounding takes from it.
constexpr int kRun = 8;

// What rounding took from sum = a + b (Knuth 1969).
template <class T>
SWAGE_FN T lostIn(T sum, T a, T b) {
  const T added = sum - a;
  return (a - (sum - added)) + (b - added);
}
// A sum that has left the finite numbers has lost nothing that could be named.
template <class T>
SWAGE_FN T withLost(T sum, T lost) { return lost == lost ? sum + lost : sum; }

// A thread's lanes, each of which sees at most `Steps` elements. The total is of all lanes together: two registers.
template <class S, long long Steps, bool Long = S::kSums && (Steps > kRun)>
struct Running {
  S part;
  int steps = 0;  // of this run
};
template <class S, long long Steps>
struct Running<S, Steps, true> {
  S part;
  int steps = 0;
  typename S::One::Sum total;
};
template <class S, long long Steps, bool Long>
SWAGE_FN void startSteps(Running<S, Steps, Long>& running) {
  identity(running.part);
  running.steps = 0;
  if constexpr (Long) {
    identity(running.total);
  }
}
// Ends a run.
template <class S, long long Steps, bool Long>
SWAGE_FN void putBy(Running<S, Steps, Long>& running) {
  if constexpr (Long) {
    add(running.total, joinLanes(running.part));
    identity(running.part);
    running.steps = 0;
  }
}
// After some steps: ends the run where it is long enough.
template <class S, long long Steps, bool Long>
SWAGE_FN void endSteps(Running<S, Steps, Long>& running) {
  if (running.steps >= kRun) {
    putBy(running);
  }
}
// The same after step number `step` of a loop that is unrolled.
template <class S, long long Steps, bool Long>
SWAGE_FN void endStep(Running<S, Steps, Long>& running, int step) {
  if (step % kRun == kRun - 1) {
    putBy(running);
  }
}
// How many steps the run has then.
SWAGE_FN int stepsOfRun(int step) { return step % kRun + 1; }
template <class S, long long Steps, bool Long>
SWAGE_FN typename S::One result(Running<S, Steps, Long>& running) {
  if constexpr (Long) {
    add(running.total, joinLanes(running.part));
    return settled(running.total);
  } else {
    return joinLanes(running.part);
  }
}

// --- joining states ----------------------------------------------------------------------------------------------------

// The functions below join states with `merge`, which every region defines for its own states and argument-dependent
// lookup finds. All lanes of a warp get the result of the first, because rounding may differ with the order.
template <class S>
SWAGE_FN S joinWarp(S s) {
  SWAGE_UNROLL for (int mask = 16; mask > 0; mask /= 2) { merge(s, shuffleXor(s, mask)); }
  return shuffleFromFirst(s);
}

// Joins `count` states in shared memory; every thread of the block calls it and gets the result. `count` is at most
// 32 * 32. Begins and ends with the block in step.
template <class S>
SWAGE_FN S joinParts(S* parts, int count) {
  __syncthreads();
  if (threadIdx.x < 32) {
    S s;
    identity(s);
    if (count <= 32) {
      if (int(threadIdx.x) < count) {
        s = parts[threadIdx.x];
      }
    } else {
      typename S::Sum total;
      identity(total);
      for (int part = int(threadIdx.x); part < count; part += 32) {
        add(total, parts[part]);
      }
      s = settled(total);
    }
    s = joinWarp(s);
    if (threadIdx.x == 0) {
      parts[0] = s;
    }
  }
  __syncthreads();
  return parts[0];
}

// Joins the states of all threads of a block of `Threads`; every thread gets the result.
template <int Threads, class S>
SWAGE_FN S joinBlock(S s) {
  __shared__ S parts[Threads / 32];
  s = joinWarp(s);
  __syncthreads();  // a result of an earlier call has been read by all
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = s;
  }
  return joinParts(parts, Threads / 32);
}

// --- gangs of blocks ---------------------------------------------------------------------------------------------------

// Blocks that work on one group together; all gangs are on the device at once (a cooperative launch). They meet at a
// counter in memory. Scratch: `Gangs` counters, set to zero, at distances of 128 bytes, then two halves of
// Stages * Gangs * Blocks states of 64 bytes. Consecutive groups use different halves, so a fast block cannot overwrite
// what a slow one still reads.
template <int Blocks, int Gangs, int Stages>
struct Gang {
  static constexpr int kStateBytes = 64;

  unsigned char* scratch;
  int half = 0;
  unsigned int arrived = 0;  // blocks that had come when the last meeting was over

  SWAGE_FN int number() const { return int(blockIdx.x) / Blocks; }
  SWAGE_FN int member() const { return int(blockIdx.x) % Blocks; }
  SWAGE_FN unsigned char* state(int stage, int who) const {
    return scratch + 128 * Gangs + kStateBytes * (((half * Stages + stage) * Gangs + number()) * Blocks + who);
  }
  // By one thread of the block, whose earlier writes the other blocks then see.
  SWAGE_FN void meet() {
    unsigned int* counter = reinterpret_cast<unsigned int*>(scratch + 128 * number());
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
    unsigned int seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    } while (seen < arrived);
  }
};

// Joins the states of all threads of a gang; every thread gets the result. Each warp joins the blocks' states in the
// same order, so all hold the same bits.
template <int Threads, int Stage, int Blocks, int Gangs, int Stages, class S>
SWAGE_FN S joinGang(S s, Gang<Blocks, Gangs, Stages>& gang) {
  if constexpr (Blocks == 1) {
    return joinBlock<Threads>(s);
  } else {
    static_assert(sizeof(S) <= Gang<Blocks, Gangs, Stages>::kStateBytes);
    __shared__ S parts[Threads / 32];
    s = joinWarp(s);
    if (threadIdx.x % 32 == 0) {
      parts[threadIdx.x / 32] = s;
    }
    gang.arrived += Blocks;
    __syncthreads();
    if (threadIdx.x < 32) {
      identity(s);
      if (threadIdx.x < Threads / 32) {
        s = parts[threadIdx.x];
      }
      s = joinWarp(s);
      if (threadIdx.x == 0) {
        memcpy(gang.state(Stage, gang.member()), &s, sizeof(S));
        gang.meet();
      }
    }
    __syncthreads();
    typename S::Sum total;
    identity(total);
    for (int who = int(threadIdx.x % 32); who < Blocks; who += 32) {
      constexpr int kWords = int(sizeof(S) / 4);
      unsigned int words[kWords];
      SWAGE_UNROLL for (int w = 0; w < kWords; ++w) {
        words[w] = __ldcg(reinterpret_cast<const unsigned int*>(gang.state(Stage, who)) + w);
      }
      S other;
      memcpy(&other, words, sizeof(S));
      add(total, other);
    }
    return joinWarp(settled(total));
  }
}

#endif  // SWAGE_PATTERN_COMMON
