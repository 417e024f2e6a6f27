// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/domain/diagnostic.h"
#include "ui/editor/editor_style.h"
#include "ui/editor/lexers.h"
#include "ui/editor/line_heat.h"
#include "ui/widgets/theme.h"

class QAction;
class QKeySequence;
class QsciScintilla;

namespace swage::ui {

class EditorMarks;
class FindBar;

// Text of a kernel with line numbers, folding, several carets, a find bar (Ctrl+F, F3, Shift+F3, Ctrl+H) and marks.
// What is recorded cannot be changed; with Editing::OnFirstKey the first attempt makes the text the user's own. A text
// that was shown before comes back as it was left: caret, scroll position. The code that stands before the first kernel
// (helper functions, what all generated sources begin with) is folded. Lines are 0-based. GUI thread only.
class KernelView final : public QWidget {
  Q_OBJECT

 public:
  using Language = CodeLanguage;
  enum class Editing : std::uint8_t { Never, OnFirstKey, Now };

  explicit KernelView(Language language, QWidget* parent = nullptr);
  ~KernelView() override;
  // What assistive technology calls the text.
  void setTitle(const QString& title);
  void setTheme(const Theme& theme);
  void setStyle(const EditorStyle& style);
  [[nodiscard]] const EditorStyle& style() const { return m_style; }
  void setLanguage(Language language);
  void setEditing(Editing editing);
  [[nodiscard]] Editing editing() const { return m_editing; }
  void setText(const QString& text);
  // Whether the text was shown before, and stands as it was left.
  [[nodiscard]] bool wasKnown() const { return m_wasKnown; }
  // Scrolls to where the longest kernel begins (kernelStart()); else to the first line that contains `text`.
  void reveal(const QString& text);
  // The text that this one was made from: what differs is marked in the margin. Null: nothing is.
  void setOriginal(const QString& original);
  // Leaves the keys for replacing and for going to a line to the actions of whoever shows this.
  void releaseShortcuts();
  void goToLine(int line, int column = 0);

  void setDiagnostics(std::vector<domain::Diagnostic> diagnostics);
  void setHeat(std::vector<LineHeat> heat);
  // The counterparts of a line elsewhere; the first is brought into view unless one of them is.
  enum class Reveal : std::uint8_t { No, Yes };
  void setLinkedLines(const std::vector<int>& lines, Reveal reveal);
  [[nodiscard]] const EditorMarks& marks() const { return *m_marks; }

  [[nodiscard]] int firstVisibleLine() const;
  void setTopLine(int line);
  [[nodiscard]] int caretLine() const;
  [[nodiscard]] bool isLineShown(int line) const;  // not folded away
  [[nodiscard]] int lineCount() const;
  [[nodiscard]] QString text() const;
  [[nodiscard]] QString selectedText() const;
  [[nodiscard]] bool canUndo() const;
  [[nodiscard]] bool canRedo() const;
  void undo();
  void redo();

  void openFind();
  void openReplace();
  void openGoToLine();
  void findNext();
  void findPrevious();
  void nextHotSpot();
  void previousHotSpot();
  // Adds the next place of the selected text, or of the word at the caret, as one more caret.
  void selectNextOccurrence();

 Q_SIGNALS:
  void edited();  // by the user
  void caretLineChanged(int line);
  void lineHovered(int line);  // -1: the mouse has left

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum class Direction : std::uint8_t { Forward, Backward };
  // How a text was left.
  struct Position {
    std::size_t text = 0;  // its hash
    int caretLine = 0;
    int caretColumn = 0;
    int top = 0;
  };
  void configure();
  void connectEditor();
  void fork();
  bool search(const QString& text, Direction direction);
  void searchFromStart();
  void replace();
  void replaceAll();
  void updateMargin();
  void updateChanges();
  void rememberPosition();
  [[nodiscard]] bool restorePosition();
  void foldHelpers();
  void addShortcuts();
  QAction* addShortcut(const QList<QKeySequence>& keys, void (KernelView::*slot)());
  void hover(const QPoint& position);
  void showTooltip(const QPoint& global, int line);

  QsciScintilla* m_editor;
  ThemedLexer m_lexer;
  std::unique_ptr<QObject> m_words;  // that are offered while one types; of the lexer
  Language m_language;
  std::unique_ptr<EditorMarks> m_marks;
  FindBar* m_find;
  Theme m_theme = Theme::light();
  EditorStyle m_style;
  Editing m_editing = Editing::Never;
  int m_caretLine = 0;  // that was told of
  int m_hovered = -1;
  bool m_settingText = false;
  bool m_wasKnown = false;
  QString m_original;
  std::deque<Position> m_positions;  // the newest first
  std::vector<QAction*> m_releasable;
};

}  // namespace swage::ui
