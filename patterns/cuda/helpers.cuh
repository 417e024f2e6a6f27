// SPDX-License-Identifier: MIT-0
// Functions that generated kernels may need. A program gets those that it uses: each begins after a line that names it.

//! swage:helper kInfinity
#define kInfinity __int_as_float(0x7f800000)

//! swage:helper kNan
#define kNan __int_as_float(0x7fffffff)

//! swage:helper kNotFinite
// In the place of the exponent of a row or column that has an infinity or NaN in it.
#define kNotFinite (1 << 20)

//! swage:helper Half
struct Half {
  unsigned short bits;
};
//! swage:helper BFloat16
struct BFloat16 {
  unsigned short bits;
};

//! swage:helper TensorMap
// How the copy engine (TMA) sees a tensor: the driver's CUtensorMap, encoded before the launch. A kernel takes it as
// `const __grid_constant__ TensorMap name` and passes its address on to cp.async.bulk.tensor.
struct alignas(128) TensorMap {
  unsigned char bytes[128];
};

//! swage:helper sharedAddress
__device__ inline unsigned int sharedAddress(const void* x) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(x));
}

//! swage:helper copyAsync
// 16 bytes from memory into shared memory, past the registers; zeros instead where they lie outside.
__device__ inline void copyAsync(unsigned int to, const void* from) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void copyAsync(unsigned int to, const void* from, bool isInside) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(isInside ? 16 : 0)
               : "memory");
}

//! swage:helper copyFloat
// A float from memory into shared memory, past the registers; zero instead where it lies outside.
__device__ inline void copyFloat(unsigned int to, const float* from, bool isInside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(isInside ? 4 : 0) : "memory");
}

//! swage:helper commitCopies
// The copies of this thread since the last call are a group.
__device__ inline void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

//! swage:helper waitForCopies
// Until all groups of this thread but the last `pending` have arrived.
template <unsigned int pending>
__device__ inline void waitForCopies() { asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory"); }

//! swage:helper loadMatrices
// Four matrices of 8 by 8 halves from shared memory; each lane gives the address of one of their rows.
__device__ inline void loadMatrices(unsigned int (&to)[4], unsigned int row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

//! swage:helper loadTransposed
// The same, each matrix turned over its diagonal.
__device__ inline void loadTransposed(unsigned int (&to)[4], unsigned int row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

//! swage:helper multiplyHalf
// sum += left * right on tensor cores: 16 by 16 times 16 by 8. `right` is its upper and its lower 8 rows.
__device__ inline void multiplyHalf(float (&sum)[4], const unsigned int (&left)[4], unsigned int upper,
                                    unsigned int lower) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(upper), "r"(lower));
}

//! swage:helper multiplyBFloat16
// The same of bfloat16.
__device__ inline void multiplyBFloat16(float (&sum)[4], const unsigned int (&left)[4], unsigned int upper,
                                        unsigned int lower) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(upper), "r"(lower));
}

//! swage:helper toFloat if Half
__device__ inline float toFloat(Half x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}

//! swage:helper toFloat if BFloat16
__device__ inline float toFloat(BFloat16 x) { return __uint_as_float(static_cast<unsigned int>(x.bits) << 16); }
//! swage:helper toHalf
__device__ inline Half toHalf(float x) {
  Half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}

//! swage:helper toBFloat16
__device__ inline BFloat16 toBFloat16(float x) {
  BFloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}

//! swage:helper Tap TapPair
// Of one element of the sum of a convolution: how far behind the first of its window it lies, and which bits of
// what lies outside would leave it out.
struct alignas(8) Tap {
  int offset;
  unsigned int needs;
};
struct alignas(16) TapPair {
  Tap first;
  Tap second;
};

//! swage:helper magnitude
// Larger for larger magnitudes; infinities and NaN are below all numbers.
__device__ inline unsigned int magnitude(float x) { return (__float_as_uint(x) << 1) + 0x01000000u; }

