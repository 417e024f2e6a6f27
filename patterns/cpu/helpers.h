// SPDX-License-Identifier: MIT-0
// Functions that generated kernels may need. A program gets those that it uses: each begins after a line that names it.

//! swage:helper min max fill_n streamOut
#include <algorithm>
//! swage:helper sqrtf sqrt floorf floor ceilf ceil truncf trunc fabsf fabs exp log tanh erf sin cos log1p expm1 pow
//! logf tanhf erff sinf cosf log1pf powf
#include <cmath>
//! swage:helper streamOut
#include <cstring>
//! swage:helper streamOut _mm_sfence
#include <immintrin.h>
//! swage:helper omp_get_max_threads
#include <omp.h>
//! swage:helper logf
// glibc has a form of it for vectors, which the compiler may call once it knows.
extern "C" __attribute__((simd("notinbranch"))) float logf(float) noexcept;

//! swage:helper tanhf
// glibc has a form of it for vectors, which the compiler may call once it knows.
extern "C" __attribute__((simd("notinbranch"))) float tanhf(float) noexcept;

//! swage:helper erff
// glibc has a form of it for vectors, which the compiler may call once it knows.
extern "C" __attribute__((simd("notinbranch"))) float erff(float) noexcept;

//! swage:helper sinf
// glibc has a form of it for vectors, which the compiler may call once it knows.
extern "C" __attribute__((simd("notinbranch"))) float sinf(float) noexcept;

//! swage:helper cosf
// glibc has a form of it for vectors, which the compiler may call once it knows.
extern "C" __attribute__((simd("notinbranch"))) float cosf(float) noexcept;

//! swage:helper log1pf
// glibc has a form of it for vectors, which the compiler may call once it knows.
extern "C" __attribute__((simd("notinbranch"))) float log1pf(float) noexcept;

//! swage:helper powf
// glibc has a form of it for vectors, which the compiler may call once it knows.
extern "C" __attribute__((simd("notinbranch"))) float powf(float, float) noexcept;

//! swage:helper kInfinity
constexpr float kInfinity = __builtin_inff();

//! swage:helper kNan
constexpr float kNan = __builtin_nanf("");

//! swage:helper Half
using Half = _Float16;

//! swage:helper BFloat16
struct BFloat16 {
  unsigned short bits;
};

//! swage:helper toFloat
static inline float toFloat(Half x) {
  return float(x);
}
static inline float toFloat(BFloat16 x) {
  return __builtin_bit_cast(float, static_cast<unsigned int>(x.bits) << 16);
}

//! swage:helper toHalf
static inline Half toHalf(float x) {
  return Half(x);
}

//! swage:helper toBFloat16
// To the nearest, ties to even; NaN stays NaN.
static inline BFloat16 toBFloat16(float x) {
  const unsigned int bits = __builtin_bit_cast(unsigned int, x);
  const unsigned int rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return {static_cast<unsigned short>((x != x ? bits | 0x400000u : rounded) >> 16)};
}

//! swage:helper reduceExp
// exp(x) = 2^n * (1 + tail) with x = n ln 2 + r and tail = exp(r) - 1, by the polynomial of the Cephes library (expf):
// within 2 units in the last place, and in vector instructions. Adding 1.5 * 2^23 rounds to an integer and leaves it in
// the lowest bits, of which `power` gets n as it stands in the exponent of a float. Returns the tail.
__attribute__((always_inline)) static inline float reduceExp(float x, unsigned int& power) {
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
  power = __builtin_bit_cast(unsigned int, shifted) << 23;
  return p * (r * r) + r;
}

//! swage:helper fastExp
__attribute__((always_inline)) static inline float fastExp(float x) {
  unsigned int power;
  const float tail = reduceExp(x, power);
  const unsigned int bits = __builtin_bit_cast(unsigned int, tail + 1.0f) + power;
  const float result = x < -87.3365447f ? 0.0f : __builtin_bit_cast(float, bits);
  return x <= 88.7228391f ? result : x * __builtin_inff();  // infinity above, and NaN stays NaN
}

//! swage:helper fastExpm1
// exp(x) - 1 = 2 * (2^(n - 1) * tail + (2^(n - 1) - 0.5)): that power is finite up to the largest x.
__attribute__((always_inline)) static inline float fastExpm1(float x) {
  unsigned int power;
  const float tail = reduceExp(x, power);
  const float half = __builtin_bit_cast(float, 0x3f000000u + power);
  float result = (tail * half + (half - 0.5f)) * 2.0f;
  result = x < -17.5f ? -1.0f : result;
  result = x == 0.0f ? x : result;                          // with its sign
  return x <= 88.7228391f ? result : x * __builtin_inff();  // infinity above, and NaN stays NaN
}

//! swage:helper maximum
// NaN wins, as in PyTorch.
template <class T>
static inline T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}

//! swage:helper minimum
template <class T>
static inline T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}

//! swage:helper absolute
static inline long long absolute(long long x) {
  return x < 0 ? -x : x;
}

//! swage:helper signOf
template <class T>
static inline T signOf(T x) {
  return T(x > 0) - T(x < 0);
}

//! swage:helper lostIn
// What rounding took from total = a + b (Knuth 1969): nothing where that is an infinity.
static inline double lostIn(double total, double a, double b) {
  const double added = total - a;
  const double lost = (a - (total - added)) + (b - added);
  return lost == lost ? lost : 0.0;
}

//! swage:helper streamOut
// Writes past the caches, so that a line is not read before it is written; parts of lines at the ends go through them.
static inline void streamOut(void* to, const void* from, long long bytes) {
  char* target = static_cast<char*>(to);
  const char* source = static_cast<const char*>(from);
  const long long head = std::min<long long>(-reinterpret_cast<unsigned long>(target) % 64, bytes);
  std::memcpy(target, source, head);
  const long long tail = head + (bytes - head) / 64 * 64;
  for (long long at = head; at < tail; at += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + at)));
  }
  std::memcpy(target + tail, source + tail, bytes - tail);
}

//! swage:helper logistic
inline float logistic(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

//! swage:helper inside
// Whether 0 <= at < extent.
static inline bool inside(long long at, long long extent) {
  return at >= 0 && at < extent;
}

//! swage:helper isBetter
// Of two values and their places: NaN first, the first place among equals.
template <class T>
static inline bool isBetter(bool isAhead, T x, long long at, T best, long long bestAt) {
  return isAhead || (x != x && best == best) || ((x == best || (x != x && best != best)) && at < bestAt);
}
