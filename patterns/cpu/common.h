// SPDX-License-Identifier: MIT-0
// What every generated CPU kernel starts with: types, conversions and scalar functions.
#ifndef SWAGE_PATTERN_COMMON
#define SWAGE_PATTERN_COMMON

#include <cmath>
#include <cstdint>
#include <cstring>

#include <immintrin.h>
#include <omp.h>

#define SWAGE_FN static inline __attribute__((always_inline))
#define SWAGE_RESTRICT __restrict__
#define SWAGE_UNROLL
#define SWAGE_INFINITYF __builtin_inff()
#define SWAGE_INFINITY __builtin_inf()
#define SWAGE_NANF __builtin_nanf("")
#define SWAGE_NAN __builtin_nan("")
#define SWAGE_MAXF 3.402823466e+38f
#define SWAGE_MAX 1.7976931348623157e+308
#define SWAGE_INT_MAX 0x7fffffffffffffffLL
#define SWAGE_INT_MIN (-SWAGE_INT_MAX - 1)

using I64 = long long;
// Signed, so that the compiler may assume that index arithmetic does not wrap, and use vector moves.
using NarrowIndex = long long;
using WideIndex = long long;
using F16 = _Float16;
struct BF16 {
  unsigned short bits;
};
struct Bool8 {
  unsigned char value;
};

// glibc has vector forms of these in libmvec; declared so, the compiler may use them without relaxing arithmetic.
extern "C" {
__attribute__((simd("notinbranch"))) float logf(float) noexcept;
__attribute__((simd("notinbranch"))) float tanhf(float) noexcept;
__attribute__((simd("notinbranch"))) float erff(float) noexcept;
__attribute__((simd("notinbranch"))) float sinf(float) noexcept;
__attribute__((simd("notinbranch"))) float cosf(float) noexcept;
__attribute__((simd("notinbranch"))) float log1pf(float) noexcept;
__attribute__((simd("notinbranch"))) float expm1f(float) noexcept;
__attribute__((simd("notinbranch"))) float powf(float, float) noexcept;
}

