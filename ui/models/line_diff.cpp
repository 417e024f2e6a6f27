// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/line_diff.h"

#include <git2/diff.h>
#include <git2/global.h>
#include <git2/patch.h>
#include <dtl/dtl.hpp>

#include <memory>

namespace swage::ui {
namespace {

constexpr std::size_t kMaxWords = 3000;  // of both sides of a chunk: O(NP) is quadratic in the worst case

// libgit2 counts its users; without one it has no allocator.
class GitLibrary {
 public:
  GitLibrary() { git_libgit2_init(); }
  ~GitLibrary() { git_libgit2_shutdown(); }
  GitLibrary(const GitLibrary&) = delete;
  GitLibrary& operator=(const GitLibrary&) = delete;
};

struct FreePatch {
  void operator()(git_patch* patch) const { git_patch_free(patch); }
};

// git counts from 1, and an empty range stands after its line.
LineRange rangeOf(int start, int lines) {
  return {lines == 0 ? start : start - 1, lines};
}

struct Word {
  QString text;
  int line = 0;
  int column = 0;
  // Of dtl's elements.
  friend bool operator==(const Word& a, const Word& b) { return a.text == b.text; }
};

bool isOfAWord(QChar character) {
  return character.isLetterOrNumber() || character == u'_';
}

// Identifiers and numbers are words, so is each other character; space between them is none.
std::vector<Word> wordsOf(const QStringList& lines) {
  std::vector<Word> words;
  for (int number = 0; number < lines.size(); ++number) {
    const QString& line = lines[number];
    for (qsizetype at = 0; at < line.size();) {
      qsizetype end = at + 1;
      while (isOfAWord(line[at]) && end < line.size() && isOfAWord(line[end])) {
        ++end;
      }
      if (!line[at].isSpace()) {
        words.push_back({line.mid(at, end - at), number, static_cast<int>(at)});
      }
      at = end;
    }
  }
  return words;
}

// Words beside each other become one mark, with the space between them.
void append(std::vector<InlineMark>& marks, const Word& word, const QStringList& lines) {
  const int length = static_cast<int>(word.text.size());
  if (!marks.empty() && marks.back().line == word.line) {
    InlineMark& last = marks.back();
    const int end = last.column + last.length;
    if (QStringView(lines[word.line]).mid(end, word.column - end).trimmed().isEmpty()) {
      last.length = word.column + length - last.column;
      return;
    }
  }
  marks.push_back({word.line, word.column, length});
}

}  // namespace

std::vector<DiffChunk> diffLines(const std::string& left, const std::string& right, bool ignoreWhiteSpace) {
  static const GitLibrary library;
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_PATIENCE | GIT_DIFF_INDENT_HEURISTIC;
  if (ignoreWhiteSpace) {
    options.flags |= GIT_DIFF_IGNORE_WHITESPACE;
  }
  options.context_lines = 0;
  options.interhunk_lines = 0;
  git_patch* raw = nullptr;
  if (git_patch_from_buffers(&raw, left.data(), left.size(), nullptr, right.data(), right.size(), nullptr, &options) !=
      0) {
    return {};
  }
  const std::unique_ptr<git_patch, FreePatch> patch(raw);
  std::vector<DiffChunk> chunks;
  for (std::size_t i = 0; i < git_patch_num_hunks(patch.get()); ++i) {
    const git_diff_hunk* hunk = nullptr;
    if (git_patch_get_hunk(&hunk, nullptr, patch.get(), i) == 0) {
      chunks.push_back({rangeOf(hunk->old_start, hunk->old_lines), rangeOf(hunk->new_start, hunk->new_lines)});
    }
  }
  return chunks;
}

WordMarks diffWords(const QStringList& left, const QStringList& right) {
  const std::vector<Word> leftWords = wordsOf(left);
  const std::vector<Word> rightWords = wordsOf(right);
  if (leftWords.empty() || rightWords.empty() || leftWords.size() + rightWords.size() > kMaxWords) {
    return {};
  }
  dtl::Diff<QString> diff;
  std::vector<QString> leftTexts;
  std::vector<QString> rightTexts;
  leftTexts.reserve(leftWords.size());
  rightTexts.reserve(rightWords.size());
  for (const Word& word : leftWords) {
    leftTexts.push_back(word.text);
  }
  for (const Word& word : rightWords) {
    rightTexts.push_back(word.text);
  }
  diff = dtl::Diff<QString>(leftTexts, rightTexts);
  diff.compose();
  WordMarks marks;
  std::size_t atLeft = 0;
  std::size_t atRight = 0;
  for (const auto& [text, step] : diff.getSes().getSequence()) {
    if (step.type == dtl::SES_DELETE) {
      append(marks.left, leftWords[atLeft++], left);
    } else if (step.type == dtl::SES_ADD) {
      append(marks.right, rightWords[atRight++], right);
    } else {
      ++atLeft;
      ++atRight;
    }
  }
  return marks;
}

}  // namespace swage::ui