//! swage:helper packHalves
// Two floats as halves, the first in the low bits.
__device__ inline unsigned int packHalves(float first, float second) {
  unsigned int pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

//! swage:helper roundTiesAway
// The nearest number with ten bits of mantissa; of two that are equally near, the one with the larger magnitude.
__device__ inline float roundTiesAway(float x) {
  unsigned int bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

//! swage:helper packHalvesAway
// As packHalves, but of two halves that are equally near the one with the larger magnitude.
__device__ inline unsigned int packHalvesAway(float first, float second) {
  return packHalves(roundTiesAway(first), roundTiesAway(second));
}

//! swage:helper packRest
// What packHalves has rounded off two floats, times 2^11.
__device__ inline unsigned int packRest(unsigned int pair, float first, float second) {
  return packHalves((first - toFloat(Half{static_cast<unsigned short>(pair & 0xffffu)})) * 2048.0f,
                    (second - toFloat(Half{static_cast<unsigned short>(pair >> 16)})) * 2048.0f);
}

//! swage:helper packLow
// What packHalves has rounded off two floats.
__device__ inline unsigned int packLow(unsigned int pair, float first, float second) {
  return packHalves(first - toFloat(Half{static_cast<unsigned short>(pair & 0xffffu)}),
                    second - toFloat(Half{static_cast<unsigned short>(pair >> 16)}));
}

//! swage:helper packBFloat16s
// The same as bfloat16.
__device__ inline unsigned int packBFloat16s(float first, float second) {
  unsigned int pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

//! swage:helper powerOfTwo
// 2^x, to two units in the last place of a float; 0 below 2^-126.
__device__ inline float powerOfTwo(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

//! swage:helper storePiece
// 16 bytes into shared memory.
__device__ inline void storePiece(unsigned int to, const unsigned int (&piece)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(piece[0]), "r"(piece[1]), "r"(piece[2]),
               "r"(piece[3])
               : "memory");
}

//! swage:helper maximum
// NaN wins, as in PyTorch.
template <class T>
__device__ inline T maximum(T a, T b) { return a > b || a != a ? a : b; }
#if __CUDA_ARCH__ >= 800
__device__ inline float maximum(float a, float b) {
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}
#endif

//! swage:helper minimum
template <class T>
__device__ inline T minimum(T a, T b) { return a < b || a != a ? a : b; }
#if __CUDA_ARCH__ >= 800
__device__ inline float minimum(float a, float b) {
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}
#endif

//! swage:helper absolute
__device__ inline long long absolute(long long x) { return x < 0 ? -x : x; }

//! swage:helper signOf
template <class T>
__device__ inline T signOf(T x) { return T(x > 0) - T(x < 0); }

//! swage:helper invert
// 1 / x of an x that is at least 2^-126, within a unit in the last place; an instruction, where a division branches.
__device__ inline float invert(float x) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
}

//! swage:helper divide
// x / y of a y that the compiler knows, rounded as a division where the quotient is no denormal number.
__device__ inline float divide(float x, float y) {
  const float inverse = 1.0f / y;
  const float quotient = x * inverse;
  const float rounded = fmaf(fmaf(-quotient, y, x), inverse, quotient);
  return fabsf(quotient) < __int_as_float(0x7f800000) ? rounded : quotient;
}

//! swage:helper logistic
__device__ inline float logistic(float x) { return invert(1.0f + expf(-x)); }

//! swage:helper inside
// Whether 0 <= at < extent.
template <class T>
__device__ inline bool inside(T at, int extent) { return at >= 0 && at < extent; }

//! swage:helper isBetter
// Of two values and their places: NaN first, the first place among equals.
template <class T>
__device__ inline bool isBetter(bool isAhead, T x, long long at, T best, long long bestAt) {
  return isAhead || (x != x && best == best) || ((x == best || (x != x && best != best)) && at < bestAt);
}

//! swage:helper Vec
// Neighbours in memory, moved at once.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vec {
  T item[N];
  __device__ T& operator[](int i) { return item[i]; }
};

//! swage:helper load
template <class T, int N>
__device__ inline Vec<T, N> load(const T* from) { return *reinterpret_cast<const Vec<T, N>*>(from); }
//! swage:helper loadStreaming
// 16 bytes that leave the caches first, because they are read once.
template <class T, int N>
__device__ inline Vec<T, N> loadStreaming(const T* from) {
  const int4 raw = __ldcs(reinterpret_cast<const int4*>(from));
  return reinterpret_cast<const Vec<T, N>&>(raw);
}
//! swage:helper store
template <class T, int N>
__device__ inline void store(T* to, const Vec<T, N>& from) { *reinterpret_cast<Vec<T, N>*>(to) = from; }
//! swage:helper storeStreaming
// 16 bytes that leave the caches first.
template <class T, int N>
__device__ inline void storeStreaming(T* to, const Vec<T, N>& from) {
  __stcs(reinterpret_cast<int4*>(to), reinterpret_cast<const int4&>(from));
}

//! swage:helper ExactSum
// A sum of many numbers, and what rounding took from it (Knuth 1969).
template <class T>
struct ExactSum {
  T sum = 0;
  T lost = 0;
  __device__ void add(T x) {
    const T next = sum + x;
    const T added = next - sum;
    lost += (sum - (next - added)) + (x - added);
    sum = next;
  }
  // A sum that has left the finite numbers has lost nothing that could be named.
  __device__ T settled() const { return lost == lost ? sum + lost : sum; }
};

//! swage:helper inverseOf
// 1 / count to the places of a running mean, in one instruction.
__device__ inline float inverseOf(int count) { return invert(float(count)); }

//! swage:helper reduceWarp unless merged
// Joins the numbers of so many lanes; all get that of the first, because rounding may differ with the order.
template <int Lanes = 32, class T, class Join>
__device__ inline T reduceWarp(T x, Join join) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) {
    x = join(x, __shfl_xor_sync(0xffffffffu, x, mask));
  }
  return __shfl_sync(0xffffffffu, x, 0, Lanes);
}

