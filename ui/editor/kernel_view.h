// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <cstdint>

#include "ui/widgets/theme.h"

class QsciScintilla;

namespace swage::ui {

class CudaLexer;
class FindBar;

// Read-only text of a kernel with line numbers and a find bar (Ctrl+F, F3, Shift+F3). Keeps its scroll position when
// the same text is set again. GUI thread only.
class KernelView final : public QWidget {
  Q_OBJECT

 public:
  enum class Language : std::uint8_t { Cuda, Plain };

  explicit KernelView(Language language, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setText(const QString& text);
  // Scrolls to the first line that contains `text`, if there is one.
  void reveal(const QString& text);
  [[nodiscard]] int firstVisibleLine() const;
  [[nodiscard]] QString text() const;
  [[nodiscard]] QString selectedText() const;
  void openFind();
  void findNext();
  void findPrevious();

 private:
  enum class Direction : std::uint8_t { Forward, Backward };
  void search(const QString& text, Direction direction);
  void updateMargin();
  void addShortcuts();

  QsciScintilla* m_editor;
  CudaLexer* m_lexer = nullptr;
  FindBar* m_find;
};

}  // namespace swage::ui
