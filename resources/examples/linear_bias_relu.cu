__device__ inline unsigned int sharedAddress(const void* x) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(x));
}

// Larger for larger magnitudes; infinities and NaN are below all numbers.
__device__ inline unsigned int magnitude(float x) { return (__float_as_uint(x) << 1) + 0x01000000u; }

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

template <class T, int N>
__device__ inline Vec<T, N> load(const T* from) { return *reinterpret_cast<const Vec<T, N>*>(from); }
// Barriers in shared memory: a phase of one ends when so many have arrived and all announced bytes have come.
__device__ inline void initBarrier(unsigned int barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ inline void expectBytes(unsigned int barrier, int bytes) {  // arrives, too
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void arriveAt(unsigned int barrier, int block) {  // of the cluster
  asm volatile("{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there];}" ::"r"(barrier), "r"(block) : "memory");
}
__device__ inline void waitFor(unsigned int barrier, int parity) {  // until the phase of this parity has ended
  asm volatile("{.reg .pred done;\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra ended;\nbra again;\nended:}" ::"r"(barrier), "r"(parity) : "memory");
}

// Lets other threads use barriers that this one has made.
__device__ inline void publishBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Lets tensor cores and the copy engine see what this thread has written into shared memory.
__device__ inline void publishShared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// All threads of a warp group have so many registers from here on: more than before, or fewer.
template <int count>
__device__ inline void takeRegisters() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count)); }
template <int count>
__device__ inline void giveRegisters() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count)); }

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

// Four halves into shared memory.
__device__ inline void storeFour(unsigned int to, const unsigned int (&x)[2]) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(x[0]), "r"(x[1]) : "memory");
}

// Of the largest magnitude of a row or column, as bits: too small for halves that are multiplied by 2^10, or too large.
__device__ inline bool isOutOfRange(unsigned int bits) {
  const float x = __uint_as_float(bits);
  return x != 0.0f && !(x >= 0.0009765625f && x <= 63.0f);
}

// The copy engine stores neighbours from shared memory, in multiples of 16 bytes; until it has read all of this thread.
__device__ inline void storeRow(float* to, const float* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to),
               "r"(sharedAddress(from)), "r"(bytes) : "memory");
}
__device__ inline void waitForStores() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// Of a tile in shared memory for wgmma: 64 halves to a line, in groups of 8 lines whose pieces are swizzled.
__device__ inline unsigned long long tileDescriptor(unsigned int tile) {
  return (tile & 0x3ffffull) >> 4 | (8192ull >> 4) << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

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

extern "C" __global__ void __launch_bounds__(256) swage_kernel_0_clear(unsigned int* largest_of) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < 1280) {
    largest_of[i] = 0;
  }
}

// 64 rows times 64 columns over 16 of the sum, by the 128 threads of a warp group: added to the sums where
// `keep`, else instead of them.
__device__ inline void multiply_0(float (&s)[32], unsigned long long left, unsigned long long right, int keep) {
  asm volatile("{.reg .pred keep; setp.ne.b32 keep, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16\n"
      "{"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"
      "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
      "}, %32, %33, keep, 1, 1, 0, 0;}" :
      "+f"(s[0]),"+f"(s[1]),"+f"(s[2]),"+f"(s[3]),"+f"(s[4]),"+f"(s[5]),"+f"(s[6]),"+f"(s[7]),"+f"(s[8]),
      "+f"(s[9]),"+f"(s[10]),"+f"(s[11]),"+f"(s[12]),"+f"(s[13]),"+f"(s[14]),"+f"(s[15]),"+f"(s[16]),"+f"(s[17]),
      "+f"(s[18]),"+f"(s[19]),"+f"(s[20]),"+f"(s[21]),"+f"(s[22]),"+f"(s[23]),"+f"(s[24]),"+f"(s[25]),"+f"(s[26]),
      "+f"(s[27]),"+f"(s[28]),"+f"(s[29]),"+f"(s[30]),"+f"(s[31])
      : "l"(left), "l"(right), "r"(keep));
}

// What a block makes as number i, of 64 tiles. Neighbours share operands.
struct Tile_0 {
  int row, column, first, last;
};
__device__ inline bool find_0(int i, Tile_0& tile) {
  const int number = blockIdx.x + i * 64;
  tile.first = 0;
  tile.last = 8;
  const int band = number / 64 * 4;
  const int down = 4;
  tile.row = (band + number % 64 % down) * 64;
  tile.column = number % 64 / down * 64;
  return number < 64;
}

