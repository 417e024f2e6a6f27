// SPDX-License-Identifier: Apache-2.0
// CUDA C++ on a processor, as far as the written kernels use it, so that their indices, tails and numbers can be tested
// without a device. Included in front of a kernel's text (see emulator.h). A thread of a block is a context of its own;
// they run in turn, each until it waits for others. Blocks run one after another, those of a cooperative launch in
// turn.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

using std::max;
using std::min;

struct alignas(16) float4 {
  float x;
  float y;
  float z;
  float w;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}

struct Index3 {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};

namespace emulation {

// Threads that wait for each other.
struct Barrier {
  int count = 0;
  int arrived = 0;
  int generation = 0;
  int sum = 0;   // of what they bring
  int last = 0;  // that of the generation before
};

struct Copy {
  unsigned to = 0;
  const void* from = nullptr;  // null: zeros
  unsigned bytes = 16;
};

// A barrier in shared memory, of which one phase after another ends.
struct PhaseBarrier {
  int arrivals = 0;
  int missing = 0;
  int phase = 0;
  int bytes = 0;  // that have been announced and not come
};

// A copy to memory that may be made as late as when its thread waits.
struct RowCopy {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

// A buffer as the copy engine sees it (domain::TensorMap), with its address.
struct TensorMap {
  unsigned char* data = nullptr;
  int rank = 0;
  int bytes = 0;  // of an element
  bool isSwizzled = false;
  std::array<std::int64_t, 5> sizes{};
  std::array<std::int64_t, 5> strides{};  // in bytes
  std::array<int, 5> box{};
};

struct Warp {
  Barrier barrier;
  int turn = 0;
  std::array<std::array<std::array<unsigned, 8>, 32>, 2> given{};  // by turn, lane
};

#if defined(__x86_64__)
// The saved registers of a thread or of the scheduler, on its own stack. swapcontext makes a system call at each
// switch, which took half of the time of a test.
struct Context {
  void** stack = nullptr;

  [[gnu::naked, gnu::noinline]] static void jump(void*** from, void** to) {
    asm("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
        "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret");
  }
  void begin(char* bytes, std::size_t count, void (*function)()) {
    const auto end = reinterpret_cast<std::uintptr_t>(bytes + count) / 16 * 16;
    stack = reinterpret_cast<void**>(end) - 8;  // six registers, the function, and where it would return to
    std::fill_n(stack, 8, nullptr);
    stack[6] = reinterpret_cast<void*>(function);
  }
  void leaveFor(Context& other) { jump(&stack, other.stack); }
};
#else
struct Context {
  ucontext_t context{};

