// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/joining.h"

#include <fmt/format.h>

namespace swage::synth {
namespace {

// What is below all others, or above, for a maximum or a minimum to begin with.
std::string extreme(Compute type, FoldKind kind) {
  const bool isLow = kind == FoldKind::Maximum;
  switch (type) {
    case Compute::F32: return isLow ? "-kInfinity" : "kInfinity";
    case Compute::F64: return isLow ? "-double(kInfinity)" : "double(kInfinity)";
    default: return isLow ? "(-0x7fffffffffffffffLL - 1)" : "0x7fffffffffffffffLL";
  }
}

}  // namespace

Joining::Joining(const Dialect& dialect, FoldKind kind, Compute type) : m_kind(kind), m_type(dialect.typeName(type)) {
  const bool isExtreme = kind == FoldKind::Maximum || kind == FoldKind::Minimum;
  m_neutral = isExtreme ? extreme(type, kind) : dialect.constant(kind == FoldKind::Sum ? 0.0 : 1.0, type);
}

std::string Joining::operator()(const std::string& first, const std::string& second) const {
  switch (m_kind) {
    case FoldKind::Sum: return fmt::format("{} + {}", first, second);
    case FoldKind::Product: return fmt::format("{} * {}", first, second);
    case FoldKind::Maximum: return fmt::format("maximum({}, {})", first, second);
    default: return fmt::format("minimum({}, {})", first, second);
  }
}

}  // namespace swage::synth
