// SPDX-License-Identifier: Apache-2.0
#include "core/domain/record/winner.h"

#include <algorithm>
#include <tuple>

namespace swage::domain {
namespace {

bool comesFirst(const Finalist& a, const Finalist& b) {
  const auto rank = [](const Finalist& one) {
    return std::tuple(-one.speedup.low, one.launches, one.relativeError, one.id);
  };
  return rank(a) < rank(b);
}

}  // namespace

bool surelyBeatsPytorch(const Speedup& speedup) {
  return speedup.low > 1.0;
}

CandidateId winnerAmong(std::vector<Finalist> finalists, CandidateId own) {
  if (own.isValid()) {
    std::erase_if(finalists, [](const Finalist& one) { return !surelyBeatsPytorch(one.speedup); });
  }
  const auto isSolid = [](const Finalist& one) { return one.isSolid; };
  if (std::any_of(finalists.begin(), finalists.end(), isSolid)) {
    std::erase_if(finalists, [&isSolid](const Finalist& one) { return !isSolid(one); });
  }
  const auto first = std::min_element(finalists.begin(), finalists.end(), comesFirst);
  return first != finalists.end() ? first->id : own;
}

CandidateId winnerOf(const RunSummary& run) {
  if (run.winner.isValid()) {
    return run.winner;
  }
  std::vector<Finalist> finalists;
  if (run.best.isValid()) {
    finalists.push_back({.id = run.best, .speedup = run.bestSpeedup});
  }
  return winnerAmong(std::move(finalists), run.own);
}

bool pytorchWins(const RunSummary& run) {
  const bool hasResult = run.best.isValid() || winnerOf(run).isValid();
  return !run.baselineMode.empty() && hasResult && !surelyBeatsPytorch(run.bestSpeedup);
}

}  // namespace swage::domain