  void begin(char* bytes, std::size_t count, void (*function)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = bytes;
    context.uc_stack.ss_size = count;
    makecontext(&context, function, 0);
  }
  void leaveFor(Context& other) { swapcontext(&context, &other.context); }
};
#endif

// Of a thread; the next block's threads get the same ones.
inline constexpr std::size_t kStackBytes = std::size_t{128} << 10;
inline std::vector<std::unique_ptr<char[]>> spareStacks;
class Stack {
 public:
  Stack() {
    if (spareStacks.empty()) {
      m_bytes.reset(new char[kStackBytes]);
    } else {
      m_bytes = std::move(spareStacks.back());
      spareStacks.pop_back();
    }
  }
  ~Stack() { spareStacks.push_back(std::move(m_bytes)); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  char* data() { return m_bytes.get(); }

 private:
  std::unique_ptr<char[]> m_bytes;
};

struct Thread {
  Stack stack;
  Context context;
  Index3 index;
  Warp* warp = nullptr;
  int exchanges = 0;
  bool isDone = false;
  std::vector<Copy> open;                 // copies that are not committed
  std::vector<std::vector<Copy>> groups;  // the oldest first
  std::vector<RowCopy> stores;
};

inline Context scheduler;
inline Thread* current = nullptr;
inline Index3 block;
inline Index3 grid;
inline Barrier blockBarrier;
inline std::map<int, Barrier> namedBarriers;
inline std::map<unsigned, PhaseBarrier> phaseBarriers;  // by address
inline std::function<void()> body;
alignas(1024) inline unsigned char sharedMemory[256 << 10];

inline void yield() {
  current->context.leaveFor(scheduler);
}

// The sum of what all bring.
inline int wait(Barrier& barrier, int brings = 0) {
  const int generation = barrier.generation;
  barrier.sum += brings;
  if (++barrier.arrived == barrier.count) {
    barrier.last = barrier.sum;
    barrier.arrived = barrier.sum = 0;
    ++barrier.generation;
    return barrier.last;
  }
  while (barrier.generation == generation) {
    yield();
  }
  return barrier.last;
}

// Comes to a barrier that ends when `count` threads have come, and goes on.
inline void arrive(Barrier& barrier, int count) {
  barrier.count = count;
  if (++barrier.arrived == count) {
    barrier.arrived = 0;
    ++barrier.generation;
  }
}

inline void endPhase(PhaseBarrier& phase) {
  if (phase.missing == 0 && phase.bytes == 0) {
    phase.missing = phase.arrivals;
    phase.phase ^= 1;
  }
}
inline void arriveAt(unsigned barrier) {
  PhaseBarrier& phase = phaseBarriers.at(barrier);
  --phase.missing;
  endPhase(phase);
}
inline void bytesCame(unsigned barrier, int bytes) {
  PhaseBarrier& phase = phaseBarriers.at(barrier);
  phase.bytes -= bytes;
  endPhase(phase);
}
inline void waitForPhase(unsigned barrier, int parity) {
  while (phaseBarriers.at(barrier).phase == parity) {
    yield();
  }
}

// The box of a map that begins at `first`; what lies outside of the tensor is zero. Pieces of 16 bytes are exchanged
// within 1 KiB where the map says so.
inline void bringTile(unsigned to, const TensorMap& map, unsigned barrier, const std::array<int, 5>& first) {
  if (to % (map.isSwizzled ? 1024 : 128) != 0) {
    __builtin_trap();
  }
  int count = 1;
  for (int i = 0; i < map.rank; ++i) {
    count *= map.box[static_cast<std::size_t>(i)];
  }
  for (int at = 0; at < count; ++at) {
    bool isInside = true;
    std::int64_t from = 0;
    int rest = at;
    for (std::size_t i = 0; i < static_cast<std::size_t>(map.rank); ++i) {
      const std::int64_t place = first[i] + rest % map.box[i];
      rest /= map.box[i];
      isInside = isInside && place >= 0 && place < map.sizes[i];
      from += place * map.strides[i];
    }
    unsigned place = to + static_cast<unsigned>(at * map.bytes);
    place ^= map.isSwizzled ? (place >> 7 & 7u) << 4 : 0u;
    if (isInside) {
      std::memcpy(sharedMemory + place, map.data + from, static_cast<std::size_t>(map.bytes));
    } else {
      std::memset(sharedMemory + place, 0, static_cast<std::size_t>(map.bytes));
    }
  }
  bytesCame(barrier, count * map.bytes);
}

// All 128 threads of a warp group.
inline void waitForGroup() {
  Barrier& barrier = namedBarriers[-1 - static_cast<int>(current->index.x / 128)];
  barrier.count = 128;
  wait(barrier);
}

// What all lanes of the warp give.
inline const std::array<std::array<unsigned, 8>, 32>& exchange(const std::array<unsigned, 8>& mine) {
  Warp& warp = *current->warp;
  auto& given = warp.given[static_cast<std::size_t>(current->exchanges++ % 2)];
  given[current->index.x % 32] = mine;
  wait(warp.barrier);
  return given;
}

// At the last moment that is allowed, so that whoever reads too early reads something old.
inline void finishCopies(std::size_t pending) {
  auto& groups = current->groups;
  while (groups.size() > pending) {
    for (const Copy& copy : groups.front()) {
      if (copy.from != nullptr) {
        std::memcpy(sharedMemory + copy.to, copy.from, copy.bytes);
      } else {
        std::memset(sharedMemory + copy.to, 0, copy.bytes);
      }
    }
    groups.erase(groups.begin());
  }
}

inline void start() {
  body();
  current->isDone = true;
  yield();
}

// The threads of one block.
class Team {
 public:
  explicit Team(unsigned threads) : m_warps(threads / 32) {
    for (Warp& warp : m_warps) {
      warp.barrier.count = 32;
    }
    for (unsigned i = 0; i < threads; ++i) {
      Thread& thread = *m_threads.emplace_back(std::make_unique<Thread>());
      thread.index.x = i;
      thread.warp = &m_warps[i / 32];
      thread.context.begin(thread.stack.data(), kStackBytes, start);
    }
  }

  // Each thread until it waits. Whether some are left.
  bool runOnce() {
    bool isRunning = false;
    for (const auto& thread : m_threads) {
      if (!thread->isDone) {
        current = thread.get();
        scheduler.leaveFor(thread->context);
        isRunning = true;
      }
    }
    return isRunning;
  }

