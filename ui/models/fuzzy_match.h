// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <optional>
#include <vector>

namespace swage::ui {

struct FuzzyMatch {
  int score = 0;               // higher is better; only to be compared within one pattern
  std::vector<int> positions;  // of the matched characters in the text, ascending
};

// Whether the characters of the pattern occur in the text in their order, whatever their case; blanks of the pattern do
// not count. Prefers beginnings of words and runs of characters, then short texts. An empty pattern matches all.
[[nodiscard]] std::optional<FuzzyMatch> fuzzyMatch(const QString& pattern, const QString& text);

}  // namespace swage::ui
