// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/fuzzy_match.h"

#include <algorithm>
#include <limits>

namespace swage::ui {
namespace {

constexpr int kWordStart = 8;
constexpr int kConsecutive = 8;
constexpr int kLongest = 256;  // characters of a text that are looked at: the effort grows with pattern times text
constexpr int kImpossible = std::numeric_limits<int>::min() / 2;

bool startsWord(const QString& text, int index) {
  if (index == 0) {
    return true;
  }
  const QChar before = text[index - 1];
  return !before.isLetterOrNumber() || (before.isLower() && text[index].isUpper()) ||
         (before.isLetter() && text[index].isDigit());
}

// best[i][j]: the best score with the first i characters of the pattern matched and the i-th at text[j].
class Alignment {
 public:
  Alignment(const QString& pattern, const QString& text)
      : m_pattern(pattern),
        m_text(text),
        m_columns(std::min<int>(static_cast<int>(text.size()), kLongest)),
        m_best(static_cast<std::size_t>(pattern.size()) * static_cast<std::size_t>(m_columns), kImpossible) {
    for (int row = 0; row < pattern.size(); ++row) {
      fillRow(row);
    }
  }

  [[nodiscard]] std::optional<FuzzyMatch> match() const {
    const int last = static_cast<int>(m_pattern.size()) - 1;
    int column = bestColumn(last, m_columns);
    if (column < 0) {
      return std::nullopt;
    }
    FuzzyMatch match{.score = at(last, column), .positions = {column}};
    for (int row = last - 1; row >= 0; --row) {
      // A neighbour is worth its bonus, so it is where the score came from whenever that adds up.
      const bool adjoins = column > 0 && at(row, column - 1) != kImpossible &&
                           at(row + 1, column) == at(row, column - 1) + kConsecutive + bonus(column);
      column = adjoins ? column - 1 : bestColumn(row, column);
      match.positions.push_back(column);
    }
    std::reverse(match.positions.begin(), match.positions.end());
    return match;
  }

 private:
  [[nodiscard]] int& at(int row, int column) {
    return m_best[static_cast<std::size_t>(row) * static_cast<std::size_t>(m_columns) +
                  static_cast<std::size_t>(column)];
  }
  [[nodiscard]] int at(int row, int column) const {
    return m_best[static_cast<std::size_t>(row) * static_cast<std::size_t>(m_columns) +
                  static_cast<std::size_t>(column)];
  }
  [[nodiscard]] int bonus(int column) const { return 1 + (startsWord(m_text, column) ? kWordStart : 0); }

  void fillRow(int row) {
    int bestBefore = row == 0 ? 0 : kImpossible;  // over the columns left of this one
    for (int column = 0; column < m_columns; ++column) {
      if (m_text[column].toCaseFolded() == m_pattern[row].toCaseFolded() && bestBefore != kImpossible) {
        int from = bestBefore;
        if (row > 0 && column > 0 && at(row - 1, column - 1) != kImpossible) {
          from = std::max(from, at(row - 1, column - 1) + kConsecutive);
        }
        at(row, column) = from + bonus(column);
      }
      if (row > 0) {
        bestBefore = std::max(bestBefore, at(row - 1, column));
      }
    }
  }
  // The leftmost of the best columns before `end`; -1: none is possible.
  [[nodiscard]] int bestColumn(int row, int end) const {
    int best = -1;
    for (int column = 0; column < end; ++column) {
      if (at(row, column) != kImpossible && (best < 0 || at(row, column) > at(row, best))) {
        best = column;
      }
    }
    return best;
  }

  const QString& m_pattern;
  const QString& m_text;
  int m_columns;
  std::vector<int> m_best;
};

}  // namespace

std::optional<FuzzyMatch> fuzzyMatch(const QString& pattern, const QString& text) {
  QString letters = pattern;
  letters.removeIf([](QChar character) { return character.isSpace(); });
  if (letters.isEmpty()) {
    return FuzzyMatch{};
  }
  std::optional<FuzzyMatch> match = Alignment(letters, text).match();
  if (match) {
    match->score -= static_cast<int>(text.size()) / 16;
  }
  return match;
}

}  // namespace swage::ui
