// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace swage {

// An integer that only compares with its own kind. Negative means "none".
template <class Tag, class Rep = std::int64_t>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : m_value(value) {}

  [[nodiscard]] constexpr Rep value() const { return m_value; }
  [[nodiscard]] constexpr bool isValid() const { return m_value >= 0; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14

 private:
  Rep m_value = -1;
};

}  // namespace swage

template <class Tag, class Rep>
struct std::hash<swage::StrongId<Tag, Rep>> {
  std::size_t operator()(swage::StrongId<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};
