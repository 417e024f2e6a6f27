// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/text_diff.h"

#include <algorithm>

#include "ui/models/assembly_addresses.h"
#include "ui/models/line_diff.h"

namespace swage::ui {
namespace {

// Blanks out comments and keeps every line where it is. Text in quotes is no comment.
class CommentBlanker {
 public:
  explicit CommentBlanker(CommentSyntax syntax) : m_syntax(syntax) {}

  [[nodiscard]] QString blank(const QString& text) {
    QString result = text;
    for (qsizetype at = 0; at < result.size(); ++at) {
      const QChar next = at + 1 < result.size() ? result[at + 1] : QChar();
      if (result[at] == u'\n') {
        endLine();
      } else if (m_inBlock) {
        m_inBlock = !(result[at] == u'*' && next == u'/');
        blankOut(result, at, m_inBlock ? 1 : 2);
      } else if (m_inLine) {
        result[at] = u' ';
      } else if (!m_quote.isNull()) {
        readQuoted(result[at], at);
      } else {
        read(result, at, next);
      }
    }
    return result;
  }

 private:
  void endLine() {
    m_inLine = false;
    m_quote = {};
  }
  void readQuoted(QChar character, qsizetype& at) {
    if (character == u'\\') {
      ++at;
    } else if (character == m_quote) {
      m_quote = {};
    }
  }
  void read(QString& text, qsizetype& at, QChar next) {
    const QChar character = text[at];
    if (character == u'"' || character == u'\'') {
      m_quote = character;
    } else if (character == u'/' && next == u'*') {
      m_inBlock = true;
      blankOut(text, at, 2);
    } else if ((character == u'/' && next == u'/') || (character == u'#' && m_syntax == CommentSyntax::Assembly)) {
      m_inLine = true;
      text[at] = u' ';
    }
  }
  static void blankOut(QString& text, qsizetype& at, int count) {
    for (int i = 0; i < count && at + i < text.size(); ++i) {
      text[at + i] = u' ';
    }
    at += count - 1;
  }

  CommentSyntax m_syntax;
  bool m_inBlock = false;
  bool m_inLine = false;
  QChar m_quote;
};

QString compared(const QString& text, const DiffOptions& options) {
  const bool blanks = options.ignoreComments && options.comments != CommentSyntax::None;
  return blanks ? CommentBlanker(options.comments).blank(text) : text;
}

// What is left of a line whose comment is ignored must not differ by the space before it.
QStringList withoutTrailingSpace(QStringList lines) {
  for (QString& line : lines) {
    while (!line.isEmpty() && line.back().isSpace()) {
      line.chop(1);
    }
  }
  return lines;
}

// Without what only says where code lies. Removed, two lines are equal that differ by nothing else; blanked out, the
// rest stays in its columns.
enum class Addresses : std::uint8_t { Removed, Blanked };
QStringList withoutAddresses(QStringList lines, Addresses how) {
  for (QString& line : lines) {
    const std::vector<LineSpan> spans = addressesIn(line);
    for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
      line.replace(span->begin, span->length,
                   how == Addresses::Removed ? QString() : QString(span->length, QLatin1Char(' ')));
    }
  }
  return lines;
}

std::string joined(const QStringList& lines) {
  return lines.isEmpty() ? std::string() : QString(lines.join(u'\n') + u'\n').toStdString();
}

bool isBlank(const QStringList& lines, const LineRange& range) {
  return std::all_of(lines.begin() + range.first, lines.begin() + range.end(),
                     [](const QString& line) { return line.trimmed().isEmpty(); });
}

void appendMarks(std::vector<InlineMark>& marks, std::vector<InlineMark> found, int firstLine) {
  for (InlineMark& mark : found) {
    mark.line += firstLine;
    marks.push_back(mark);
  }
}

DiffSide opposite(DiffSide side) {
  return side == DiffSide::Left ? DiffSide::Right : DiffSide::Left;
}

QString fromLines(const QStringList& lines) {
  return lines.isEmpty() ? QString() : QString(lines.join(u'\n') + u'\n');
}

void appendBoth(std::vector<UnifiedLine>& result, const QStringList& left, int first, int count, int shift) {
  for (int i = 0; i < count; ++i) {
    result.push_back({UnifiedLine::Kind::Both, first + i, first + i + shift, left[first + i]});
  }
}

void appendIgnored(std::vector<UnifiedLine>& result, const QStringList& left, const QStringList& right,
                   const DiffChunk& chunk) {
  for (int i = 0; i < std::max(chunk.left.count, chunk.right.count); ++i) {
    const int leftLine = i < chunk.left.count ? chunk.left.first + i : -1;
    const int rightLine = i < chunk.right.count ? chunk.right.first + i : -1;
    result.push_back(
        {UnifiedLine::Kind::Both, leftLine, rightLine, rightLine >= 0 ? right[rightLine] : left[leftLine]});
  }
}

bool beginsBlock(const std::vector<UnifiedLine>& lines, int line) {
  const auto at = static_cast<std::size_t>(line);
  return isChange(lines[at]) && (at == 0 || !isChange(lines[at - 1]));
}

}  // namespace