//! swage:helper reduceWarp if merged
// Moves every word of x between the lanes of a warp.
template <class T, class Move>
__device__ inline T moveWords(T x, Move move) {
  unsigned int words[sizeof(T) / 4];
  memcpy(words, &x, sizeof(T));
#pragma unroll
  for (int w = 0; w < int(sizeof(T) / 4); ++w) {
    words[w] = move(words[w]);
  }
  memcpy(&x, words, sizeof(T));
  return x;
}
// Joins what so many lanes have found; all get that of the first, because rounding may differ with the order.
template <int Lanes = 32, class T, class Join>
__device__ inline T reduceWarp(T x, Join join) {
#pragma unroll
  for (int mask = Lanes / 2; mask > 0; mask /= 2) {
    x = join(x, moveWords(x, [=](unsigned int word) { return __shfl_xor_sync(0xffffffffu, word, mask); }));
  }
  return moveWords(x, [](unsigned int word) { return __shfl_sync(0xffffffffu, word, 0, Lanes); });
}

//! swage:helper reduceBlock
// Joins what the threads of a block have found; all get it. `parts` has a place for each warp.
template <class T, int Warps, class Join>
__device__ inline T reduceBlock(T x, T (&parts)[Warps], T none, Join join) {
  x = reduceWarp(x, join);
  __syncthreads();  // all have read what an earlier call left there
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = x;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    x = reduceWarp(threadIdx.x < Warps ? parts[threadIdx.x] : none, join);
    if (threadIdx.x == 0) {
      parts[0] = x;
    }
  }
  __syncthreads();
  return parts[0];
}

