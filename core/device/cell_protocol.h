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

inline constexpr std::uint32_t kCellVersion = 1;
inline constexpr std::size_t kCellBuffers = 256;
inline constexpr std::size_t kCellArguments = 256;
inline constexpr std::size_t kCellEntries = 64;

// Descriptors that swage-cell is started with.
inline constexpr int kCellControlFd = 3;
inline constexpr int kCellBinaryFd = 4;
inline constexpr int kCellInputsFd = 5;  // opened for reading only: no mapping of it can become writable
inline constexpr int kCellOutputsFd = 6;

enum class CellCommand : std::uint32_t {
  Bind,     // finds the symbol `entry` and keeps it as the next number; entry 0 is a function that does nothing
  Call,     // of the entry `number`
  Renew,    // gives back what the threads' stacks held and puts their arithmetic right
  Inspect,  // whether a thread's arithmetic is another than at the beginning
};

enum class CellState : std::uint32_t { Starting, Ready, Failed };
enum class CellAnswer : std::uint32_t { Ok, NotFound, ArithmeticChanged };

// Pages of one of the two files, of which `bytes` from `start` on are the buffer. Beside the pages lie guard pages.
struct CellBuffer {
  std::uint64_t pageOffset = 0;  // in the file
  std::uint64_t pageBytes = 0;
  std::uint64_t start = 0;  // from the first page's beginning
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
  std::atomic<std::uint32_t> state{0};    // a CellState
  std::atomic<std::uint32_t> request{0};  // futexes
  std::atomic<std::uint32_t> done{0};
  CellCommand command = CellCommand::Call;
  CellAnswer answer = CellAnswer::Ok;
  std::uint32_t number = 0;
  std::uint32_t arguments = 0;
  std::array<char, 256> entry{};    // ends with a zero
  std::array<char, 256> message{};  // why the cell could not start
  std::array<CellBuffer, kCellBuffers> buffer{};
  std::array<CellArgument, kCellArguments> argument{};
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

}  // namespace swage::device
