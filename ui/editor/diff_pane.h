// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <cstdint>
#include <vector>

#include "ui/editor/editor_style.h"
#include "ui/editor/find_bar.h"
#include "ui/editor/lexers.h"
#include "ui/models/text_diff.h"
#include "ui/widgets/theme.h"

class QsciScintilla;

namespace swage::ui {

// One side of a comparison: read-only text with line numbers in which changed lines and words are marked, by colour
// and by a sign in the margin. Tells where its lines are on the screen, for whoever draws beside it. GUI thread only.
class DiffPane final : public QWidget {
  Q_OBJECT

 public:
  enum class Language : std::uint8_t { Cuda, Assembly };
  // Which side of a difference this is, and whether what differs is marked as old or as new.
  struct Marked {
    DiffSide side = DiffSide::Left;
    const TextDiff* diff = nullptr;
    bool isOld = false;
  };

  explicit DiffPane(QWidget* parent = nullptr);
  // What assistive technology calls the text.
  void setTitle(const QString& title);
  void setTheme(const Theme& theme);
  // Its font and tabs; line numbers stand for lines of other texts here and are always shown.
  void setStyle(const EditorStyle& style);
  void setLanguage(Language language);
  void setText(const QString& text);
  [[nodiscard]] QString text() const;
  // Replaces all marks. A pane in the middle of three is a side of two differences.
  void mark(const std::vector<Marked>& differences);
  // Lines of both texts in one; see unifiedLines().
  void setUnified(const std::vector<UnifiedLine>& lines, const TextDiff& diff);
  // The chunk that the caret is in, in the margin; an empty range marks nothing.
  void markCurrent(const LineRange& lines);

  [[nodiscard]] int caretLine() const;
  void setCaretLine(int line);  // and scrolls to it where it is not well in sight
  void reveal(int line);        // scrolls, unless it is in sight with some lines around it
  [[nodiscard]] int lineCount() const;
  [[nodiscard]] int topLine() const;
  void setTopLine(int line);
  [[nodiscard]] int visibleLines() const;
  [[nodiscard]] int horizontalPosition() const;
  void setHorizontalPosition(int position);
  // Of the upper edge of a line, in this widget's coordinates; also of lines out of sight.
  [[nodiscard]] double lineTop(int line) const;
  [[nodiscard]] QString selectedText() const;
  // Selects the next occurrence, around the end; false: there is none.
  bool find(const QString& text, const FindOptions& options, bool forward);

 Q_SIGNALS:
  void scrolled();
  void caretMoved(int line);
  void focused();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void releaseKeys();
  void defineMarks();
  void clearMarks();
  void markRange(const LineRange& range, int background, int sign);
  void markUnified(int at, const UnifiedLine& line, const TextDiff& diff);
  void updateNumberMargin();

  QsciScintilla* m_editor;
  ThemedLexer m_source;
  ThemedLexer m_assembly;
  Theme m_theme = Theme::light();
  EditorStyle m_style;
};

}  // namespace swage::ui
