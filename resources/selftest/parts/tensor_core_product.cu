// SPDX-License-Identifier: Apache-2.0
// A product of floats on tensor cores, right or with one of the flaws that such products have. A block of 128 threads
// makes 64 by 64 of the result, a warp 16 rows of it.
constexpr int kRows = 70, kColumns = 75, kDepth = 4100;
constexpr int kTile = 64, kStep = 32, kPadded = kStep + 8;

struct Half {
  unsigned short bits;
};
__device__ float toFloat(Half x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
  return value;
}
__device__ Half toHalf(float x) {
  Half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}

// A number as two halves: x * 2^e = high + low / 2048.
struct Side {
  Half high[kTile][kPadded];
  Half low[kTile][kPadded];
  unsigned int largest[kTile];  // magnitude of a line, as bits
};

// 2^e brings the largest magnitude of a line to 2^14 and below; 1 where there is an infinity or NaN.
__device__ float scaleOf(unsigned int largest) {
  return largest < 0x7f800000u ? __int_as_float((min(141 - int(largest >> 23), 126) + 127) << 23) : 1.0f;
}

__device__ void multiply(float (&sum)[4], const Half (&left)[kTile][kPadded], const Half (&right)[kTile][kPadded],
                         int row, int column, int depth) {
  const int lane = threadIdx.x % 32;
  const auto pair = [&](const Half (&side)[kTile][kPadded], int line, int at) {
    return *reinterpret_cast<const unsigned int*>(&side[line + lane / 4][depth + at + lane % 4 * 2]);
  };
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(pair(left, row, 0)), "r"(pair(left, row + 8, 0)), "r"(pair(left, row, 8)), "r"(pair(left, row + 8, 8)),
        "r"(pair(right, column, 0)), "r"(pair(right, column, 8)));
#else
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 16; ++k) {
      sum[i] = fmaf(toFloat(left[row + lane / 4 + i / 2 * 8][depth + k]),
                    toFloat(right[column + lane % 4 * 2 + i % 2][depth + k]), sum[i]);
    }
  }
#endif
}

// Without the loop over the depth: what must be the same for all flaws.
template <class Read>
__device__ void findLargest(Side& side, int first, int count, const Read& read) {
  if (threadIdx.x < kTile) {
    unsigned int largest = 0;
    for (int depth = 0; first + threadIdx.x < count && depth < kDepth; ++depth) {
      largest = max(largest, __float_as_uint(read(first + threadIdx.x, depth)) & 0x7fffffffu);
    }
    side.largest[threadIdx.x] = largest;
  }
}

template <class Read>
__device__ void split(Side& side, int first, int count, int step, int depthEnd, const Read& read) {
  for (int i = threadIdx.x; i < kTile * kStep; i += 128) {
    const int line = i / kStep, depth = i % kStep;
    const bool isInside = first + line < count && step + depth < depthEnd && side.largest[line] < 0x7f800000u;
    const float scaled = isInside ? read(first + line, step + depth) * scaleOf(side.largest[line]) : 0.0f;
    side.high[line][depth] = toHalf(scaled);
    side.low[line][depth] = toHalf((scaled - toFloat(toHalf(scaled))) * 2048.0f);
  }
}

struct Honest {
  static constexpr bool kDropsATerm = false;
  static constexpr bool kKeepsScales = false;
  static constexpr int kPromote = 64;
  static constexpr bool kSumsInHalf = false;
  static constexpr int kDepthEnd = kDepth;
  static constexpr bool kRaces = false;
};

template <class Flaws>
__device__ void product(const float* x, const float* y, float* out) {
  __shared__ Side left, right;
  const int firstRow = blockIdx.x / 2 * kTile, firstColumn = blockIdx.x % 2 * kTile;
  const int lane = threadIdx.x % 32, warpRow = threadIdx.x / 32 * 16;
  const auto readX = [&](int row, int depth) { return x[row * kDepth + depth]; };
  const auto readY = [&](int column, int depth) { return y[depth * kColumns + column]; };
  findLargest(left, firstRow, kRows, readX);
  findLargest(right, firstColumn, kColumns, readY);
  __syncthreads();
  float sum[8][4] = {}, recent[8][4] = {}, minor[8][4] = {};
  for (int step = 0; step < kDepth; step += kStep) {
    split(left, firstRow, kRows, step, Flaws::kDepthEnd, readX);
    split(right, firstColumn, kColumns, step, Flaws::kDepthEnd, readY);
    __syncthreads();
    if (Flaws::kRaces && threadIdx.x / 32 % 2 == 1) {
      for (long long until = clock64() + 20000; clock64() < until;) {
      }
    }
    const bool isEnd = (step / kStep + 1) * kStep % Flaws::kPromote == 0 || step + kStep >= kDepth;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      for (int k = 0; k < kStep; k += 16) {
        multiply(recent[c], left.high, right.high, warpRow, c * 8, k);
        multiply(minor[c], left.low, right.high, warpRow, c * 8, k);
        if (!Flaws::kDropsATerm) multiply(minor[c], left.high, right.low, warpRow, c * 8, k);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (Flaws::kSumsInHalf) recent[c][i] = toFloat(toHalf(recent[c][i] / 268435456.0f)) * 268435456.0f;
        if (!isEnd) continue;
        sum[c][i] += recent[c][i] + minor[c][i] / 2048.0f;
        recent[c][i] = minor[c][i] = 0.0f;
      }
    }
    if (!Flaws::kRaces) __syncthreads();
  }
#pragma unroll
  for (int c = 0; c < 8; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = warpRow + lane / 4 + i / 2 * 8, column = c * 8 + lane % 4 * 2 + i % 2;
      if (firstRow + row >= kRows || firstColumn + column >= kColumns) continue;
      float total = sum[c][i] / (Flaws::kKeepsScales ? 1.0f : scaleOf(left.largest[row])) / scaleOf(right.largest[column]);
      if (max(left.largest[row], right.largest[column]) >= 0x7f800000u) {
        total = 0.0f;
        for (int depth = 0; depth < kDepth; ++depth) {
          total += readX(firstRow + row, depth) * readY(firstColumn + column, depth);
        }
      }
      out[(firstRow + row) * kColumns + firstColumn + column] = total;
    }
  }
}
