// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/embedding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "core/retrieval/words.h"

namespace swage::retrieval {
namespace {

// Set by hand. swage-retrieval-benchmark says what comes of another choice.
constexpr float kWordWeight = 1.0F;
constexpr float kIdeaWeight = 1.6F;
constexpr float kPairWeight = 0.6F;
constexpr float kLettersWeight = 0.2F;
constexpr float kTitleWeight = 3.0F;
constexpr float kTagWeight = 2.5F;
constexpr float kSummaryWeight = 1.5F;
constexpr float kBodyWeight = 0.4F;
constexpr std::size_t kLetters = 4;
constexpr std::size_t kMostOfBody = 4096;

// FNV-1a: the same on every machine.
std::uint64_t hashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return hash ^ (hash >> 29U);
}

float weightOf(std::string_view feature) {
  return feature.starts_with("idea.")                  ? kIdeaWeight
         : feature.starts_with("#")                    ? kLettersWeight
         : feature.find(' ') != std::string_view::npos ? kPairWeight
                                                       : kWordWeight;
}

void addLetters(const std::string& word, std::vector<std::string>& features) {
  const std::string whole = '^' + word + '$';
  for (std::size_t at = 0; at + kLetters <= whole.size(); ++at) {
    features.push_back('#' + whole.substr(at, kLetters));
  }
}

std::string tagsOf(const domain::PatternEntry& entry) {
  std::string tags;
  for (const auto* list : {&entry.operators, &entry.types, &entry.architectures, &entry.bottlenecks}) {
    for (const std::string& word : *list) {
      tags += word + ". ";
    }
  }
  return tags;
}

using Weights = std::map<std::string, float>;

// A word that comes ten times does not say ten times as much.
void addText(std::string_view text, float weight, Weights& weights) {
  std::map<std::string, int> counts;
  for (std::string& feature : featuresOf(text)) {
    ++counts[std::move(feature)];
  }
  for (const auto& [feature, count] : counts) {
    weights[feature] += weight * (1.0F + std::log(static_cast<float>(count)));
  }
}

Embedding pointOf(const Weights& weights, const Rarity& rarity) {
  Embedding point{};
  for (const auto& [feature, weight] : weights) {
    const std::uint64_t hash = hashOf(feature);
    const float sign = (hash >> 63U) != 0 ? 1.0F : -1.0F;
    point[hash % kDimensions] += sign * weight * weightOf(feature) * rarity.weight(feature);
  }
  float square = 0.0F;
  for (const float value : point) {
    square += value * value;
  }
  if (square > 0.0F) {
    const float factor = 1.0F / std::sqrt(square);
    std::transform(point.begin(), point.end(), point.begin(), [factor](float value) { return value * factor; });
  }
  return point;
}

}  // namespace

Rarity::Rarity() : m_counts(kCounters) {}

void Rarity::count(const std::vector<std::string>& features) {
  ++m_texts;
  for (const std::string& feature : features) {
    ++m_counts[hashOf(feature) % kCounters];
  }
}

std::int64_t Rarity::textsWith(std::string_view feature) const {
  return m_counts[hashOf(feature) % kCounters];
}

float Rarity::weight(std::string_view feature) const {
  const auto count = static_cast<float>(m_counts[hashOf(feature) % kCounters]);
  return 1.0F + std::log((static_cast<float>(m_texts) + 1.0F) / (count + 1.0F));
}

std::string Rarity::toBytes() const {
  std::string bytes(sizeof m_texts + m_counts.size() * sizeof m_counts[0], '\0');
  std::memcpy(bytes.data(), &m_texts, sizeof m_texts);
  std::memcpy(bytes.data() + sizeof m_texts, m_counts.data(), bytes.size() - sizeof m_texts);
  return bytes;
}

Result<Rarity> Rarity::fromBytes(std::string_view bytes) {
  Rarity rarity;
  if (bytes.size() != sizeof rarity.m_texts + kCounters * sizeof rarity.m_counts[0]) {
    return Error(ErrorKind::InvalidInput, "the counts of words have another size");
  }
  std::memcpy(&rarity.m_texts, bytes.data(), sizeof rarity.m_texts);
  std::memcpy(rarity.m_counts.data(), bytes.data() + sizeof rarity.m_texts, bytes.size() - sizeof rarity.m_texts);
  return rarity;
}

std::vector<std::string> featuresOf(std::string_view text) {
  std::vector<std::string> features;
  std::vector<std::string> words = withIdeas(wordsOf(text));
  std::string before;
  for (std::string& word : words) {
    if (isFiller(word)) {
      continue;
    }
    if (!word.starts_with("idea.")) {
      if (!before.empty()) {
        features.push_back(before + ' ' + word);
      }
      addLetters(word, features);
      before = word;
    }
    features.push_back(std::move(word));
  }
  return features;
}

std::vector<std::string> featuresOf(const domain::PatternEntry& entry) {
  std::set<std::string> all;
  for (const std::string& text : {entry.title, tagsOf(entry), entry.summary, entry.body.substr(0, kMostOfBody)}) {
    for (std::string& feature : featuresOf(text)) {
      all.insert(std::move(feature));
    }
  }
  return {all.begin(), all.end()};
}

Embedding embed(std::string_view text, const Rarity& rarity) {
  Weights weights;
  addText(text, 1.0F, weights);
  return pointOf(weights, rarity);
}

Embedding embed(const domain::PatternEntry& entry, const Rarity& rarity) {
  Weights weights;
  addText(entry.title, kTitleWeight, weights);
  addText(tagsOf(entry), kTagWeight, weights);
  addText(entry.summary, kSummaryWeight, weights);
  addText(std::string_view(entry.body).substr(0, kMostOfBody), kBodyWeight, weights);
  return pointOf(weights, rarity);
}

std::string toBytes(const Embedding& embedding) {
  float largest = 0.0F;
  for (const float value : embedding) {
    largest = std::max(largest, std::abs(value));
  }
  constexpr float kMost = 127.0F;
  const float factor = largest > 0.0F ? kMost / largest : 0.0F;
  std::string bytes(kDimensions, '\0');
  std::transform(embedding.begin(), embedding.end(), bytes.begin(),
                 [factor](float value) { return static_cast<char>(std::lround(value * factor)); });
  return bytes;
}

}  // namespace swage::retrieval
