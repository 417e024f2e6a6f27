// Neighbours in memory, moved at once.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vec {
  T item[N];
  __device__ T& operator[](int i) { return item[i]; }
};

template <class T, int N>
__device__ inline Vec<T, N> load(const T* from) { return *reinterpret_cast<const Vec<T, N>*>(from); }
// 16 bytes that leave the caches first, because they are read once.
template <class T, int N>
__device__ inline Vec<T, N> loadStreaming(const T* from) {
  const int4 raw = __ldcs(reinterpret_cast<const int4*>(from));
  return reinterpret_cast<const Vec<T, N>&>(raw);
}
template <class T, int N>
__device__ inline void store(T* to, const Vec<T, N>& from) { *reinterpret_cast<Vec<T, N>*>(to) = from; }
// Joins the numbers of a warp; all threads get that of the first, because rounding may differ with the order.
template <class T, class Join>
__device__ inline T reduceWarp(T x, Join join) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    x = join(x, __shfl_xor_sync(0xffffffffu, x, mask));
  }
  return __shfl_sync(0xffffffffu, x, 0);
}

// 1024 rows of 1024, one to a warp, which keeps its elements in registers.
extern "C" __global__ void __launch_bounds__(128) swage_kernel_0(const float* __restrict__ x,
    const float* __restrict__ residual, const float* __restrict__ scale, float* __restrict__ out1,
    float* __restrict__ out0) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  const int first = lane * 4;
  Vec<float, 4> x4[8];
  Vec<float, 4> residual4[8];
  Vec<float, 4> scale4[8];
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const int k = first + step * 128;
    x4[step] = loadStreaming<float, 4>(&x[row * 1024 + k]);
    residual4[step] = loadStreaming<float, 4>(&residual[row * 1024 + k]);
    scale4[step] = load<float, 4>(&scale[k]);
  }

  float sum[4] = {};
#pragma unroll
  for (int step = 0; step < 8; ++step) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      // rms_norm_residual.py:20 in forward
      const float out1_i = x4[step][v] + residual4[step][v];
      // rms_norm_residual.py:21 in forward
      sum[v] += out1_i * out1_i;
    }
  }
  const float row_sum =
      reduceWarp((sum[0] + sum[2]) + (sum[1] + sum[3]), [](float a, float b) { return a + b; });
  const float mean = row_sum * 0.0009765625f;
  // rms_norm_residual.py:22 in forward
  const float add = mean + 1e-06f;
  const float rsqrt = 1.0f / sqrtf(add);

#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const int k = first + step * 128;
    Vec<float, 4> out1_4;
    Vec<float, 4> out0_4;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      // rms_norm_residual.py:20 in forward
      const float out1_i = x4[step][v] + residual4[step][v];
      // rms_norm_residual.py:22 in forward
      const float mul_i = out1_i * rsqrt;
      // rms_norm_residual.py:20 in forward
      out1_4[v] = out1_i;
      // rms_norm_residual.py:22 in forward
      out0_4[v] = mul_i * scale4[step][v];
    }
    store(&out1[row * 1024 + k], out1_4);
    store(&out0[row * 1024 + k], out0_4);
  }
}