//! swage:helper copyFloats
// Four floats into shared memory past the registers.
__device__ inline void copyFloats(float* to, const float* from) {
  const unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

//! swage:helper clusterRank
__device__ inline unsigned int clusterRank() {
  unsigned int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
//! swage:helper clusterBarrier
__device__ inline void clusterBarrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

//! swage:helper reduceCluster
// What lies at the same place in the shared memory of another block of the cluster.
template <class T>
__device__ inline T readRemote(const T& local, unsigned int block) {
  const T* remote;
  asm("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(&local), "r"(block));
  return *remote;
}
// Joins what the threads of a cluster of blocks have found; all get it. The next call needs other `parts`.
template <class T, int Warps, class Join>
__device__ inline T reduceCluster(T x, T (&parts)[Warps], unsigned int blocks, T none, Join join) {
  reduceBlock(x, parts, none, join);
  clusterBarrier();  // every block has its own in parts[0]
  if (threadIdx.x < 32) {
    x = reduceWarp(threadIdx.x < blocks ? readRemote(parts[0], threadIdx.x) : none, join);
    if (threadIdx.x == 0) {
      parts[1] = x;
    }
  }
  __syncthreads();
  return parts[1];
}

//! swage:helper publishPart
// What a block found, and that it did, in one word.
__device__ inline void publishPart(unsigned long long* place, float x) {
  atomicExch(place, (1ull << 32) | __float_as_uint(x));
}

//! swage:helper awaitPart
// What another block found, when it has.
__device__ inline float awaitPart(const unsigned long long* place) {
  unsigned long long word;
  do {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(place) : "memory");
  } while (word >> 32 == 0);
  return __uint_as_float(static_cast<unsigned int>(word));
}

//! swage:helper publishNumber
// A number for other blocks, with its bits turned over: where memory was zero before, it shows that the number has come.
__device__ inline void publishNumber(unsigned int* place, float x) {
  const unsigned int bits = ~__float_as_uint(x);
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(place), "r"(bits == 0 ? 0x80000000u : bits) : "memory");
}

//! swage:helper peekNumbers
// Numbers of other blocks; whether all of them have come.
__device__ inline bool peekNumbers(const unsigned int* place, float& x) {
  unsigned int bits;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(place) : "memory");
  x = __uint_as_float(~bits);
  return bits != 0;
}
__device__ inline bool peekNumbers(const unsigned int* place, float4& x) {
  unsigned int a, b, c, d;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(place)
               : "memory");
  x = make_float4(__uint_as_float(~a), __uint_as_float(~b), __uint_as_float(~c), __uint_as_float(~d));
  return a != 0 && b != 0 && c != 0 && d != 0;
}

//! swage:helper roundToTf32
// The nearest number with ten bits of mantissa, of two the even one: as which tensor cores take floats.
__device__ inline float roundToTf32(float x) {
  const unsigned int bits = __float_as_uint(x);
  return x == x ? __uint_as_float((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu) : x;
}
__device__ inline float4 roundToTf32(float4 x) {
  return make_float4(roundToTf32(x.x), roundToTf32(x.y), roundToTf32(x.z), roundToTf32(x.w));
}

//! swage:helper sumOverLanes
// Adds up the first `Count` numbers that neighbouring lanes have. A lane is left with some of the sums: it returns which
// is its first, and `mine` is how many.
template <int Lanes, int Count, int Size>
__device__ inline int sumOverLanes(float (&x)[Size], int lane, int& mine) {
  constexpr int half = (Count + 1) / 2;
  const bool isUpper = (lane & (Lanes / 2)) != 0;
#pragma unroll
  for (int i = 0; i < half; ++i) {
    const float lower = x[i];
    const float upper = i + half < Count ? x[i + half] : 0.0f;
    x[i] = (isUpper ? upper : lower) + __shfl_xor_sync(0xffffffffu, isUpper ? lower : upper, Lanes / 2);
  }
  mine = isUpper ? max(mine - half, 0) : min(mine, half);
  const int first = isUpper ? half : 0;
  if constexpr (Lanes > 2) {
    return first + sumOverLanes<Lanes / 2, half>(x, lane, mine);
  }
  return first;
}

//! swage:helper shareWithGang
// Joins what the threads of a block have found, leaves it at `place` in memory, and waits until the counter of the gang
// shows that all of its blocks have come as far.
template <class T, int Warps, class Join>
__device__ inline void shareWithGang(T x, T (&parts)[Warps], T none, Join join, unsigned char* place,
                                     unsigned char* counter, unsigned int expected) {
  x = reduceWarp(x, join);
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = x;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    x = reduceWarp(threadIdx.x < Warps ? parts[threadIdx.x] : none, join);
    if (threadIdx.x == 0) {
      *reinterpret_cast<T*>(place) = x;
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
      unsigned int seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
      } while (seen < expected);
    }
  }
  __syncthreads();
}

//! swage:helper ofBlock unless merged
// What another block has left in memory.
template <class T>
__device__ inline T ofBlock(const unsigned char* place) { return __ldcg(reinterpret_cast<const T*>(place)); }

