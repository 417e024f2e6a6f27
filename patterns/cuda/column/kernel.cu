// SPDX-License-Identifier: MIT-0
// Groups numbered by the innermost axis: neighbouring threads reduce neighbouring groups, rows of threads share the
// reduced axes, and the rows meet in shared memory.
#include "../common.cuh"

//! swage:begin parameters
constexpr int kVectorWidth = 4;
constexpr int kColumns = 32;
constexpr int kRows = 8;
constexpr int kUnroll = 4;
constexpr int kStreaming = 1;
//! swage:end parameters
//! swage:begin region
//! swage:end region

constexpr Index kVectors = kInner / kVectorWidth;
constexpr Index kTiles = (kVectors + kColumns - 1) / kColumns;

// Joins the rows of threads; every row gets the same result.
template <int K>
SWAGE_FN State<K, kVectorWidth> joinRows(const State<K, kVectorWidth>& s, int column, int row) {
  if constexpr (kRows == 1) {
    return s;
  } else {
    __shared__ State<K, kVectorWidth> parts[kRows][kColumns];
    parts[row][column] = s;
    __syncthreads();
    State<K, kVectorWidth> total = parts[0][column];
    for (int other = 1; other < kRows; ++other) {
      merge(total, parts[other][column]);
    }
    return total;
  }
}

template <int K>
SWAGE_FN void reduceGroups(SWAGE_PARAMETERS, Index g, Index i, bool active, int column, int row,
                           Group (&q)[kVectorWidth]) {
  if constexpr (K < kStages) {
    State<K, kVectorWidth> s;
    identity(s);
    int steps = 0;
    if (active) {
      for (Index first = Index(row); first < kOuter; first += Index(kRows * kUnroll)) {
        Element e[kUnroll][kVectorWidth];
        SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
          const Index o = first + Index(u * kRows);
          if (o < kOuter) {
            loadVector<kVectorWidth>(SWAGE_PASS, baseAt(g, o), i, e[u]);
          }
        }
        SWAGE_UNROLL for (int u = 0; u < kUnroll; ++u) {
          const Index o = first + Index(u * kRows);
          if (o < kOuter) {
            const float inverse = 1.0f / float(++steps);
            SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { accumulate(s, v, e[u][v], q[v], o, inverse); }
          }
        }
      }
    }
    const State<K, kVectorWidth> total = joinRows<K>(s, column, row);
    SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { finish(laneOf(total, v), q[v]); }
    reduceGroups<K + 1>(SWAGE_PASS, g, i, active, column, row, q);
  }
}

extern "C" __global__ void __launch_bounds__(kColumns* kRows) SWAGE_ENTRY(SWAGE_PARAMETERS) {
  const int column = int(threadIdx.x) % kColumns;
  const int row = int(threadIdx.x) / kColumns;
  const Index g = Index(blockIdx.x) / kTiles;
  const Index vector = Index(blockIdx.x) % kTiles * kColumns + Index(column);
  const bool active = vector < kVectors;
  const Index i = active ? vector * kVectorWidth : 0;
  const Base first = baseAt(g, 0);
  Group q[kVectorWidth];
  SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { q[v] = groupAt(SWAGE_PASS, first, i + Index(v)); }
  reduceGroups<0>(SWAGE_PASS, g, i, active, column, row, q);
  if (!active) {
    return;
  }
  if (row == 0) {
    SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { storeGroup(SWAGE_PASS, first, g, i + Index(v), q[v]); }
  }
  if constexpr (kElementStores > 0) {
    for (Index o = Index(row); o < kOuter; o += Index(kRows)) {
      const Base base = baseAt(g, o);
      Element e[kVectorWidth];
      loadVector<kVectorWidth>(SWAGE_PASS, base, i, e);
      Outputs out[kVectorWidth];
      SWAGE_UNROLL for (int v = 0; v < kVectorWidth; ++v) { evaluate(e[v], q[v], o, out[v]); }
      storeVector<kVectorWidth, kStreaming != 0>(SWAGE_PASS, base, i, out);
    }
  }
}