int TextDiff::changeCount() const {
  return static_cast<int>(
      std::count_if(chunks.begin(), chunks.end(), [](const DiffChunk& chunk) { return !chunk.isIgnored; }));
}

QStringList linesOf(const QString& text) {
  QString plain = text;
  plain.replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
  QStringList lines = plain.split(u'\n');
  if (lines.back().isEmpty()) {
    lines.pop_back();
  }
  return lines;
}

TextDiff diffTexts(const QString& left, const QString& right, const DiffOptions& options) {
  QStringList leftLines = linesOf(compared(left, options));
  QStringList rightLines = linesOf(compared(right, options));
  if (options.ignoreComments) {
    leftLines = withoutTrailingSpace(std::move(leftLines));
    rightLines = withoutTrailingSpace(std::move(rightLines));
  }
  const auto compact = [&options](const QStringList& lines) {
    return joined(options.ignoreAddresses ? withoutAddresses(lines, Addresses::Removed) : lines);
  };
  TextDiff diff;
  diff.chunks = diffLines(compact(leftLines), compact(rightLines), options.ignoreWhiteSpace);
  if (options.ignoreAddresses) {
    leftLines = withoutAddresses(std::move(leftLines), Addresses::Blanked);
    rightLines = withoutAddresses(std::move(rightLines), Addresses::Blanked);
  }
  for (DiffChunk& chunk : diff.chunks) {
    const bool mayBeBlank = options.ignoreComments || options.ignoreAddresses;
    chunk.isIgnored = mayBeBlank && isBlank(leftLines, chunk.left) && isBlank(rightLines, chunk.right);
    if (!chunk.isIgnored && chunk.left.count > 0 && chunk.right.count > 0) {
      WordMarks marks = diffWords(leftLines.mid(chunk.left.first, chunk.left.count),
                                  rightLines.mid(chunk.right.first, chunk.right.count));
      appendMarks(diff.leftMarks, std::move(marks.left), chunk.left.first);
      appendMarks(diff.rightMarks, std::move(marks.right), chunk.right.first);
    }
  }
  return diff;
}

double mapLine(const TextDiff& diff, DiffSide from, double line) {
  const DiffSide to = opposite(from);
  double shift = 0.0;
  for (const DiffChunk& chunk : diff.chunks) {
    const LineRange& source = chunk.range(from);
    const LineRange& target = chunk.range(to);
    if (line < source.first) {
      break;
    }
    if (line < source.end()) {
      const double inside = (line - source.first) / source.count;
      return target.first + inside * target.count;
    }
    shift = target.end() - source.end();
  }
  return line + shift;
}

