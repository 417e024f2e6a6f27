// SPDX-License-Identifier: Apache-2.0
#include "core/domain/control_code.h"

#include <fmt/format.h>

namespace swage::domain {
namespace {

constexpr int kBarriers = 6;
constexpr std::uint8_t kNone = 7;

// The next `count` bits, taken off `bits`.
std::uint8_t take(std::uint32_t& bits, int count) {
  const auto taken = static_cast<std::uint8_t>(bits & ((1U << count) - 1U));
  bits >>= count;
  return taken;
}

char barrier(std::uint8_t number) {
  return number == kNone ? '-' : static_cast<char>('0' + number);
}

}  // namespace

ControlCode controlCode(std::uint32_t bits) {
  ControlCode code;
  code.stall = take(bits, 4);
  code.yields = take(bits, 1) == 0;  // the bit says that the warp goes on
  code.writeBarrier = take(bits, 3);
  code.readBarrier = take(bits, 3);
  code.waits = take(bits, kBarriers);
  code.reuse = take(bits, 4);
  return code;
}

std::string toText(const ControlCode& code) {
  std::string waits;
  for (std::uint8_t i = 0; i < kBarriers; ++i) {
    waits += (code.waits >> i & 1) != 0 ? static_cast<char>('0' + i) : '-';
  }
  return fmt::format("B{}:R{}:W{}:{}:S{:02}", waits, barrier(code.readBarrier), barrier(code.writeBarrier),
                     code.yields ? 'Y' : '-', code.stall);
}

}  // namespace swage::domain
