// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/finder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "core/retrieval/learning.h"
#include "core/retrieval/words.h"

namespace swage::retrieval {
namespace {

constexpr std::size_t kCandidates = 60;  // of each ranking
constexpr double kRankOffset = 60.0;     // as in the paper on reciprocal rank fusion
constexpr std::size_t kMostWords = 24;   // that are looked for
// That have them, counted for each word: BM25 takes one to two microseconds for each. Nearly all of the time goes here.
constexpr std::int64_t kMostTexts = 1200;

bool hasWord(const std::vector<std::string>& list, const std::string& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

// The rarest of them: common ones find half of the index, which takes long and says little. What is left out is in the
// vectors.
std::vector<std::string> rarestOf(std::vector<std::string> words, const Rarity& rarity) {
  std::erase_if(words, [](const std::string& word) { return isFiller(word) || word.size() < 2; });
  std::stable_sort(words.begin(), words.end(), [&rarity](const std::string& a, const std::string& b) {
    return rarity.weight(a) > rarity.weight(b);
  });
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::int64_t texts = 0;
  const auto end = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    texts += rarity.textsWith(word);
    return texts > kMostTexts;
  });
  words.erase(end, words.end());
  words.resize(std::min(words.size(), kMostWords));
  return words;
}

using Scores = std::map<std::size_t, double>;

// Reciprocal rank fusion.
void addRanks(const std::vector<std::size_t>& order, Scores& scores) {
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    scores[order[rank]] += 1.0 / (kRankOffset + static_cast<double>(rank) + 1.0);
  }
}

std::vector<std::size_t> bestOf(const Scores& scores, std::size_t most) {
  std::vector<std::pair<std::size_t, double>> order(scores.begin(), scores.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  order.resize(std::min(order.size(), most));
  std::vector<std::size_t> best;
  std::transform(order.begin(), order.end(), std::back_inserter(best), [](const auto& one) { return one.first; });
  return best;
}

}  // namespace

std::string textForModel(const domain::PatternEntry& entry) {
  constexpr std::size_t kMostOfBody = 1000;
  return entry.title + "\n" + entry.summary + "\n" + entry.body.substr(0, kMostOfBody);
}

void rankByPoints(std::vector<Found>& found, const std::vector<float>& question,
                  const std::vector<std::vector<float>>& points) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < std::min(found.size(), points.size()); ++i) {
    double product = 0.0;
    double square = 0.0;
    for (std::size_t d = 0; d < std::min(question.size(), points[i].size()); ++d) {
      product += static_cast<double>(question[d]) * static_cast<double>(points[i][d]);
      square += static_cast<double>(points[i][d]) * static_cast<double>(points[i][d]);
    }
    order.emplace_back(square > 0.0 ? product / std::sqrt(square) : 0.0, i);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    Found& one = found[order[rank].second];
    one.rankByModel = static_cast<int>(rank) + 1;
    one.score += 1.0 / (kRankOffset + static_cast<double>(rank) + 1.0);
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
}

Result<Finder> Finder::over(const store::PatternIndex& index) {
  Finder finder(index);
  SWAGE_TRY_ASSIGN(finder.m_rarity, readRarity(index));
  SWAGE_TRY_ASSIGN(std::vector<store::IndexedPattern> all, index.patterns());
  std::erase_if(all, [](const store::IndexedPattern& pattern) { return pattern.vector.size() != kDimensions; });
  const std::size_t count = all.size();
  finder.m_vectors.resize(count * kDimensions);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t square = 0;
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const auto value = static_cast<std::int8_t>(all[i].vector[d]);
      finder.m_vectors[d * count + i] = value;
      square += std::int64_t{value} * value;
    }
    finder.m_lengths.push_back(std::sqrt(static_cast<float>(std::max<std::int64_t>(square, 1))));
    finder.m_ids.push_back(all[i].id);
    finder.m_entries.push_back(std::move(all[i].entry));
  }
  return finder;
}