// A product of 256 by 1024, summed over 512, on tensor cores as high * high + high * low + low * high. A
// block makes tiles of 64 by 64: two warp groups bring the operands and split each number into two halves,
// one multiply 64 rows each. Tensor cores cut off low bits when they add, so every 32 their sums go into sums
// in float, the small products first.
extern "C" __global__ void __launch_bounds__(384, 1) swage_kernel_0(const float* __restrict__ x, const float* __restrict__ linear_weight, const float* __restrict__ linear_bias, float* __restrict__ out, unsigned int* largest_of) {
  x = static_cast<const float*>(__builtin_assume_aligned(x, 16));
  linear_weight = static_cast<const float*>(__builtin_assume_aligned(linear_weight, 16));
  extern __shared__ __align__(128) unsigned char shared[];
  unsigned char* const memory = shared + (0u - sharedAddress(shared)) % 1024;  // as the swizzle needs
  const unsigned int slots = sharedAddress(memory);
  float* const staged = reinterpret_cast<float*>(memory + 65536);  // results on their way out
  const unsigned int full = slots + 83968, empty = full + 16;  // barriers of 8 bytes
  const int group = threadIdx.x / 128;
  if (threadIdx.x < 2) {
    initBarrier(full + threadIdx.x * 8, 8);  // warps that bring
    initBarrier(empty + threadIdx.x * 8, 1);
    publishBarriers();
  }
  __syncthreads();
  Tile_0 tile;
  int slot = 0, phase = 0;
  const auto advance = [&] {
    const int now = slot;
    slot = slot == 1 ? 0 : slot + 1;
    phase ^= slot == 0;
    return now;
  };
  if (group >= 1) {
    // --- Each thread splits what it has brought for this step into the next slot, and asks for the same
    // pieces of the step after it.
    takeRegisters<208>();
    const int thread = threadIdx.x - 128;
    const int major = thread / 16, minor = thread % 16 * 4;  // of a piece in 64 by 64 numbers
    const unsigned int mine = slots + major * 128 + (minor / 8 ^ major % 8) * 16 + minor % 8 * 2;
    const auto left_at = [&](int row, int depth) {
      return &x[row * 512 + depth];
    };
    const auto right_at = [&](int column, int depth) {
      return &linear_weight[column * 512 + depth];
    };
    Tile_0 next;
    float kept[8][4], largest[8] = {};  // 4 pieces of the left operand, then of the right one
    const auto bring = [&](int p, int step) {
      if (p < 4) {
        const int row = next.row + p * 16 + major;
        const int depth = step * 64 + minor;
        Vec<float, 4> piece = load<float, 4>(left_at(row, depth));
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          kept[p][v] = piece[v];
        }
      } else {
        const int column = next.column + (p - 4) * 16 + major;
        const int depth = step * 64 + minor;
        Vec<float, 4> piece = load<float, 4>(right_at(column, depth));
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          kept[p][v] = piece[v];
        }
      }
    };
    bool is_there = find_0(0, next);
    int number = 0, step = next.first;
