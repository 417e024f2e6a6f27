// SPDX-License-Identifier: Apache-2.0
// The functions of patterns/cuda/helpers.cuh that are instructions of a device, for runtime.h. Fragments of matrices lie
// in registers as the PTX manual draws them for ldmatrix and mma.m16n8k16.

//! swage:helper kInfinity
#define kInfinity __int_as_float(0x7f800000)

//! swage:helper kNan
#define kNan __int_as_float(0x7fffffff)

//! swage:helper kNotFinite
#define kNotFinite (1 << 20)

//! swage:helper Half
struct Half {
  unsigned short bits;
};

//! swage:helper BFloat16
struct BFloat16 {
  unsigned short bits;
};

//! swage:helper toFloat
inline float toFloat(Half x) { return static_cast<float>(swage_bits<_Float16>(x.bits)); }
inline float toFloat(BFloat16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }

//! swage:helper toHalf
inline Half toHalf(float x) { return {swage_bits<unsigned short>(static_cast<_Float16>(x))}; }

//! swage:helper toBFloat16
inline BFloat16 toBFloat16(float x) {
  const unsigned bits = __float_as_uint(x);
  return {static_cast<unsigned short>(x != x ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

//! swage:helper Tap TapPair
struct alignas(8) Tap {
  int offset;
  unsigned int needs;
};
struct alignas(16) TapPair {
  Tap first;
  Tap second;
};

//! swage:helper magnitude
inline unsigned magnitude(float x) { return (__float_as_uint(x) << 1) + 0x01000000u; }

//! swage:helper packHalves
inline unsigned packHalves(float first, float second) {
  return toHalf(first).bits | static_cast<unsigned>(toHalf(second).bits) << 16;
}

//! swage:helper roundTiesAway
inline float roundTiesAway(float x) {
  const unsigned bits = __float_as_uint(x);
  return (bits & 0x7fffffffu) < 0x7f800000u ? __uint_as_float((bits + 0x1000u) & ~0x1fffu) : x;
}

//! swage:helper packHalvesAway
inline unsigned packHalvesAway(float first, float second) {
  return packHalves(roundTiesAway(first), roundTiesAway(second));
}

//! swage:helper packRest
inline unsigned packRest(unsigned pair, float first, float second) {
  return packHalves((first - toFloat(Half{static_cast<unsigned short>(pair & 0xffffu)})) * 2048.0f,
                    (second - toFloat(Half{static_cast<unsigned short>(pair >> 16)})) * 2048.0f);
}

//! swage:helper packLow
inline unsigned packLow(unsigned pair, float first, float second) {
  return packHalves(first - toFloat(Half{static_cast<unsigned short>(pair & 0xffffu)}),
                    second - toFloat(Half{static_cast<unsigned short>(pair >> 16)}));
}

//! swage:helper packBFloat16s
inline unsigned packBFloat16s(float first, float second) {
  return toBFloat16(first).bits | static_cast<unsigned>(toBFloat16(second).bits) << 16;
}

//! swage:helper powerOfTwo
inline float powerOfTwo(float x) { return x < -126.0f ? 0.0f : std::exp2(x); }

//! swage:helper storePiece
inline void storePiece(unsigned to, const unsigned (&piece)[4]) {
  if (to % 16 != 0) {
    __builtin_trap();
  }
  std::memcpy(emulation::sharedMemory + to, piece, 16);
}

//! swage:helper inside
template <class T>
inline bool inside(T at, int extent) { return at >= 0 && at < extent; }

//! swage:helper maximum
template <class T>
inline T maximum(T a, T b) { return a > b || a != a ? a : b; }

//! swage:helper minimum
template <class T>
inline T minimum(T a, T b) { return a < b || a != a ? a : b; }

//! swage:helper sharedAddress
inline unsigned sharedAddress(const void* x) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(x) - emulation::sharedMemory);
}

//! swage:helper copyAsync
inline void copyAsync(unsigned to, const void* from) {
  if (to % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0) {
    __builtin_trap();
  }
  emulation::current->open.push_back({to, from, 16});
}
inline void copyAsync(unsigned to, const void* from, bool isInside) { copyAsync(to, isInside ? from : nullptr); }

//! swage:helper copyFloat
inline void copyFloat(unsigned to, const float* from, bool isInside) {
  if (to % 4 != 0) {
    __builtin_trap();
  }
  emulation::current->open.push_back({to, isInside ? from : nullptr, 4});
}

//! swage:helper commitCopies
inline void commitCopies() {
  emulation::current->groups.push_back(std::move(emulation::current->open));
  emulation::current->open.clear();
}

//! swage:helper waitForCopies
template <int pending>
inline void waitForCopies() { emulation::finishCopies(pending); }

//! swage:helper swage_pair
inline unsigned swage_pair(unsigned first, unsigned second) {
  return swage_bits<unsigned short>(*reinterpret_cast<const short*>(emulation::sharedMemory + first)) |
         static_cast<unsigned>(
             swage_bits<unsigned short>(*reinterpret_cast<const short*>(emulation::sharedMemory + second)))
             << 16;
}

//! swage:helper loadMatrices
inline void loadMatrices(unsigned (&to)[4], unsigned row) {
  const auto given = emulation::exchange({row});
  const unsigned lane = threadIdx.x % 32;
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    const unsigned from = given[matrix * 8 + lane / 4][0] + lane % 4 * 4;
    to[matrix] = swage_pair(from, from + 2);
  }
}

