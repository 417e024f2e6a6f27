// SPDX-License-Identifier: Apache-2.0
#include "core/models/call_budget.h"

#include <algorithm>

#include <fmt/format.h>

namespace swage::models {
namespace {

constexpr double kRounding = 1e-9;  // dollars, of sums of many prices

ChatFailure overBudget(std::string message, std::string hint) {
  return {.kind = FailureKind::Budget, .message = std::move(message), .hint = std::move(hint)};
}

}  // namespace

std::optional<ChatFailure> CallBudget::reserve(std::uint64_t call, const TokenUsage& most,
                                               const std::optional<TokenPrice>& price) {
  const Reservation wanted{price ? price->of(most) : 0.0, most.total()};
  if (m_limits.usd && !price) {
    return overBudget("its price is not known, so that a budget in dollars cannot hold",
                      "set `price_input` and `price_output` of this model, in dollars for a million tokens");
  }
  if (m_limits.usd && m_spent.usd + m_reserved.usd + wanted.usd > *m_limits.usd + kRounding) {
    return overBudget(fmt::format("the next call may cost ${:.4f}, and ${:.4f} of ${:.2f} are spent or reserved",
                                  wanted.usd, m_spent.usd + m_reserved.usd, *m_limits.usd),
                      "raise --budget-usd to go on");
  }
  if (m_limits.tokens && m_spent.tokens + m_reserved.tokens + wanted.tokens > *m_limits.tokens) {
    return overBudget(fmt::format("the next call may take {} tokens, and {} of {} are spent or reserved", wanted.tokens,
                                  m_spent.tokens + m_reserved.tokens, *m_limits.tokens),
                      "raise --budget-tokens to go on");
  }
  m_calls[call] = wanted;
  m_reserved.usd += wanted.usd;
  m_reserved.tokens += wanted.tokens;
  return std::nullopt;
}

void CallBudget::settle(std::uint64_t call, const TokenUsage& usage, const std::optional<TokenPrice>& price) {
  if (const auto found = m_calls.find(call); found != m_calls.end()) {
    m_calls.erase(found);
    m_reserved = {};  // summed again, so that rounding does not add up
    for (const auto& [ignored, reservation] : m_calls) {
      m_reserved.usd += reservation.usd;
      m_reserved.tokens += reservation.tokens;
    }
  }
  m_spent.usd += price ? price->of(usage) : 0.0;
  m_spent.tokens += usage.total();
  m_spent.isPriceKnown = m_spent.isPriceKnown && (price || usage.total() == 0);
}

void CallBudget::takeUp(double usd, std::int64_t tokens) {
  m_spent.usd += std::max(0.0, usd);
  m_spent.tokens += std::max<std::int64_t>(0, tokens);
}

}  // namespace swage::models
