// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/answer_thread.h"
#include "core/engine/pattern_search.h"
#include "core/services/pattern_search_service.h"

namespace swage::engine {

// Opens the index with the first question, on the thread that answers.
class PatternSearchServiceImpl final : public services::PatternSearchService {
 public:
  static constexpr int kMostFound = 30;

  // Ranks what was found once more, on the thread that answers; an error leaves it as it is.
  using Ranking = std::function<Result<>(const std::string& question, std::vector<retrieval::Found>& found,
                                         const AnswerThread::IsCancelled& isCancelled)>;

  // `places` is asked then, too: projects come and go. Why nothing could be ranked is logged once.
  explicit PatternSearchServiceImpl(std::function<PatternPlaces()> places, Ranking ranking = {})
      : m_places(std::move(places)), m_ranking(std::move(ranking)) {}
  [[nodiscard]] QFuture<Result<services::FoundPatterns>> search(const std::string& question) override;

 private:
  [[nodiscard]] Result<services::FoundPatterns> answer(const std::string& question,
                                                       const AnswerThread::IsCancelled& isCancelled);
  void rank(const std::string& question, std::vector<retrieval::Found>& found,
            const AnswerThread::IsCancelled& isCancelled);

  std::function<PatternPlaces()> m_places;
  Ranking m_ranking;
  bool m_hasSaidWhyNot = false;
  std::optional<PatternSearch> m_search;  // of the thread that answers
  AnswerThread m_answers;                 // goes first
};

}  // namespace swage::engine