int chunkAt(const TextDiff& diff, DiffSide side, int line) {
  for (std::size_t i = 0; i < diff.chunks.size(); ++i) {
    const LineRange& range = diff.chunks[i].range(side);
    const int end = std::max(range.end(), range.first + 1);  // an empty range is met on the line it lies before
    if (!diff.chunks[i].isIgnored && line >= range.first && line < end) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int nextChunk(const TextDiff& diff, DiffSide side, int line) {
  for (std::size_t i = 0; i < diff.chunks.size(); ++i) {
    if (!diff.chunks[i].isIgnored && diff.chunks[i].range(side).first > line) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int previousChunk(const TextDiff& diff, DiffSide side, int line) {
  for (std::size_t i = diff.chunks.size(); i-- > 0;) {
    const LineRange& range = diff.chunks[i].range(side);
    if (!diff.chunks[i].isIgnored && range.first < line && std::max(range.end(), range.first + 1) <= line) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

QString pushChunk(const QString& source, const QString& target, const DiffChunk& chunk, DiffSide from) {
  const LineRange& taken = chunk.range(from);
  const LineRange& replaced = chunk.range(opposite(from));
  const QStringList sourceLines = linesOf(source);
  const QStringList targetLines = linesOf(target);
  return fromLines(targetLines.mid(0, replaced.first) + sourceLines.mid(taken.first, taken.count) +
                   targetLines.mid(replaced.end()));
}

QString deleteChunk(const QString& text, const DiffChunk& chunk, DiffSide side) {
  const LineRange& removed = chunk.range(side);
  const QStringList lines = linesOf(text);
  return fromLines(lines.mid(0, removed.first) + lines.mid(removed.end()));
}

std::vector<UnifiedLine> unifiedLines(const QStringList& left, const QStringList& right, const TextDiff& diff,
                                      int context) {
  std::vector<UnifiedLine> result;
  int done = 0;  // lines of the left
  int shift = 0;
  const auto appendEqual = [&](int end, bool isFirst, bool isLast) {
    const int count = end - done;
    const int head = isFirst ? 0 : std::min(context, count);
    const int tail = isLast ? 0 : std::min(context, count - head);
    appendBoth(result, left, done, head, shift);
    if (head + tail < count) {
      result.push_back({UnifiedLine::Kind::Gap, -1, -1, {}});
    }
    appendBoth(result, left, end - tail, tail, shift);
    done = end;
  };
  for (std::size_t i = 0; i < diff.chunks.size(); ++i) {
    const DiffChunk& chunk = diff.chunks[i];
    appendEqual(chunk.left.first, i == 0, false);
    if (chunk.isIgnored) {
      appendIgnored(result, left, right, chunk);
    }
    for (int line = chunk.left.first; !chunk.isIgnored && line < chunk.left.end(); ++line) {
      result.push_back({UnifiedLine::Kind::LeftOnly, line, -1, left[line]});
    }
    for (int line = chunk.right.first; !chunk.isIgnored && line < chunk.right.end(); ++line) {
      result.push_back({UnifiedLine::Kind::RightOnly, -1, line, right[line]});
    }
    done = chunk.left.end();
    shift = chunk.right.end() - chunk.left.end();
  }
  appendEqual(static_cast<int>(left.size()), diff.chunks.empty(), true);
  return result;
}

bool isChange(const UnifiedLine& line) {
  return line.kind == UnifiedLine::Kind::LeftOnly || line.kind == UnifiedLine::Kind::RightOnly;
}

int nextBlock(const std::vector<UnifiedLine>& lines, int line) {
  for (int at = line + 1; at < static_cast<int>(lines.size()); ++at) {
    if (beginsBlock(lines, at)) {
      return at;
    }
  }
  return -1;
}

int previousBlock(const std::vector<UnifiedLine>& lines, int line) {
  int at = std::min(line, static_cast<int>(lines.size())) - 1;
  while (at >= 0 && !beginsBlock(lines, at)) {
    --at;
  }
  return std::max(at, -1);
}

std::vector<LineRange> conflicts(const TextDiff& left, const TextDiff& right) {
  std::vector<LineRange> found;
  for (const DiffChunk& one : left.chunks) {
    for (const DiffChunk& other : right.chunks) {
      const LineRange& a = one.right;
      const LineRange& b = other.left;
      const bool touch = a.first < std::max(b.end(), b.first + 1) && b.first < std::max(a.end(), a.first + 1);
      if (touch && !one.isIgnored && !other.isIgnored) {
        const int first = std::min(a.first, b.first);
        found.push_back({first, std::max(a.end(), b.end()) - first});
      }
    }
  }
  return found;
}

}  // namespace swage::ui
