// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "core/base/result.h"
#include "core/models/chat.h"
#include "core/models/endpoint.h"

namespace swage::models {

// What calls may cost together. The most that a call can cost is reserved before it is made, and what it did cost takes
// the place of that afterwards, so that no call passes the limit. Shared by the callers of one run, on one thread.
class CallBudget {
 public:
  struct Limits {
    std::optional<double> usd{};
    std::optional<std::int64_t> tokens{};
  };
  struct Spent {
    double usd = 0.0;
    std::int64_t tokens = 0;
    bool isPriceKnown = true;  // some of it had no price
  };

  CallBudget() = default;  // without a limit
  explicit CallBudget(Limits limits) : m_limits(limits) {}

  // A number for a call, unlike that of any other caller's.
  [[nodiscard]] std::uint64_t newCall() { return m_next++; }
  // A call of at most so many tokens. A failure of kind Budget: it might pass a limit, or nobody knows its price.
  [[nodiscard]] std::optional<ChatFailure> reserve(std::uint64_t call, const TokenUsage& most,
                                                   const std::optional<TokenPrice>& price);
  // How it ended. What was not reserved is counted all the same.
  void settle(std::uint64_t call, const TokenUsage& usage, const std::optional<TokenPrice>& price);
  // Of an earlier sitting.
  void takeUp(double usd, std::int64_t tokens);

  [[nodiscard]] const Spent& spent() const { return m_spent; }
  [[nodiscard]] const Limits& limits() const { return m_limits; }

 private:
  struct Reservation {
    double usd = 0.0;
    std::int64_t tokens = 0;
  };
  std::uint64_t m_next = 1;
  Limits m_limits;
  Spent m_spent;
  Reservation m_reserved;  // all together
  std::map<std::uint64_t, Reservation> m_calls;
};

}  // namespace swage::models