//! swage:helper loadTransposed
inline void loadTransposed(unsigned (&to)[4], unsigned row) {
  const auto given = emulation::exchange({row});
  const unsigned lane = threadIdx.x % 32;
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    const unsigned first = matrix * 8 + lane % 4 * 2;
    to[matrix] = swage_pair(given[first][0] + lane / 4 * 2, given[first + 1][0] + lane / 4 * 2);
  }
}

//! swage:helper multiplyHalf multiplyBFloat16
// Adds as tensor cores do: exactly, then without what does not fit into a float.
inline float swage_cut(double x) {
  const float nearest = static_cast<float>(x);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(x) ? std::nextafterf(nearest, 0.0f) : nearest;
}
template <class Number>
inline void swage_multiply(float (&sum)[4], const unsigned (&left)[4], unsigned upper, unsigned lower) {
  const auto given = emulation::exchange({left[0], left[1], left[2], left[3], upper, lower});
  const unsigned lane = threadIdx.x % 32;
  const auto number = [](unsigned pair, unsigned half) {
    return static_cast<double>(toFloat(Number{static_cast<unsigned short>(half == 0 ? pair : pair >> 16)}));
  };
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8;
    const unsigned column = lane % 4 * 2 + i % 2;
    double exact = static_cast<double>(sum[i]);
    for (unsigned k = 0; k < 16; ++k) {
      const auto& a = given[row % 8 * 4 + k % 8 / 2];
      const auto& b = given[column * 4 + k % 8 / 2];
      exact += number(a[k / 8 * 2 + row / 8], k % 2) * number(b[4 + k / 8], k % 2);
    }
    sum[i] = swage_cut(exact);
  }
}
inline void multiplyHalf(float (&sum)[4], const unsigned (&left)[4], unsigned upper, unsigned lower) {
  swage_multiply<Half>(sum, left, upper, lower);
}
inline void multiplyBFloat16(float (&sum)[4], const unsigned (&left)[4], unsigned upper, unsigned lower) {
  swage_multiply<BFloat16>(sum, left, upper, lower);
}

//! swage:helper Vec
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vec {
  T item[N];
  T& operator[](int i) { return item[i]; }
};

//! swage:helper store
template <class T, int N>
inline void store(T* to, const Vec<T, N>& from) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Vec<T, N>) != 0) {
    __builtin_trap();
  }
  *reinterpret_cast<Vec<T, N>*>(to) = from;
}

//! swage:helper load
template <class T, int N>
inline Vec<T, N> load(const T* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Vec<T, N>) != 0) {
    __builtin_trap();
  }
  return *reinterpret_cast<const Vec<T, N>*>(from);
}

//! swage:helper loadStreaming
template <class T, int N>
inline Vec<T, N> loadStreaming(const T* from) { return load<T, N>(from); }

//! swage:helper storeStreaming
template <class T, int N>
inline void storeStreaming(T* to, const Vec<T, N>& from) { store<T, N>(to, from); }

//! swage:helper invert
inline float invert(float x) { return 1.0f / x; }

//! swage:helper divide
inline float divide(float x, float y) { return x / y; }

//! swage:helper inverseOf
inline float inverseOf(int count) { return 1.0f / static_cast<float>(count); }

//! swage:helper logistic
inline float logistic(float x) { return invert(1.0f + expf(-x)); }

//! swage:helper publishPart
inline void publishPart(unsigned long long* place, float x) { *place = (1ull << 32) | __float_as_uint(x); }

//! swage:helper publishNumber
inline void publishNumber(unsigned int* place, float x) {
  const unsigned int bits = ~__float_as_uint(x);
  *place = bits == 0 ? 0x80000000u : bits;
}

