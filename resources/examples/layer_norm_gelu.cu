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

// 2048 rows of 768, one to a warp, which keeps its elements in registers.
extern "C" __global__ void __launch_bounds__(128) swage_kernel_0(const float* __restrict__ x,
    const float* __restrict__ norm_weight, const float* __restrict__ norm_bias, float* __restrict__ out) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  const int first = lane * 4;
  Vec<float, 4> x4[6];
  Vec<float, 4> norm_weight4[6];
  Vec<float, 4> norm_bias4[6];
#pragma unroll
  for (int step = 0; step < 6; ++step) {
    const int k = first + step * 128;
    x4[step] = loadStreaming<float, 4>(&x[row * 768 + k]);
    norm_weight4[step] = load<float, 4>(&norm_weight[k]);
    norm_bias4[step] = load<float, 4>(&norm_bias[k]);
  }

  float sum[4] = {};
#pragma unroll
  for (int step = 0; step < 6; ++step) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      sum[v] += x4[step][v];
    }
  }
  const float row_sum =
      reduceWarp((sum[0] + sum[2]) + (sum[1] + sum[3]), [](float a, float b) { return a + b; });
  const float mean = row_sum / 768.0f;

  float sum2[4] = {};
#pragma unroll
  for (int step = 0; step < 6; ++step) {
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const float difference = x4[step][v] - mean;
      sum2[v] += difference * difference;
    }
  }
  const float row_sum2 =
      reduceWarp((sum2[0] + sum2[2]) + (sum2[1] + sum2[3]), [](float a, float b) { return a + b; });
  const float inverse_root = 1.0f / sqrtf(row_sum2 / 768.0f + 1e-05f);

#pragma unroll
  for (int step = 0; step < 6; ++step) {
    const int k = first + step * 128;
    Vec<float, 4> out4;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      // layer_norm_gelu.py:18 in forward
      const float layer_norm_i = (x4[step][v] - mean) * inverse_root * norm_weight4[step][v] + norm_bias4[step][v];
      out4[v] = layer_norm_i * 0.5f * (erff(layer_norm_i * 0.70710677f) + 1.0f);
    }
    store(&out[row * 768 + k], out4);
  }
}