SWAGE_FN float toCompute(float x) { return x; }
SWAGE_FN double toCompute(double x) { return x; }
SWAGE_FN float toCompute(F16 x) { return float(x); }
SWAGE_FN float toCompute(BF16 x) {
  const unsigned int bits = static_cast<unsigned int>(x.bits) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
SWAGE_FN I64 toCompute(I64 x) { return x; }
SWAGE_FN I64 toCompute(int x) { return x; }
SWAGE_FN I64 toCompute(short x) { return x; }
SWAGE_FN I64 toCompute(signed char x) { return x; }
SWAGE_FN I64 toCompute(unsigned char x) { return x; }
SWAGE_FN bool toCompute(Bool8 x) { return x.value != 0; }

template <class T>
struct Stored {
  template <class V>
  static inline __attribute__((always_inline)) T from(V value) { return static_cast<T>(value); }
};
template <>
struct Stored<BF16> {
  // Round to nearest, ties to even; NaN stays NaN.
  static inline __attribute__((always_inline)) BF16 from(float value) {
    unsigned int bits;
    std::memcpy(&bits, &value, sizeof bits);
    const unsigned int rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    return {static_cast<unsigned short>((value != value ? bits | 0x400000u : rounded) >> 16)};
  }
};
template <>
struct Stored<Bool8> {
  template <class V>
  static inline __attribute__((always_inline)) Bool8 from(V value) { return {static_cast<unsigned char>(value ? 1 : 0)}; }
};
template <class T, class V>
SWAGE_FN T fromCompute(V value) { return Stored<T>::from(value); }

// Maximum and minimum that keep NaN, as PyTorch's do.
template <class T>
SWAGE_FN T fn_max(T a, T b) { return (a > b || a != a) ? a : b; }
template <class T>
SWAGE_FN T fn_min(T a, T b) { return (a < b || a != a) ? a : b; }
// Order of arg-reductions: the better value, NaN before all, the first index among equals.
template <class T>
SWAGE_FN bool isAbove(T x, I64 at, T best, I64 bestAt) {
  return (x > best) || (x != x && best == best) || ((x == best || (x != x && best != best)) && at < bestAt);
}
template <class T>
SWAGE_FN bool isBelow(T x, I64 at, T best, I64 bestAt) {
  return (x < best) || (x != x && best == best) || ((x == best || (x != x && best != best)) && at < bestAt);
}

#define SWAGE_UNARY(name, single, wide)            \
  SWAGE_FN float fn_##name(float x) { return single(x); } \
  SWAGE_FN double fn_##name(double x) { return wide(x); }
SWAGE_UNARY(log, logf, log)
SWAGE_UNARY(tanh, tanhf, tanh)
SWAGE_UNARY(erf, erff, erf)
SWAGE_UNARY(sin, sinf, sin)
SWAGE_UNARY(cos, cosf, cos)
SWAGE_UNARY(log1p, log1pf, log1p)
SWAGE_UNARY(expm1, expm1f, expm1)
SWAGE_UNARY(sqrt, __builtin_sqrtf, __builtin_sqrt)
SWAGE_UNARY(floor, __builtin_floorf, __builtin_floor)
SWAGE_UNARY(ceil, __builtin_ceilf, __builtin_ceil)
SWAGE_UNARY(trunc, __builtin_truncf, __builtin_trunc)
#undef SWAGE_UNARY

// exp(x) = 2^n * exp(r) with r = x - n ln 2, by the polynomial of the Cephes library (expf): within 2 units in the last
// place. Written out because it becomes twenty vector instructions in the middle of a loop, where a call into a vector
// library spills what the loop keeps in registers. Adding 1.5 * 2^23 rounds to an integer and leaves it in the lowest
// bits, from where it is added to the exponent. Results below the normal numbers are 0.
SWAGE_FN float fn_exp(float x) {
  constexpr float kToInteger = 12582912.0f;
  const float shifted = x * 1.44269504088896341f + kToInteger;
  const float n = shifted - kToInteger;
  float r = x - n * 0.693359375f;  // the constant has nine bits, so that the product is exact
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const unsigned int bits = __builtin_bit_cast(unsigned int, p) + (__builtin_bit_cast(unsigned int, shifted) << 23);
  const float result = x < -87.3365447f ? 0.0f : __builtin_bit_cast(float, bits);
  return x <= 88.7228391f ? result : x * SWAGE_INFINITYF;  // infinity above, and NaN stays NaN
}
SWAGE_FN double fn_exp(double x) { return exp(x); }
// The share of some of all, for running means.
template <class T>
SWAGE_FN T fn_part(T some, T all) { return some / all; }
// exp of an argument of at most 0 that weighs a term of a sum: what counts is its error beside a weight of 1.
template <class T>
SWAGE_FN T fn_weight(T x) { return fn_exp(x); }

SWAGE_FN float fn_pow(float x, float y) { return powf(x, y); }
SWAGE_FN double fn_pow(double x, double y) { return pow(x, y); }
template <class T>
SWAGE_FN T fn_abs(T x) { return x < 0 ? -x : (x == 0 ? T(0) : x); }
SWAGE_FN float fn_abs(float x) { return __builtin_fabsf(x); }
SWAGE_FN double fn_abs(double x) { return __builtin_fabs(x); }
template <class T>
SWAGE_FN T fn_reciprocal(T x) { return T(1) / x; }
template <class T>
SWAGE_FN T fn_rsqrt(T x) { return T(1) / fn_sqrt(x); }
template <class T>
SWAGE_FN T fn_sigmoid(T x) { return T(1) / (T(1) + fn_exp(-x)); }
template <class T>
SWAGE_FN T fn_sign(T x) { return T(x > 0) - T(x < 0); }

// V neighbours in storage. The compiler makes wide moves of the loops.
template <int V, class T>
SWAGE_FN void loadChunk(const T* from, T (&chunk)[V]) {
  for (int v = 0; v < V; ++v) {
    chunk[v] = from[v];
  }
}
template <int V, class T>
SWAGE_FN void loadCached(const T* from, T (&chunk)[V]) { loadChunk<V>(from, chunk); }
template <int V>
SWAGE_FN void copyAsync(float* to, const float* from) { std::memcpy(to, from, sizeof(float) * V); }

// Writes past the caches: the line is not read first, which saves a third of the traffic of a copy.
SWAGE_FN void streamBytes(void* to, const void* from, I64 bytes) {
  unsigned char* target = static_cast<unsigned char*>(to);
  const unsigned char* source = static_cast<const unsigned char*>(from);
#ifdef __AVX512F__
  constexpr I64 kWidth = 64;
#else
  constexpr I64 kWidth = 32;
#endif
  I64 at = 0;
  const I64 head = (kWidth - static_cast<I64>(reinterpret_cast<std::uintptr_t>(target) % kWidth)) % kWidth;
  for (; at < head && at < bytes; ++at) {
    target[at] = source[at];
  }
  for (; at + kWidth <= bytes; at += kWidth) {
#ifdef __AVX512F__
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target + at), _mm512_loadu_si512(source + at));
#elif defined(__AVX2__)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + at)));
#else
    std::memcpy(target + at, source + at, kWidth);
#endif
  }
  for (; at < bytes; ++at) {
    target[at] = source[at];
  }
}
template <int V, bool Streaming, class T>
SWAGE_FN void storeChunk(T* to, const T (&chunk)[V]) {
  if constexpr (Streaming) {
    streamBytes(to, chunk, I64(sizeof(T)) * V);
  } else {
    for (int v = 0; v < V; ++v) {
      to[v] = chunk[v];
    }
  }
}