//! swage:helper ofBlock if merged
// What another block has left in memory.
template <class T>
__device__ inline T ofBlock(const unsigned char* place) {
  unsigned int words[sizeof(T) / 4];
#pragma unroll
  for (int w = 0; w < int(sizeof(T) / 4); ++w) {
    words[w] = __ldcg(reinterpret_cast<const unsigned int*>(place) + w);
  }
  T value;
  memcpy(&value, words, sizeof(T));
  return value;
}

//! swage:helper initBarrier
// Barriers in shared memory: a phase of one ends when so many have arrived and all announced bytes have come.
__device__ inline void initBarrier(unsigned int barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
//! swage:helper expectBytes
__device__ inline void expectBytes(unsigned int barrier, int bytes) {  // arrives, too
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
//! swage:helper arriveAt
__device__ inline void arriveAt(unsigned int barrier, int block) {  // of the cluster
  asm volatile("{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(barrier), "r"(block) : "memory");
}
//! swage:helper waitFor
__device__ inline void waitFor(unsigned int barrier, int parity) {  // until the phase of this parity has ended
  asm volatile("{.reg .pred done;\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra ended;\nbra again;\nended:}" ::"r"(barrier), "r"(parity) : "memory");
}

//! swage:helper publishBarriers
// Lets other threads use barriers that this one has made.
__device__ inline void publishBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

//! swage:helper publishShared
// Lets tensor cores and the copy engine see what this thread has written into shared memory.
__device__ inline void publishShared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

//! swage:helper takeRegisters giveRegisters
// All threads of a warp group have so many registers from here on: more than before, or fewer.
template <int count>
__device__ inline void takeRegisters() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count)); }
template <int count>
__device__ inline void giveRegisters() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count)); }

//! swage:helper SplitFour splitFour
// Four neighbours as halves, x * scale = high + low.
struct SplitFour {
  unsigned int high[2], low[2];
};
__device__ inline SplitFour splitFour(const float (&x)[4], float scale) {
  SplitFour parts;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float a = x[2 * i] * scale, b = x[2 * i + 1] * scale;
    float roundedA, roundedB;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(parts.high[i]) : "f"(b), "f"(a));
    asm("{.reg .b16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;}"
        : "=f"(roundedA), "=f"(roundedB) : "r"(parts.high[i]));
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(parts.low[i]) : "f"(b - roundedB), "f"(a - roundedA));
  }
  return parts;
}

//! swage:helper storeFour
// Four halves into shared memory.
__device__ inline void storeFour(unsigned int to, const unsigned int (&x)[2]) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(x[0]), "r"(x[1]) : "memory");
}

//! swage:helper isOutOfRange
// Of the largest magnitude of a row or column, as bits: too small for halves that are multiplied by 2^10, or too large.
__device__ inline bool isOutOfRange(unsigned int bits) {
  const float x = __uint_as_float(bits);
  return x != 0.0f && !(x >= 0.0009765625f && x <= 63.0f);
}

//! swage:helper storeRow waitForStores
// The copy engine stores neighbours from shared memory, in multiples of 16 bytes; until it has read all of this thread.
__device__ inline void storeRow(float* to, const float* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to),
               "r"(sharedAddress(from)), "r"(bytes) : "memory");
}
__device__ inline void waitForStores() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

//! swage:helper bringTile
// The copy engine brings a tile into shared memory, with zeros for what lies outside of the tensor.
__device__ inline void bringTile(unsigned int to, const TensorMap& from, unsigned int barrier, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
               "[%2];" ::"r"(to), "l"(&from), "r"(barrier), "r"(x), "r"(y), "r"(z) : "memory");
}

//! swage:helper bringTile4D
// The same of a tensor of more dimensions.
__device__ inline void bringTile4D(unsigned int to, const TensorMap& from, unsigned int barrier, int x, int y, int z,
                                   int w) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
               "[%2];" ::"r"(to), "l"(&from), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w) : "memory");
}

//! swage:helper bringTile5D
// The same of a tensor of more dimensions.
__device__ inline void bringTile5D(unsigned int to, const TensorMap& from, unsigned int barrier, int x, int y, int z,
                                   int w, int v) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, "
               "%7}], [%2];" ::"r"(to), "l"(&from), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w), "r"(v) : "memory");
}

