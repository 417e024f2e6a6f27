// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Words of titles, sources and questions, so that those who mean the same find each other. Pure.
namespace swage::retrieval {

// The words of a text in lower case: cut at what is no letter or digit and where an identifier changes its case,
// "rowSoftmax" and "row_softmax" alike; sm_90 and sm 90 become sm90. Endings of plurals are taken off.
[[nodiscard]] std::vector<std::string> wordsOf(std::string_view text);

// The same with the names of ideas behind them that words or neighbours of them stand for: "gemm" and "matrix
// multiplication" are both "idea.product". Every idea once.
[[nodiscard]] std::vector<std::string> withIdeas(std::vector<std::string> words);

// The words that stand for the same idea as one of these, themselves included: what to look for in texts.
[[nodiscard]] std::vector<std::string> withSynonyms(const std::vector<std::string>& words);

// Words that say nothing about a kernel: "the", "how".
[[nodiscard]] bool isFiller(std::string_view word);

}  // namespace swage::retrieval