#pragma unroll
    for (int p = 0; p < 8; ++p) {
      bring(p, step);
    }
    while (is_there) {
      tile = next;
      const bool is_last = ++step == tile.last;
      if (is_last) {
        is_there = find_0(++number, next);
        next = is_there ? next : tile;  // at the end once more the same
        step = next.first;
      }
      waitFor(empty + slot * 8, phase ^ 1);
      const unsigned int ready = full + slot * 8;
      const unsigned int to = mine + advance() * 32768;
#pragma unroll
      for (int p = 0; p < 8; ++p) {
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          const int at = p;
          largest[at] = fmaxf(largest[at], fabsf(kept[p][v]));
        }
        const SplitFour parts = splitFour(kept[p], 1024.0f);
        storeFour(to + p * 2048, parts.high);
        storeFour(to + 16384 + p * 2048, parts.low);
        bring(p, step);
        if (p % 4 == 3) {
          __syncwarp();  // keeps the compiler from asking for all of them at the end
        }
      }
      publishShared();
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        arriveAt(ready, 0);
      }
      if (is_last) {
        if (tile.column == 0) {
#pragma unroll
          for (int p = 0; p < 4; ++p) {
            for (int mask = 8; mask > 0; mask /= 2) {
              largest[p] = fmaxf(largest[p], __shfl_xor_sync(0xffffffffu, largest[p], mask));
            }
            if (minor == 0) {
              atomicMax(&largest_of[tile.row + p * 16 + major], __float_as_uint(largest[p]));
            }
          }
        }
        if (tile.row == 0) {
#pragma unroll
          for (int p = 0; p < 4; ++p) {
            for (int mask = 8; mask > 0; mask /= 2) {
              largest[4 + p] = fmaxf(largest[4 + p], __shfl_xor_sync(0xffffffffu, largest[4 + p], mask));
            }
            if (minor == 0) {
              atomicMax(&largest_of[256 + tile.column + p * 16 + major], __float_as_uint(largest[4 + p]));
            }
          }
        }
#pragma unroll
        for (int p = 0; p < 8; ++p) {
          largest[p] = 0.0f;
        }
      }
    }
  } else {
    // --- The others multiply 64 rows of the tile each.
    giveRegisters<88>();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float* const rows = staged + warp * 1152;  // 16 of them
    for (int i = 0; find_0(i, tile); ++i) {
      float sum[32] = {};
      float fresh[32];  // of the last 32 of the sum
      const auto products = [&](unsigned long long left, unsigned long long right, bool keep) {
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          multiply_0(fresh, left + k * 2, right + k * 2, k > 0 || keep);
        }
      };
      for (int step = tile.first; step < tile.last; ++step) {
        waitFor(full + slot * 8, phase);
        const int now = advance();
        const unsigned int at = slots + now * 32768;
        const unsigned long long left_high = tileDescriptor(at + group * 8192);
        const unsigned long long right_high = tileDescriptor(at + 8192);
        const unsigned long long left_low = tileDescriptor(at + 16384 + group * 8192);
        const unsigned long long right_low = tileDescriptor(at + 24576);
#pragma unroll 1
        for (int k = 0; k < 4; k += 2) {
          openProducts(fresh);
          products(left_low + k * 2, right_high + k * 2, false);
          products(left_high + k * 2, right_low + k * 2, true);
          products(left_high + k * 2, right_high + k * 2, true);
          closeProducts();
          waitForProducts<0>(fresh);
#pragma unroll
          for (int i = 0; i < 32; ++i) {
            sum[i] += fresh[i];
          }
        }
        if (threadIdx.x % 128 == 0) {
          arriveAt(empty + now * 8, 0);
        }
      }
      // Sums change places within a warp, which then has the copy engine write its rows.
      const int first_row = tile.row + warp * 16, first_column = tile.column;
      waitForStores();  // of the tile before
      __syncwarp();
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        rows[(lane / 4 + i / 2 % 2 * 8) * 72 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sum[i] * 9.5367431640625e-07f;
      }
      __syncwarp();
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const int column = first_column + c * 32 + lane;
#pragma unroll
        for (int r = 0; r < 16; ++r) {
          const int row = first_row + r;
          const float linear_bias_i = linear_bias[column];
          // linear_bias_relu.py:19 in forward
          const float linear = rows[r * 72 + c * 32 + lane] + linear_bias_i;
          rows[r * 72 + c * 32 + lane] = maximum(linear, 0.0f);
        }
      }
      publishShared();
      __syncwarp();
      const int row = first_row + lane;
      if (lane < 16) {
        storeRow(&out[row * 1024 + first_column], rows + lane * 72, 256);
      }
    }
    waitForStores();
  }
}

// Most often there is nothing to do. A result whose row or column had its largest magnitude outside of what
// halves hold well, infinities among them, is made anew from floats.
extern "C" __global__ void __launch_bounds__(256) swage_kernel_0_finish(const float* __restrict__ x, const float* __restrict__ linear_weight, const float* __restrict__ linear_bias, float* __restrict__ out, const unsigned int* largest_of) {
  const int first_row = blockIdx.x * 8;
  const int rows = 8;
  int is_any = threadIdx.x < rows && isOutOfRange(largest_of[first_row + threadIdx.x]);
#pragma unroll 8
  for (int column = threadIdx.x; column < 1024; column += 256) {
    is_any |= isOutOfRange(largest_of[256 + column]);
  }
  if (__syncthreads_or(is_any) == 0) {
    return;
  }
  for (int i = threadIdx.x; i < rows * 1024; i += 256) {
    const int row = first_row + i / 1024;
    const int column = i % 1024;
    if (!isOutOfRange(largest_of[row]) && !isOutOfRange(largest_of[256 + column])) {
      continue;
    }
    float total = 0.0f;
    for (int first = 0; first < 512; first += 128) {
      float of_chunk = 0.0f;
      for (int depth = first; depth < first + 128; ++depth) {
        const float x_i = x[row * 512 + depth];
        const float linear_weight_i = linear_weight[column * 512 + depth];
        of_chunk += x_i * linear_weight_i;
      }
      total += of_chunk;
    }
    const float linear_bias_i = linear_bias[column];
    const float linear = total + linear_bias_i;
    out[row * 1024 + column] = maximum(linear, 0.0f);
  }
}