bool Finder::passes(std::size_t at, const Question& question) const {
  const domain::PatternEntry& entry = m_entries[at];
  const auto isFor = [](const std::vector<std::string>& list, const std::string& wanted) {
    return wanted.empty() || list.empty() || hasWord(list, wanted);
  };
  return isFor(entry.types, question.type) && isFor(entry.architectures, question.architecture) &&
         (question.operatorName.empty() || hasWord(entry.operators, question.operatorName)) &&
         (question.bottleneck.empty() || hasWord(entry.bottlenecks, question.bottleneck));
}

// A question has a few hundred dimensions that are not 0; only those are read.
std::vector<std::size_t> Finder::nearest(const Embedding& wanted, const Question& question) const {
  const std::size_t count = m_ids.size();
  std::vector<float> scores(count);
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const float factor = wanted[d];
    if (factor == 0.0F) {
      continue;
    }
    const std::int8_t* values = m_vectors.data() + d * count;
    float* sums = scores.data();
    for (std::size_t i = 0; i < count; ++i) {
      sums[i] += factor * static_cast<float>(values[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    scores[i] = passes(i, question) ? scores[i] / m_lengths[i] : 0.0F;
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t most = std::min(kCandidates, count);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
      [&scores](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  order.resize(most);
  std::erase_if(order, [&scores](std::size_t at) { return scores[at] <= 0.0F; });
  return order;
}

std::vector<std::string> Finder::wordsToFind(const std::string& text) const {
  return rarestOf(withSynonyms(wordsOf(text)), m_rarity);
}

// What stands in the question counts beside what means the same: else an H100 would be as good an answer as the H200
// that is asked for.
Result<std::vector<std::size_t>> Finder::byWords(const Question& question) const {
  const bool isFiltered = !question.operatorName.empty() || !question.type.empty() || !question.architecture.empty() ||
                          !question.bottleneck.empty();
  constexpr int kMoreWithFilter = 50;
  const int limit = static_cast<int>(kCandidates) * (isFiltered ? kMoreWithFilter : 1);
  Scores scores;
  std::vector<std::string> asked;
  std::vector<std::int64_t> ids;
  for (std::vector<std::string>& words :
       std::array{rarestOf(wordsOf(question.text), m_rarity), wordsToFind(question.text)}) {
    if (words != asked) {
      SWAGE_TRY_ASSIGN(ids, m_index->matching(words, limit));
      asked = std::move(words);
    }
    std::vector<std::size_t> order;
    for (const std::int64_t id : ids) {
      const auto found = std::lower_bound(m_ids.begin(), m_ids.end(), id);
      const auto at = static_cast<std::size_t>(found - m_ids.begin());
      if (found != m_ids.end() && *found == id && passes(at, question)) {
        order.push_back(at);
      }
    }
    addRanks(order, scores);
  }
  return bestOf(scores, kCandidates);
}

Result<std::vector<Found>> Finder::find(const Question& question, Bodies bodies) const {
  const std::vector<std::size_t> near = nearest(embed(question.text, m_rarity), question);
  SWAGE_TRY_ASSIGN(const std::vector<std::size_t> named, byWords(question));
  std::map<std::size_t, Found> fused;
  const auto rank = [&fused](const std::vector<std::size_t>& order, int Found::*which) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      Found& found = fused[order[i]];
      found.*which = static_cast<int>(i) + 1;
      found.score += 1.0 / (kRankOffset + static_cast<double>(i) + 1.0);
    }
  };
  rank(near, &Found::rankByVector);
  rank(named, &Found::rankByWords);
  std::vector<std::pair<std::size_t, Found>> order(fused.begin(), fused.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.score > b.second.score; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(question.limit, 0))));
  std::vector<std::int64_t> ids;
  std::vector<Found> found;
  for (auto& [at, one] : order) {
    ids.push_back(m_ids[at]);
    one.entry = m_entries[at];
    found.push_back(std::move(one));
  }
  if (bodies == Bodies::Yes) {
    SWAGE_TRY_ASSIGN(std::vector<domain::PatternEntry> entries, m_index->entries(ids));
    for (std::size_t i = 0; i < found.size() && entries.size() == found.size(); ++i) {
      found[i].entry = std::move(entries[i]);
    }
  }
  return found;
}

}  // namespace swage::retrieval
