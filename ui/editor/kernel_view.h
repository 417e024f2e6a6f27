// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/domain/diagnostic.h"
#include "ui/editor/editor_style.h"
#include "ui/editor/lexers.h"
#include "ui/editor/line_heat.h"
#include "ui/widgets/theme.h"

class QKeySequence;
class QsciScintilla;

namespace swage::ui {

class EditorMarks;
class FindBar;

// Text of a kernel with line numbers, folding, several carets, a find bar (Ctrl+F, F3, Shift+F3, Ctrl+H) and marks.
// What is recorded cannot be changed; with Editing::OnFirstKey the first attempt makes the text the user's own. Keeps
// its scroll position when the same text is set again. Lines are 0-based. GUI thread only.
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
  // Scrolls to the first line that contains `text`, if there is one.
  void reveal(const QString& text);
  void goToLine(int line, int column = 0);

  void setDiagnostics(std::vector<domain::Diagnostic> diagnostics);
  void setHeat(std::vector<LineHeat> heat);
  // The counterparts of a line elsewhere; the first is brought into view unless one of them is.
  enum class Reveal : std::uint8_t { No, Yes };
  void setLinkedLines(const std::vector<int>& lines, Reveal reveal);
  [[nodiscard]] const EditorMarks& marks() const { return *m_marks; }

  [[nodiscard]] int firstVisibleLine() const;
  [[nodiscard]] int caretLine() const;
  [[nodiscard]] int lineCount() const;
  [[nodiscard]] QString text() const;
  [[nodiscard]] QString selectedText() const;
  [[nodiscard]] bool canUndo() const;

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
  void configure();
  void connectEditor();
  void fork();
  bool search(const QString& text, Direction direction);
  void searchFromStart();
  void replace();
  void replaceAll();
  void updateMargin();
  void addShortcuts();
  void addShortcut(const QKeySequence& keys, void (KernelView::*slot)());
  void hover(const QPoint& position);
  void showTooltip(const QPoint& global, int line);

  QsciScintilla* m_editor;
  ThemedLexer m_lexer;
  Language m_language;
  std::unique_ptr<EditorMarks> m_marks;
  FindBar* m_find;
  Theme m_theme = Theme::light();
  EditorStyle m_style;
  Editing m_editing = Editing::Never;
  int m_caretLine = 0;  // that was told of
  int m_hovered = -1;
  bool m_settingText = false;
};

}  // namespace swage::ui