 private:
  std::vector<Warp> m_warps;
  std::vector<std::unique_ptr<Thread>> m_threads;
};

inline void runBlock(unsigned threads) {
  std::memset(sharedMemory, 0xFF, sizeof sharedMemory);  // NaN
  blockBarrier = {static_cast<int>(threads)};
  namedBarriers.clear();
  phaseBarriers.clear();
  Team team(threads);
  while (team.runOnce()) {
  }
}

// A thread that waits for another block.
inline bool wantsOthers = false;
inline void yieldToOthers() {
  wantsOthers = true;
  yield();
}

// All blocks at once: each runs until some thread of it waits for another block. What the running block has in dynamic
// shared memory and in its barrier is kept beside while others run; it may have no other memory or barriers.
inline void runTogether(unsigned blocks, unsigned threads, std::size_t sharedBytes) {
  struct Resident {
    Team team;
    Barrier barrier;
    std::vector<unsigned char> memory;
    bool isRunning = true;
  };
  std::vector<Resident> all;
  for (unsigned i = 0; i < blocks; ++i) {
    all.push_back({Team(threads), {static_cast<int>(threads)}, std::vector<unsigned char>(sharedBytes, 0xFF)});
  }
  for (bool isRunning = true; isRunning;) {
    isRunning = false;
    for (unsigned i = 0; i < blocks; ++i) {
      Resident& resident = all[i];
      block.x = i;
      blockBarrier = resident.barrier;
      std::copy(resident.memory.begin(), resident.memory.end(), sharedMemory);
      wantsOthers = false;
      while (resident.isRunning && !wantsOthers) {
        resident.isRunning = resident.team.runOnce();
      }
      std::copy_n(sharedMemory, sharedBytes, resident.memory.begin());
      resident.barrier = blockBarrier;
      isRunning = isRunning || resident.isRunning;
    }
  }
}

template <std::size_t... I>
void call(void* kernel, void** pointers, std::index_sequence<I...>) {
  using Any = void (*)(decltype(static_cast<void>(I), static_cast<void*>(nullptr))...);
  reinterpret_cast<Any>(kernel)(pointers[I]...);
}

template <std::size_t Count = 0>
void callWith(void* kernel, void** pointers, std::size_t count) {
  if constexpr (Count <= 48) {
    if (count == Count) {
      call(kernel, pointers, std::make_index_sequence<Count>());
    } else {
      callWith<Count + 1>(kernel, pointers, count);
    }
  }
}

}  // namespace emulation

// All arguments of the kernel are words: pointers, references to tensor maps, or whole numbers.
extern "C" __attribute__((visibility("default"))) inline __attribute__((used)) void swage_emulate(
    void* kernel, unsigned blocks, unsigned threads, void** pointers, std::size_t count) {
  emulation::body = [=] { emulation::callWith(kernel, pointers, count); };
  emulation::grid.x = blocks;
  for (unsigned i = 0; i < blocks; ++i) {
    emulation::block.x = i;
    emulation::runBlock(threads);
  }
}

// The same for a cooperative launch.
extern "C" __attribute__((visibility("default"))) inline __attribute__((used)) void swage_emulate_together(
    void* kernel, unsigned blocks, unsigned threads, std::size_t sharedBytes, void** pointers, std::size_t count) {
  emulation::body = [=] { emulation::callWith(kernel, pointers, count); };
  emulation::grid.x = blocks;
  emulation::runTogether(blocks, threads, sharedBytes);
}

#define threadIdx (emulation::current->index)
#define blockIdx (emulation::block)
#define gridDim (emulation::grid)

inline void __syncthreads() {
  emulation::wait(emulation::blockBarrier);
}
inline int __syncthreads_or(int condition) {
  return emulation::wait(emulation::blockBarrier, condition != 0 ? 1 : 0) > 0 ? 1 : 0;
}

template <class To, class From>
To swage_bits(From from) {
  To to{};
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline void __syncwarp() {
  emulation::wait(emulation::current->warp->barrier);
}
// What the lane `from` gives.
template <class T>
T swage_fromLane(T x, unsigned from) {
  static_assert(sizeof(T) <= 8);
  std::array<unsigned, 8> words{};
  std::memcpy(words.data(), &x, sizeof x);
  std::memcpy(&x, emulation::exchange(words)[from].data(), sizeof x);
  return x;
}
// The product rounded up.
inline float __fmul_ru(float a, float b) {
  const double exact = static_cast<double>(a) * static_cast<double>(b);
  const auto near = static_cast<float>(exact);
  return static_cast<double>(near) < exact ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

template <class T>
T __shfl_xor_sync(unsigned /*lanes*/, T x, int mask) {
  return swage_fromLane(x, (threadIdx.x % 32) ^ static_cast<unsigned>(mask));
}
template <class T>
T __shfl_sync(unsigned /*lanes*/, T x, int from, int width = 32) {
  const unsigned lane = threadIdx.x % 32;
  return swage_fromLane(x, lane - lane % static_cast<unsigned>(width) + static_cast<unsigned>(from));
}
// Lanes at the end keep their own.
template <class T>
T __shfl_up_sync(unsigned /*lanes*/, T x, unsigned distance) {
  const unsigned lane = threadIdx.x % 32;
  return swage_fromLane(x, lane < distance ? lane : lane - distance);
}
template <class T>
T __shfl_down_sync(unsigned /*lanes*/, T x, unsigned distance) {
  const unsigned lane = threadIdx.x % 32;
  return swage_fromLane(x, lane + distance > 31 ? lane : lane + distance);
}
// The C library declares another function of this name.
#define __expf expf
inline float __fdividef(float x, float y) {
  return x / y;
}
inline int __any_sync(unsigned /*lanes*/, int condition) {
  int any = 0;
  for (const auto& given : emulation::exchange({condition != 0 ? 1U : 0U})) {
    any |= static_cast<int>(given[0]);
  }
  return any;
}
inline unsigned __reduce_max_sync(unsigned /*lanes*/, unsigned x) {
  unsigned most = 0;
  for (const auto& of : emulation::exchange({x})) {
    most = std::max(most, of[0]);
  }
  return most;
}
inline float __int_as_float(int x) {
  return swage_bits<float>(x);
}
inline int __float_as_int(float x) {
  return swage_bits<int>(x);
}
inline int atomicAdd(int* at, int value) {
  return std::exchange(*at, *at + value);
}
inline int atomicMax(int* at, int value) {
  return std::exchange(*at, std::max(*at, value));
}
inline unsigned atomicMax(unsigned* at, unsigned value) {
  return std::exchange(*at, std::max(*at, value));
}
inline unsigned __float_as_uint(float x) {
  return swage_bits<unsigned>(x);
}
inline float __uint_as_float(unsigned x) {
  return swage_bits<float>(x);
}

namespace emulation {

// Of a tile for wgmma, element (line, depth) in halves of 16 bits; the descriptor is that of tileDescriptor, where
// pieces of 16 bytes are exchanged by three bits of their address, or of plainDescriptor.
inline double halfOf(unsigned long long descriptor, unsigned line, unsigned depth, bool isAlongLines) {
  const auto field = [&](int shift) { return static_cast<unsigned>(descriptor >> shift & 0x3fffu) << 4; };
  const unsigned along = isAlongLines ? line / 64 * field(16) + depth / 8 * field(32) + depth % 8 * 128 + line % 64 * 2
                                      : line / 8 * field(32) + line % 8 * 128 + depth * 2;
  unsigned at = field(0) + along;
  if (descriptor >> 62 == 0) {
    at = field(0) + line / 8 * field(32) + line % 8 * 16 + depth / 8 * field(16) + depth % 8 * 2;
  } else {
    at ^= (at >> 7 & 7u) << 4;
  }
  _Float16 value{};
  std::memcpy(&value, sharedMemory + at, sizeof value);
  return static_cast<double>(value);
}

// Without the bits that do not fit into a float, as tensor cores add.
inline float cutOff(double exact) {
  const auto nearest = static_cast<float>(exact);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(exact) ? std::nextafterf(nearest, 0.0f) : nearest;
}

// The same with the left operand in registers, as the PTX manual draws its fragments.
template <int count>
void multiplyRegisters(float (&sums)[count], const unsigned (&left)[4], unsigned long long right, bool keeps,
                       bool isRightAlongLines) {
  const auto given = exchange({left[0], left[1], left[2], left[3]});
  const unsigned lane = current->index.x % 32;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    double exact = keeps ? static_cast<double>(sums[i]) : 0.0;
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned pair = given[lane / 4 * 4 + k % 8 / 2][k / 8 * 2 + i / 2 % 2];
      const auto half = swage_bits<_Float16>(static_cast<unsigned short>(k % 2 == 0 ? pair : pair >> 16));
      exact += static_cast<double>(half) * halfOf(right, column, k, isRightAlongLines);
    }
    sums[i] = cutOff(exact);
  }
}

// The thread's share of wgmma.m64nNk16.
template <int count>
void multiplyTiles(float (&sums)[count], unsigned long long left, unsigned long long right, bool keeps,
                   bool isLeftAlongLines, bool isRightAlongLines) {
  const unsigned lane = current->index.x % 32;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned row = current->index.x % 128 / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
    const unsigned column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    double exact = keeps ? static_cast<double>(sums[i]) : 0.0;
    for (unsigned k = 0; k < 16; ++k) {
      exact += halfOf(left, row, k, isLeftAlongLines) * halfOf(right, column, k, isRightAlongLines);
    }
    sums[i] = cutOff(exact);
  }
}

}  // namespace emulation
