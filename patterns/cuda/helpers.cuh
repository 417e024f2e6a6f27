// SPDX-License-Identifier: MIT-0
// Functions that generated kernels may need. A program gets those that it uses: each begins after a line that names it.

//! swage:helper kInfinity
#define kInfinity __int_as_float(0x7f800000)

//! swage:helper kNan
#define kNan __int_as_float(0x7fffffff)

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

//! swage:helper toFloat
__device__ inline float toFloat(Half x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}
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

//! swage:helper maximum
// NaN wins, as in PyTorch.
template <class T>
__device__ inline T maximum(T a, T b) { return a > b || a != a ? a : b; }

//! swage:helper minimum
template <class T>
__device__ inline T minimum(T a, T b) { return a < b || a != a ? a : b; }

//! swage:helper absolute
__device__ inline long long absolute(long long x) { return x < 0 ? -x : x; }

//! swage:helper signOf
template <class T>
__device__ inline T signOf(T x) { return T(x > 0) - T(x < 0); }

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
