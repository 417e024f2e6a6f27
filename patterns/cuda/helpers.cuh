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
