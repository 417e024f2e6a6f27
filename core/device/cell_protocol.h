// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace swage::device {

// What a cell and its parent share beside the buffers. The parent writes before it raises `request`; the cell answers
// by making `done` the same number. The code in a cell may write anything here, so the parent believes nothing but that
// `done` has its number, keeps its own copy of what it asked, and takes the time by its own clock.
// Uses nothing but the standard library: swage-cell is built from it and links nothing of Swage.

inline constexpr std::uint32_t kCellVersion = 4;
inline constexpr std::size_t kCellBuffers = 4096;
inline constexpr std::size_t kCellArguments = 1024;
inline constexpr std::size_t kCellEntries = 1024;
inline constexpr std::size_t kCellThreads = 1024;  // that can be told where to be

// Descriptors that swage-cell is started with.
inline constexpr int kCellControlFd = 3;
inline constexpr int kCellBinaryFd = 4;
inline constexpr int kCellInputsFd = 5;  // opened for reading only: no mapping of it can become writable
inline constexpr int kCellOutputsFd = 6;

enum class CellCommand : std::uint32_t {
  Bind,     // finds the symbol `entry` and keeps it as the next number; entry 0 is a function that does nothing
  Arrange,  // the arguments for the next call
  Call,     // of the entry `number`, with the arguments that were arranged
  Zero,     // the first argument's buffer
  CopyIn,   // what is shared of the arguments' buffers into this process' own memory
  CopyOut,  // and back
  Clear,    // own memory of what kernels write: no old answers stay in it
  Warm,     // the threads of the team are awake when this ends, each on its processor of `processor`
  Renew,    // gives back what the threads' stacks held and puts their arithmetic right
  Inspect,  // whether a thread's arithmetic is another than at the beginning, and what lies beside own memory
};

// Which memory a command is about: what is shared with the parent, where inputs cannot be written; or memory of the
// cell's own, in such pages as the system gives to a program that asks for none. Inputs have several of those, which
// take turns: kCellShared + 1 and so on.
inline constexpr std::uint32_t kCellShared = 0;
inline constexpr std::uint32_t kCellPlaces = 64;

// Why a cell died, as far as it could still say. For messages: the code in a cell may write here, too.
enum class CellFault : std::uint32_t { None, WroteInput, BesideBuffer, Clock, Elsewhere };

// What the system did not offer to keep the code in with.
enum CellGap : std::uint32_t { kCellNoLandlock = 1, kCellNoSeccomp = 2 };

enum class CellState : std::uint32_t { Starting, Ready, Failed };
enum class CellAnswer : std::uint32_t { Ok, NotFound, NoMemory, ArithmeticChanged, WroteBeside };

// Pages of one of the two files, of which `bytes` from `start` on are the buffer. Beside the pages lie guard pages.
struct CellBuffer {
  std::uint64_t pageOffset = 0;  // in the file
  std::uint64_t pageBytes = 0;
  std::uint64_t start = 0;  // from the first page's beginning
  std::uint64_t bytes = 0;
  std::uint32_t isReadOnly = 0;
  std::uint32_t unused = 0;
};

struct CellArgument {
  std::uint64_t value = 0;  // the bits of a number, or which buffer
  std::uint32_t isBuffer = 0;
  std::uint32_t unused = 0;
};

struct CellControl {
  std::uint32_t version = kCellVersion;
  std::uint32_t threads = 1;
  std::uint32_t buffers = 0;
  std::uint32_t parent = 0;      // a process id
  std::uint32_t deniesTime = 0;  // the processor's counter of time cannot be read; costs some microseconds a call
  std::uint32_t gaps = 0;        // of CellGap
  std::atomic<std::uint32_t> state{0};    // a CellState
  std::atomic<std::uint32_t> request{0};  // futexes
  std::atomic<std::uint32_t> done{0};
  CellCommand command = CellCommand::Call;
  CellAnswer answer = CellAnswer::Ok;
  std::uint32_t number = 0;
  std::uint32_t arguments = 0;
  std::uint32_t place = kCellShared;
  std::uint32_t isConfined = 0;         // threads that are started may use what the one that starts them may; else all
  std::atomic<std::uint32_t> fault{0};  // a CellFault
  std::uint32_t faultBuffer = 0;
  std::uint32_t faultWrites = 0;
  std::array<char, 256> entry{};                       // ends with a zero
  std::array<char, 256> message{};                     // why the cell could not start
  std::array<std::int32_t, kCellThreads> processor{};  // by the team's threads; -1: any. The first one stays
  std::array<CellBuffer, kCellBuffers> buffer{};
  std::array<CellArgument, kCellArguments> argument{};
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

}  // namespace swage::device
