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

// 2097152 elements. A thread moves 4 neighbours at once, and has 2 such loads under way.
extern "C" __global__ void __launch_bounds__(1024) swage_kernel_0(const float* __restrict__ x,
    const float* __restrict__ gate, float* __restrict__ out) {
  const int first = (blockIdx.x * 2048 + threadIdx.x) * 4;
  Vec<float, 4> x4[2];
  Vec<float, 4> gate4[2];
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    const int i = first + u * 4096;
    x4[u] = loadStreaming<float, 4>(&x[i]);
    gate4[u] = loadStreaming<float, 4>(&gate[i]);
  }
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    const int i = first + u * 4096;
    Vec<float, 4> out4;
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      // swish_gate.py:14 in forward
      const float sigmoid_i = 1.0f / (1.0f + expf(-x4[u][v]));
      const float mul_i = x4[u][v] * sigmoid_i;
      out4[v] = mul_i * gate4[u][v];
    }
    storeStreaming(&out[i], out4);
  }
}
