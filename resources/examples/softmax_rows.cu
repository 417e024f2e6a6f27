#define kInfinity __int_as_float(0x7f800000)

// NaN wins, as in PyTorch.
template <class T>
__device__ inline T maximum(T a, T b) { return a > b || a != a ? a : b; }
#if __CUDA_ARCH__ >= 800
__device__ inline float maximum(float a, float b) {
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}
#endif

// Neighbours in memory, moved at once.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vec {
  T item[N];
  __device__ T& operator[](int i) { return item[i]; }
};

// 16 bytes that leave the caches first, because they are read once.
template <class T, int N>
__device__ inline Vec<T, N> loadStreaming(const T* from) {
  const int4 raw = __ldcs(reinterpret_cast<const int4*>(from));
  return reinterpret_cast<const Vec<T, N>&>(raw);
}
// 16 bytes that leave the caches first.
template <class T, int N>
__device__ inline void storeStreaming(T* to, const Vec<T, N>& from) {
  __stcs(reinterpret_cast<int4*>(to), reinterpret_cast<const int4&>(from));
}

// Joins the numbers of a warp; all threads get that of the first, because rounding may differ with the order.
template <class T, class Join>
__device__ inline T reduceWarp(T x, Join join) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    x = join(x, __shfl_xor_sync(0xffffffffu, x, mask));
  }
  return __shfl_sync(0xffffffffu, x, 0);
}

// 2048 rows of 1024, one to a warp, which keeps its elements in registers.
extern "C" __global__ void __launch_bounds__(512) swage_kernel_0(const float* __restrict__ x,
    float* __restrict__ out) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * 16 + threadIdx.x / 32;
  const int first = lane * 4;
  Vec<float, 4> x4[8];
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const int k = first + step * 128;
    x4[step] = loadStreaming<float, 4>(&x[row * 1024 + k]);
  }

  float largest[4] = {-kInfinity, -kInfinity, -kInfinity, -kInfinity};
#pragma unroll
  for (int step = 0; step < 8; ++step) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      largest[v] = maximum(largest[v], x4[step][v]);
    }
  }
  const float row_largest =
      reduceWarp(maximum(maximum(largest[0], largest[2]), maximum(largest[1], largest[3])), [](float a, float b) { return maximum(a, b); });

  float sum[4] = {};
#pragma unroll
  for (int step = 0; step < 8; ++step) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      sum[v] += expf(x4[step][v] - row_largest);
    }
  }
  const float row_sum =
      reduceWarp((sum[0] + sum[2]) + (sum[1] + sum[3]), [](float a, float b) { return a + b; });
  const float inverse = 1.0f / row_sum;

#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const int k = first + step * 128;
    Vec<float, 4> out4;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      // softmax_rows.py:14 in forward
      out4[v] = expf(x4[step][v] - row_largest) * inverse;
    }
    storeStreaming(&out[row * 1024 + k], out4);
  }
}
