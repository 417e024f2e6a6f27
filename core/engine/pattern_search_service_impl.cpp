// SPDX-License-Identifier: Apache-2.0
#include "core/engine/pattern_search_service_impl.h"

#include <algorithm>
#include <utility>

#include "core/engine/pattern_ranking.h"

namespace swage::engine {

QFuture<Result<services::FoundPatterns>> PatternSearchServiceImpl::search(const std::string& question) {
  return m_answers.ask<services::FoundPatterns>(
      [this, question](const AnswerThread::IsCancelled& isCancelled) { return answer(question, isCancelled); });
}

void PatternSearchServiceImpl::rank(const std::string& question, std::vector<retrieval::Found>& found,
                                    const AnswerThread::IsCancelled& isCancelled) {
  const Result<> ranked = m_ranking ? m_ranking(question, found, isCancelled) : Result<>();
  if (!ranked && ranked.error().kind() != ErrorKind::Cancelled && !std::exchange(m_hasSaidWhyNot, true)) {
    tellUnranked(ranked.error());
  }
  found.resize(std::min(found.size(), static_cast<std::size_t>(kMostFound)));
}

Result<services::FoundPatterns> PatternSearchServiceImpl::answer(const std::string& question,
                                                                 const AnswerThread::IsCancelled& isCancelled) {
  if (!m_search) {
    SWAGE_TRY_ASSIGN(PatternSearch opened, PatternSearch::open(m_places()));
    m_search.emplace(std::move(opened));
  }
  const int limit = m_ranking ? kRankedByModel : kMostFound;
  SWAGE_TRY_ASSIGN(std::vector<retrieval::Found> found, m_search->find({.text = question, .limit = limit}));
  rank(question, found, isCancelled);
  std::vector<domain::PatternEntry> entries;
  entries.reserve(found.size());
  for (retrieval::Found& one : found) {
    entries.push_back(std::move(one.entry));
  }
  return std::make_shared<const std::vector<domain::PatternEntry>>(std::move(entries));
}

}  // namespace swage::engine
