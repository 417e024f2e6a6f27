// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/pattern_entry.h"

// Texts as points, computed here and now: near ones are about the same. Pure.
namespace swage::retrieval {

inline constexpr std::size_t kDimensions = 1536;

// Of length 1, unless nothing was said: then all are 0.
using Embedding = std::array<float, kDimensions>;

// How rare words, pairs of them and groups of letters are in what was indexed: learned by counting, and kept with the
// index. A rare one says more about what a text is about.
class Rarity {
 public:
  Rarity();

  // One more text with these features.
  void count(const std::vector<std::string>& features);
  // 1 for a feature of about every text, more the rarer it is.
  [[nodiscard]] float weight(std::string_view feature) const;
  [[nodiscard]] std::int64_t texts() const { return m_texts; }
  // In about how many texts it is, or a few more: other features may share its counter.
  [[nodiscard]] std::int64_t textsWith(std::string_view feature) const;

  [[nodiscard]] std::string toBytes() const;
  // InvalidInput: it was not made by toBytes().
  [[nodiscard]] static Result<Rarity> fromBytes(std::string_view bytes);

 private:
  static constexpr std::size_t kCounters = std::size_t{1} << 16U;  // features share them by their hash

  std::int64_t m_texts = 0;
  std::vector<std::uint32_t> m_counts;
};

// The features of a text: words, ideas, neighbours, groups of letters inside of words.
[[nodiscard]] std::vector<std::string> featuresOf(std::string_view text);
// All features of a piece, each once: what Rarity counts.
[[nodiscard]] std::vector<std::string> featuresOf(const domain::PatternEntry& entry);

// Every feature adds its weight, with a sign, to the one dimension that its hash names.
[[nodiscard]] Embedding embed(std::string_view text, const Rarity& rarity);
// Of its title more than of its summary, and of its body least.
[[nodiscard]] Embedding embed(const domain::PatternEntry& entry, const Rarity& rarity);

// In one signed byte for each dimension; the largest becomes 127.
[[nodiscard]] std::string toBytes(const Embedding& embedding);

}  // namespace swage::retrieval