// --- long sums --------------------------------------------------------------------------------------------------------

// Sums of float are kept in double: a processor converts about as fast as it loads, and PyTorch does so too where it
// matters (running means, for one).
using Sum32 = double;
constexpr bool kSum32Loses = false;

// The error of a sum that is made one by one grows with its length. So lanes sum runs of so many steps, and what a run
// found goes into a total that keeps what rounding takes from it.
constexpr int kRun = 16;

// What rounding took from sum = a + b (Knuth 1969).
template <class T>
SWAGE_FN T lostIn(T sum, T a, T b) {
  const T added = sum - a;
  return (a - (sum - added)) + (b - added);
}
// A sum that has left the finite numbers has lost nothing that could be named.
template <class T>
SWAGE_FN T withLost(T sum, T lost) { return lost == lost ? sum + lost : sum; }

// Lanes that see at most `Steps` elements each.
template <class S, I64 Steps, bool Long = S::kSums && (Steps > kRun)>
struct Running {
  S part;
  int steps = 0;  // of this run
};
template <class S, I64 Steps>
struct Running<S, Steps, true> {
  S part;
  int steps = 0;
  typename S::Sum total;
};
template <class S, I64 Steps, bool Long>
SWAGE_FN void startSteps(Running<S, Steps, Long>& running) {
  identity(running.part);
  if constexpr (Long) {
    identity(running.total);
  }
}
// Where a loop over steps has to look at the run again: at `last` or before, `width` to a step.
template <class S, I64 Steps, bool Long>
SWAGE_FN I64 runEnd(const Running<S, Steps, Long>& running, I64 from, I64 last, I64 width) {
  if constexpr (Long) {
    const I64 end = from + (kRun - running.steps) * width;
    return end < last ? end : last;
  } else {
    return last;
  }
}
template <class S, I64 Steps, bool Long>
SWAGE_FN void endSteps(Running<S, Steps, Long>& running) {
  if constexpr (Long) {
    if (running.steps == kRun) {
      add(running.total, running.part);
      identity(running.part);
      running.steps = 0;
    }
  }
}
template <class S, I64 Steps, bool Long>
SWAGE_FN S result(Running<S, Steps, Long>& running) {
  if constexpr (Long) {
    add(running.total, running.part);
    return settled(running.total);
  } else {
    return running.part;
  }
}
#endif  // SWAGE_PATTERN_COMMON
