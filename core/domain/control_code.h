// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// What the compiler tells the scheduler beside each instruction, since Volta: bits 105 to 125 of its 128 bits, as
// Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (arXiv 1804.06826), section 2.1,
// found them. They are the same on sm_90.
namespace swage::domain {

struct ControlCode {
  std::uint8_t stall = 0;         // cycles until the next instruction of the warp may issue, 0 to 15
  bool yields = false;            // the scheduler prefers another warp next
  std::uint8_t writeBarrier = 7;  // released when the result is written; 7: none
  std::uint8_t readBarrier = 7;   // released when the operands are read; 7: none
  std::uint8_t waits = 0;         // barriers that must be released first, a bit each of six
  std::uint8_t reuse = 0;         // operands kept in the register cache, a bit each of four
  friend bool operator==(const ControlCode&, const ControlCode&) = default;
};

// `bits`: the 21 bits, the lowest first.
[[nodiscard]] ControlCode controlCode(std::uint32_t bits);

// As assemblers for these devices write it: barriers to wait for, barriers released by reading and by writing, yield,
// stall. "B-1----:R-:W0:-:S04"; always of the same width. The reuse of operands stands in the instruction's own text.
[[nodiscard]] std::string toText(const ControlCode& code);

}  // namespace swage::domain