//! swage:helper peekNumbers
// Whoever looks too early lets the other blocks go on.
inline bool peekNumbers(const unsigned int* place, float& x) {
  const unsigned int bits = *place;
  x = __uint_as_float(~bits);
  if (bits == 0) {
    emulation::yieldToOthers();
  }
  return bits != 0;
}
inline bool peekNumbers(const unsigned int* place, float4& x) {
  const bool a = peekNumbers(place, x.x);
  const bool b = peekNumbers(place + 1, x.y);
  const bool c = peekNumbers(place + 2, x.z);
  const bool d = peekNumbers(place + 3, x.w);
  return a && b && c && d;
}

//! swage:helper roundToTf32
inline float roundToTf32(float x) {
  const unsigned bits = __float_as_uint(x);
  return x == x ? __uint_as_float((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu) : x;
}
inline float4 roundToTf32(const float4& x) {
  return make_float4(roundToTf32(x.x), roundToTf32(x.y), roundToTf32(x.z), roundToTf32(x.w));
}

//! swage:helper sumOverLanes
// Adds up the first `Count` numbers that neighbouring lanes have. A lane is left with some of the sums: it returns which
// is its first, and `mine` is how many.
template <int Lanes, int Count, int Size>
__device__ inline int sumOverLanes(float (&x)[Size], int lane, int& mine) {
  constexpr int half = (Count + 1) / 2;
  const bool isUpper = (lane & (Lanes / 2)) != 0;
  for (int i = 0; i < half; ++i) {
    const float lower = x[i];
    const float upper = i + half < Count ? x[i + half] : 0.0f;
    x[i] = (isUpper ? upper : lower) + __shfl_xor_sync(0xffffffffu, isUpper ? lower : upper, Lanes / 2);
  }
  mine = isUpper ? max(mine - half, 0) : min(mine, half);
  const int first = isUpper ? half : 0;
  if constexpr (Lanes > 2) {
    return first + sumOverLanes<Lanes / 2, half>(x, lane, mine);
  }
  return first;
}

//! swage:helper awaitPart
inline float awaitPart(const unsigned long long* place) {
  if (*place >> 32 == 0) {
    __builtin_trap();  // blocks run one after another
  }
  return __uint_as_float(static_cast<unsigned>(*place));
}

//! swage:helper initBarrier expectBytes arriveAt waitFor publishBarriers
inline void initBarrier(unsigned barrier, int arrivals) {
  emulation::phaseBarriers[barrier] = {arrivals, arrivals, 0, 0};
}
inline void expectBytes(unsigned barrier, int bytes) {
  emulation::phaseBarriers.at(barrier).bytes += bytes;
  emulation::arriveAt(barrier);
}
inline void arriveAt(unsigned barrier, int /*block*/) { emulation::arriveAt(barrier); }
inline void waitFor(unsigned barrier, int parity) { emulation::waitForPhase(barrier, parity); }
inline void publishBarriers() {}

//! swage:helper publishShared takeRegisters giveRegisters
inline void publishShared() {}
template <int count>
inline void takeRegisters() {}
template <int count>
inline void giveRegisters() {}

//! swage:helper SplitFour splitFour
struct SplitFour {
  unsigned high[2], low[2];
};
inline SplitFour splitFour(const float (&x)[4], float scale) {
  SplitFour parts{};
  for (unsigned i = 0; i < 4; ++i) {
    const float scaled = x[i] * scale;
    const auto high = static_cast<_Float16>(scaled);
    const auto low = static_cast<_Float16>(scaled - static_cast<float>(high));
    parts.high[i / 2] |= static_cast<unsigned>(swage_bits<unsigned short>(high)) << i % 2 * 16;
    parts.low[i / 2] |= static_cast<unsigned>(swage_bits<unsigned short>(low)) << i % 2 * 16;
  }
  return parts;
}

//! swage:helper storeFour
inline void storeFour(unsigned to, const unsigned (&x)[2]) { std::memcpy(emulation::sharedMemory + to, x, 8); }

//! swage:helper isOutOfRange
inline bool isOutOfRange(unsigned bits) {
  const float x = __uint_as_float(bits);
  return x != 0.0f && !(x >= 0.0009765625f && x <= 63.0f);
}

//! swage:helper storeRow waitForStores
inline void storeRow(float* to, const float* from, int bytes) {
  if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0 ||
      bytes % 16 != 0) {
    __builtin_trap();
  }
  emulation::current->stores.push_back({to, from, static_cast<std::size_t>(bytes)});
}
inline void waitForStores() {
  for (const emulation::RowCopy& copy : emulation::current->stores) {
    std::memcpy(copy.to, copy.from, copy.bytes);
  }
  emulation::current->stores.clear();
}

//! swage:helper bringBytes
inline void bringBytes(unsigned to, const void* from, int bytes, unsigned barrier) {
  if (to % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0 || bytes % 16 != 0) {
    __builtin_trap();
  }
  std::memcpy(emulation::sharedMemory + to, from, static_cast<std::size_t>(bytes));
  emulation::bytesCame(barrier, bytes);
}