//! swage:helper bringTileToBoth
// The same into both blocks of the cluster, at the same place.
__device__ inline void bringTileToBoth(unsigned int to, const TensorMap& from, unsigned int barrier, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
               "[%1, {%3, %4, %5}], [%2], 3;" ::"r"(to), "l"(&from), "r"(barrier), "r"(x), "r"(y), "r"(z) : "memory");
}

//! swage:helper bringBytes
// The copy engine brings neighbours in memory into shared memory, in multiples of 16 bytes.
__device__ inline void bringBytes(unsigned int to, const void* from, int bytes, unsigned int barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier) : "memory");
}

//! swage:helper plainDescriptor
// Of a tile in shared memory for wgmma without a swizzle: 8 lines of 8 halves in 128 bytes, and so many bytes to the next
// 8 of the depth (`lead`) and to the next 8 lines (`stride`). It may begin at any 16 bytes.
__device__ inline unsigned long long plainDescriptor(unsigned int tile, int lead, int stride) {
  return (tile & 0x3ffffull) >> 4 | static_cast<unsigned long long>(lead >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32;
}

//! swage:helper tileDescriptor
// Of a tile in shared memory for wgmma: 64 halves to a line, in groups of 8 lines whose pieces are swizzled. `lead`: where
// lines are of the depth, so many bytes to the next 64 halves of them.
__device__ inline unsigned long long tileDescriptor(unsigned int tile, int lead = 8192) {
  return (tile & 0x3ffffull) >> 4 | static_cast<unsigned long long>(lead >> 4) << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

//! swage:helper openProducts closeProducts waitForProducts
// wgmma runs on its own between these: products in groups, and a wait until all groups but the last `pending` are done.
// The empty statements keep the compiler from touching the sums meanwhile.
template <int count>
__device__ inline void openProducts(float (&sum)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(sum[i])::"memory");
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void closeProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending, int count>
__device__ inline void waitForProducts(float (&sum)[count]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}

//! swage:helper makeHere
// Has the compiler make these numbers before what follows, not where they are used.
template <int count>
__device__ inline void makeHere(float (&x)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(x[i])::"memory");
}

//! swage:helper turnQuads
// Of four lanes beside each other, of which each has four words, lane i gets word i of all of them.
__device__ inline void turnQuads(unsigned int (&words)[4]) {
#pragma unroll
  for (int bit = 1; bit < 4; bit *= 2) {
    const bool isUpper = threadIdx.x & bit;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & bit) == 0) {
        const unsigned int got = __shfl_xor_sync(0xffffffffu, isUpper ? words[i] : words[i | bit], bit);
        words[i] = isUpper ? got : words[i];
        words[i | bit] = isUpper ? words[i | bit] : got;
      }
    }
  }
}

//! swage:helper loadWords
// 16 bytes from memory, asked for here and not where they are used.
__device__ inline void loadWords(unsigned int (&words)[4], const void* from) {
  asm volatile("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "l"(from));
}

//! swage:helper storeWords
// 16 bytes into memory.
__device__ inline void storeWords(void* to, const unsigned int (&words)[4]) {
  *static_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
}

//! swage:helper takeTurn giveTurn
// Warp groups take turns at the tensor cores.
__device__ inline void takeTurn(int group) { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }
__device__ inline void giveTurn(int group) { asm volatile("bar.arrive %0, 256;" ::"r"(1 + group) : "memory"); }

//! swage:helper syncGroup
__device__ inline void syncGroup(int group) { asm volatile("bar.sync %0, 128;" ::"r"(8 + group) : "memory"); }

//! swage:helper syncThreads
// So many threads of a block, in whole warps, by one of its 16 barriers.
template <int count>
__device__ inline void syncThreads(int barrier) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(count) : "memory"); }

//! swage:helper readInBlock
// The same variable in shared memory of another block of the cluster.
__device__ inline int readInBlock(const int* variable, int block) {
  int value;
  asm volatile("{.reg .b32 there; mapa.shared::cluster.u32 there, %1, %2;\nld.shared::cluster.s32 %0, [there];}"
               : "=r"(value) : "r"(sharedAddress(variable)), "r"(block) : "memory");
  return value;
}

