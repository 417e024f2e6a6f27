// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/pattern_entry.h"
#include "core/retrieval/embedding.h"
#include "core/store/pattern_index.h"

namespace swage::retrieval {

// What is wanted. An empty filter lets everything pass; a piece that does not say which types or architectures it is
// for is for all.
struct Question {
  std::string text;
  std::string operatorName{};  // "softmax"
  std::string type{};          // "float32"
  std::string architecture{};  // "sm_90"
  std::string bottleneck{};    // "memory"
  int limit = 10;
};

struct Found {
  domain::PatternEntry entry;
  double score = 0.0;    // of the fused ranks; larger is better, and nothing else
  int rankByWords = 0;   // from 1; 0: not among the best by BM25
  int rankByVector = 0;  // from 1; 0: not among the nearest
  int rankByModel = 0;   // from 1; 0: no model was asked
};

// A third rank, by the points that a model made of the question and of each of `found`, in their order: the nearest
// ones move up. All points have one size. Pure.
void rankByPoints(std::vector<Found>& found, const std::vector<float>& question,
                  const std::vector<std::vector<float>>& points);
// What a model is shown of a piece.
[[nodiscard]] std::string textForModel(const domain::PatternEntry& entry);

// Answers questions from an index, all of whose vectors it holds in memory: 1536 bytes for each piece. One thread only.
class Finder {
 public:
  // `index` must outlive it. What is indexed afterwards it does not know.
  [[nodiscard]] static Result<Finder> over(const store::PatternIndex& index);

  // The best by words (BM25) and by vectors (cosine), their ranks fused by the sum of 1 / (60 + rank). Without their
  // bodies if `bodies` says so.
  enum class Bodies : std::uint8_t { No, Yes };
  [[nodiscard]] Result<std::vector<Found>> find(const Question& question, Bodies bodies = Bodies::Yes) const;
  [[nodiscard]] std::size_t size() const { return m_ids.size(); }

 private:
  explicit Finder(const store::PatternIndex& index) : m_index(&index) {}
  [[nodiscard]] bool passes(std::size_t at, const Question& question) const;
  [[nodiscard]] std::vector<std::size_t> nearest(const Embedding& wanted, const Question& question) const;
  [[nodiscard]] Result<std::vector<std::size_t>> byWords(const Question& question) const;
  [[nodiscard]] std::vector<std::string> wordsToFind(const std::string& text) const;

  const store::PatternIndex* m_index;
  Rarity m_rarity;
  std::vector<std::int64_t> m_ids;              // ascending
  std::vector<domain::PatternEntry> m_entries;  // without bodies
  std::vector<float> m_lengths;                 // of the vectors in bytes
  std::vector<std::int8_t> m_vectors;           // dimension by dimension, so that a question reads only those it has
};

}  // namespace swage::retrieval
