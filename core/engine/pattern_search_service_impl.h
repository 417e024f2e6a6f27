// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "core/engine/answer_thread.h"
#include "core/engine/pattern_search.h"
#include "core/services/pattern_search_service.h"

namespace swage::engine {

// Opens the index with the first question, on the thread that answers.
class PatternSearchServiceImpl final : public services::PatternSearchService {
 public:
  static constexpr int kMostFound = 30;

  // `places` is asked then, too: projects come and go.
  explicit PatternSearchServiceImpl(std::function<PatternPlaces()> places) : m_places(std::move(places)) {}
  [[nodiscard]] QFuture<Result<services::FoundPatterns>> search(const std::string& question) override;

 private:
  [[nodiscard]] Result<services::FoundPatterns> answer(const std::string& question);

  std::function<PatternPlaces()> m_places;
  std::optional<PatternSearch> m_search;  // of the thread that answers
  AnswerThread m_answers;                 // goes first
};

}  // namespace swage::engine
