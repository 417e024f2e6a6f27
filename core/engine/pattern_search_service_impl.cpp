// SPDX-License-Identifier: Apache-2.0
#include "core/engine/pattern_search_service_impl.h"

#include <utility>

namespace swage::engine {

QFuture<Result<services::FoundPatterns>> PatternSearchServiceImpl::search(const std::string& question) {
  return m_answers.ask<services::FoundPatterns>(
      [this, question](const AnswerThread::IsCancelled&) { return answer(question); });
}

Result<services::FoundPatterns> PatternSearchServiceImpl::answer(const std::string& question) {
  if (!m_search) {
    SWAGE_TRY_ASSIGN(PatternSearch opened, PatternSearch::open(m_places()));
    m_search.emplace(std::move(opened));
  }
  SWAGE_TRY_ASSIGN(std::vector<retrieval::Found> found, m_search->find({.text = question, .limit = kMostFound}));
  std::vector<domain::PatternEntry> entries;
  entries.reserve(found.size());
  for (retrieval::Found& one : found) {
    entries.push_back(std::move(one.entry));
  }
  return std::make_shared<const std::vector<domain::PatternEntry>>(std::move(entries));
}

}  // namespace swage::engine