//! swage:helper splitLines
// Splits lines of numbers (rows of the left, columns of the right operand of a product) into halves: x * scale = high +
// low. The scale, a power of four, brings the largest magnitude of its line into [2^13, 2^15): high is then exact to
// 2^-12 of x, and high + low to 2^-23 of x or 2^-38 of the largest. `roots` are those of 1 / scale, below zero for a line
// with an infinity, whose halves are of no use; with a NaN all of its products are NaN. A cluster of `blocks` blocks
// takes `lines` lines, each block `depth` of them; what fits stays in registers until the scale is known.
template <int lines, int depth, int width, int blocks, int parts, bool isAlongDepth, class Element, class Place>
__device__ inline void splitLines(int firstLine, int lineCount, int depthCount, Half* planes, long long plane,
                                  float* roots, Element element, Place place) {
  constexpr int across = isAlongDepth ? 256 / lines : lines / width;  // threads, of 256, along neighbours in memory
  constexpr int stride = isAlongDepth ? across * width : 256 / across;
  constexpr int steps = depth / stride;
  constexpr bool isKept = steps * width <= 64;
  __shared__ int found[lines];  // magnitudes are ordered as their bits
  __shared__ float scales[lines];
  const int x = threadIdx.x % across * width, y = threadIdx.x / across, part = blockIdx.x % blocks;
  const int inLines = isAlongDepth ? y : x;
  const int start = part * depth + (isAlongDepth ? x : y);
  const bool isInside = firstLine + inLines < lineCount;
  if (threadIdx.x < lines) found[threadIdx.x] = 0;
  __syncthreads();
  float kept[isKept ? steps : 1][width];
  float largest[width] = {};
#pragma unroll (isKept ? steps : 4)
  for (int i = 0; i < steps; ++i) {
    if (isInside && start + i * stride < depthCount) {
#pragma unroll
      for (int v = 0; v < width; ++v) {
        const float value = element(firstLine + inLines + (isAlongDepth ? 0 : v),
                                    start + i * stride + (isAlongDepth ? v : 0));
        largest[isAlongDepth ? 0 : v] = fmaxf(largest[isAlongDepth ? 0 : v], fabsf(value));
        kept[isKept ? i : 0][v] = value;
      }
    }
  }
#pragma unroll
  for (int v = 0; v < (isAlongDepth ? 1 : width); ++v) atomicMax(&found[inLines + v], __float_as_int(largest[v]));
  blocks > 1 ? clusterBarrier() : __syncthreads();
  if (threadIdx.x < lines) {
    int bits = found[threadIdx.x];
    for (int b = 0; b < blocks && blocks > 1; ++b) bits = max(bits, readInBlock(&found[threadIdx.x], b));
    const int exponent = min(126, (141 - (bits >> 23)) & ~1);
    scales[threadIdx.x] = __int_as_float((127 + exponent) << 23);
    if (part == 0 && firstLine + threadIdx.x < lineCount) {
      const float root = __int_as_float((127 - exponent / 2) << 23);
      roots[firstLine + threadIdx.x] = bits == 0x7f800000 ? -root : root;
    }
  }
  blocks > 1 ? clusterBarrier() : __syncthreads();
#pragma unroll (isKept ? steps : 4)
  for (int i = 0; i < steps; ++i) {
    if (isInside && start + i * stride < depthCount) {
      Half high[width], low[width];
#pragma unroll
      for (int v = 0; v < width; ++v) {
        const int line = inLines + (isAlongDepth ? 0 : v), at = start + i * stride + (isAlongDepth ? v : 0);
        const float value = scales[line] * (isKept ? kept[isKept ? i : 0][v] : element(firstLine + line, at));
        high[v] = toHalf(value);
        low[v] = toHalf(value - toFloat(high[v]));
      }
      Half* const to = planes + place(firstLine + inLines, start + i * stride);
#pragma unroll
      for (int v = 0; v < width; ++v) to[v] = high[v];
#pragma unroll
      for (int v = 0; v < width && parts == 2; ++v) to[plane + v] = low[v];
    }
  }
}
