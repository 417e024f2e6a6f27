// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <cstdint>
#include <vector>

// Differences of two texts by lines, and inside of changed lines by words. Values and pure functions, without widgets.
namespace swage::ui {

enum class CommentSyntax : std::uint8_t { None, C, Assembly };  // `//` and `/* */`; the same and `#` to the line's end

struct DiffOptions {
  bool ignoreWhiteSpace = false;
  bool ignoreComments = false;
  CommentSyntax comments = CommentSyntax::C;
  bool ignoreAddresses = false;  // of a listing: see assembly_addresses.h
  friend bool operator==(const DiffOptions&, const DiffOptions&) = default;
};

enum class DiffSide : std::uint8_t { Left, Right };

// Lines from `first` on, counted from 0. An empty range lies before `first`.
struct LineRange {
  int first = 0;
  int count = 0;
  [[nodiscard]] int end() const { return first + count; }
  friend bool operator==(const LineRange&, const LineRange&) = default;
};

// A run of lines that differ. Its ranges are never both empty.
struct DiffChunk {
  LineRange left;
  LineRange right;
  // Only blank lines, ignored comments or padding: keeps the sides in step, and is neither marked nor counted.
  bool isIgnored = false;

  [[nodiscard]] const LineRange& range(DiffSide side) const { return side == DiffSide::Left ? left : right; }
  friend bool operator==(const DiffChunk&, const DiffChunk&) = default;
};

// A part of a line that the other side does not have.
struct InlineMark {
  int line = 0;
  int column = 0;  // in UTF-16 units, as QString counts
  int length = 0;
  friend bool operator==(const InlineMark&, const InlineMark&) = default;
};

struct TextDiff {
  std::vector<DiffChunk> chunks;  // in order, apart from each other
  std::vector<InlineMark> leftMarks;
  std::vector<InlineMark> rightMarks;

  [[nodiscard]] const std::vector<InlineMark>& marks(DiffSide side) const {
    return side == DiffSide::Left ? leftMarks : rightMarks;
  }
  [[nodiscard]] int changeCount() const;
};

// The lines of a text without their ends. A line end at the end of the text begins no further line.
[[nodiscard]] QStringList linesOf(const QString& text);

[[nodiscard]] TextDiff diffTexts(const QString& left, const QString& right, const DiffOptions& options = {});

// Where a position (a line and a part of it) of one side is on the other.
[[nodiscard]] double mapLine(const TextDiff& diff, DiffSide from, double line);

// The chunk that a line is in or next to; -1: none.
[[nodiscard]] int chunkAt(const TextDiff& diff, DiffSide side, int line);
// The next chunk after a line (or the one before it) that is not ignored; -1: none.
[[nodiscard]] int nextChunk(const TextDiff& diff, DiffSide side, int line);
[[nodiscard]] int previousChunk(const TextDiff& diff, DiffSide side, int line);

// `target` with its range of the chunk replaced by the source's. `from` is the side of `source`.
[[nodiscard]] QString pushChunk(const QString& source, const QString& target, const DiffChunk& chunk, DiffSide from);
[[nodiscard]] QString deleteChunk(const QString& text, const DiffChunk& chunk, DiffSide side);

struct UnifiedLine {
  enum class Kind : std::uint8_t { Both, LeftOnly, RightOnly, Gap };
  Kind kind = Kind::Both;
  int left = -1;  // line on that side; -1: it does not have it
  int right = -1;
  QString text;  // of a gap: empty
  friend bool operator==(const UnifiedLine&, const UnifiedLine&) = default;
};
// Both texts in one: changed lines of the left, then of the right, with `context` equal lines around them.
[[nodiscard]] std::vector<UnifiedLine> unifiedLines(const QStringList& left, const QStringList& right,
                                                    const TextDiff& diff, int context);
[[nodiscard]] bool isChange(const UnifiedLine& line);
// The first line of the next run of changed lines behind `line`, or of the last one before it. -1: there is none.
[[nodiscard]] int nextBlock(const std::vector<UnifiedLine>& lines, int line);
[[nodiscard]] int previousBlock(const std::vector<UnifiedLine>& lines, int line);

// Of two texts with a common ancestor: ranges of the ancestor that both changed. `left` is the difference from the one
// text to the ancestor, `right` that from the ancestor to the other.
[[nodiscard]] std::vector<LineRange> conflicts(const TextDiff& left, const TextDiff& right);

}  // namespace swage::ui
