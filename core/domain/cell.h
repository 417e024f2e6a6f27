// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/program_lines.h"

// The 36 behaviour cells (ARCHITECTURE.md, "Cells"). Coordinates come from compiled code and the launch plan only.
namespace swage::domain {

enum class DataMovement : std::uint8_t { Direct, Wide, Staged, Pipelined };          // axis A
enum class Arithmetic : std::uint8_t { Scalar, Packed, TensorCore };                 // axis B
enum class Decomposition : std::uint8_t { SeveralLaunches, OneLaunch, InterBlock };  // axis C

inline constexpr int kCellCount = 36;

struct Cell {
  DataMovement movement = DataMovement::Direct;
  Arithmetic arithmetic = Arithmetic::Scalar;
  Decomposition decomposition = Decomposition::OneLaunch;

  // 0..35: (A * 3 + B) * 3 + C.
  [[nodiscard]] int index() const;
  [[nodiscard]] static Cell fromIndex(int index);
  [[nodiscard]] std::string name() const;  // "A2B0C1"
  [[nodiscard]] static std::optional<Cell> parse(std::string_view text);
  friend bool operator==(const Cell&, const Cell&) = default;
};

[[nodiscard]] std::string_view describe(DataMovement value);
[[nodiscard]] std::string_view describe(Arithmetic value);
[[nodiscard]] std::string_view describe(Decomposition value);

// Cells that differ in one step on one axis.
[[nodiscard]] std::vector<Cell> neighbours(const Cell& cell);

// What the compiler and the disassembly say of one kernel of a binary.
struct KernelFacts {
  std::string entry;
  DataMovement movement = DataMovement::Direct;
  Arithmetic arithmetic = Arithmetic::Scalar;
  bool interBlock = false;
  int registers = 0;            // per thread; 0 where it has no meaning
  std::int64_t spillBytes = 0;  // per thread
  std::int64_t staticSharedBytes = 0;
  std::map<std::string, std::int64_t> evidence;  // matched instruction counts: "ld.global.v4" -> 8
  std::vector<ProgramLines> lines = {};          // of its part, if it was compiled separately
};

// The cell of a candidate: the maximum of A and B over its kernels, C from its launches.
// `launchCount` counts kernel launches and ATen steps of one call.
[[nodiscard]] Cell classify(const std::vector<KernelFacts>& kernels, int launchCount);

}  // namespace swage::domain