//! swage:helper plainDescriptor
inline unsigned long long plainDescriptor(unsigned tile, int lead, int stride) {
  return (tile & 0x3ffffull) >> 4 | static_cast<unsigned long long>(lead >> 4) << 16 |
         static_cast<unsigned long long>(stride >> 4) << 32;
}

//! swage:helper syncThreads
template <int count>
inline void syncThreads(int barrier) {
  emulation::Barrier& named = emulation::namedBarriers[100 + barrier];
  named.count = count;
  emulation::wait(named);
}

//! swage:helper tileDescriptor
inline unsigned long long tileDescriptor(unsigned tile, int lead = 8192) {
  if (tile % 1024 != 0) {
    __builtin_trap();
  }
  return (tile & 0x3ffffull) >> 4 | static_cast<unsigned long long>(lead >> 4) << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

//! swage:helper TensorMap
// What the emulator passes on in its place.
using TensorMap = emulation::TensorMap;

//! swage:helper bringTile bringTile4D bringTile5D
inline void bringTile(unsigned to, const TensorMap& from, unsigned barrier, int x, int y, int z) {
  emulation::bringTile(to, from, barrier, {x, y, z, 0, 0});
}
inline void bringTile4D(unsigned to, const TensorMap& from, unsigned barrier, int x, int y, int z, int w) {
  emulation::bringTile(to, from, barrier, {x, y, z, w, 0});
}
inline void bringTile5D(unsigned to, const TensorMap& from, unsigned barrier, int x, int y, int z, int w, int v) {
  emulation::bringTile(to, from, barrier, {x, y, z, w, v});
}

//! swage:helper makeHere
template <int count>
inline void makeHere(float (&)[count]) {}

//! swage:helper turnQuads
inline void turnQuads(unsigned (&words)[4]) {
  const auto given = emulation::exchange({words[0], words[1], words[2], words[3]});
  const unsigned lane = threadIdx.x % 32;
  for (unsigned from = 0; from < 4; ++from) {
    words[from] = given[lane / 4 * 4 + from][lane % 4];
  }
}

//! swage:helper loadWords
inline void loadWords(unsigned (&words)[4], const void* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0) {
    __builtin_trap();
  }
  std::memcpy(words, from, 16);
}

//! swage:helper storeWords
inline void storeWords(void* to, const unsigned (&words)[4]) {
  if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0) {
    __builtin_trap();
  }
  std::memcpy(to, words, 16);
}

//! swage:helper openProducts closeProducts waitForProducts
template <int count>
inline void openProducts(float (&)[count]) {
  emulation::waitForGroup();
}
inline void closeProducts() {}
template <int pending, int count>
inline void waitForProducts(float (&)[count]) {
  emulation::waitForGroup();
}

//! swage:helper takeTurn giveTurn
inline void takeTurn(int group) {
  emulation::Barrier& barrier = emulation::namedBarriers[1 + group];
  barrier.count = 256;
  emulation::wait(barrier);
}
inline void giveTurn(int group) { emulation::arrive(emulation::namedBarriers[1 + group], 256); }

//! swage:helper ExactSum
template <class T>
struct ExactSum {
  T sum = 0;
  T lost = 0;
  void add(T x) {
    const T next = sum + x;
    const T added = next - sum;
    lost += (sum - (next - added)) + (x - added);
    sum = next;
  }
  T settled() const { return lost == lost ? sum + lost : sum; }
};

//! swage:helper reduceWarp
// A word of each lane at a time.
template <class T, class Move>
inline T moveWords(T x, Move move) {
  unsigned words[sizeof(T) / 4];
  std::memcpy(words, &x, sizeof(T));
  for (unsigned& word : words) {
    word = move(word);
  }
  std::memcpy(&x, words, sizeof(T));
  return x;
}
template <int Lanes = 32, class T, class Join>
inline T reduceWarp(T x, Join join) {
  for (int mask = Lanes / 2; mask > 0; mask /= 2) {
    x = join(x, moveWords(x, [=](unsigned word) { return __shfl_xor_sync(0xffffffffu, word, mask); }));
  }
  return moveWords(x, [](unsigned word) { return __shfl_sync(0xffffffffu, word, 0, Lanes); });
}

//! swage:helper reduceBlock
template <class T, int Warps, class Join>
inline T reduceBlock(T x, T (&parts)[Warps], T none, Join join) {
  x = reduceWarp(x, join);
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = x;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    x = reduceWarp(threadIdx.x < Warps ? parts[threadIdx.x] : none, join);
    if (threadIdx.x == 0) {
      parts[0] = x;
    }
  }
  __syncthreads();
  return parts[0];
}
