// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <cstdint>

#include "ui/widgets/theme.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace swage::ui {

// How to look for a text.
struct FindOptions {
  bool regularExpression = false;
  bool caseSensitive = false;
  bool wholeWord = false;
};

// A line to search with, a second one to replace with where the text may be changed, or a field for a line number. Says
// what is wanted; the view it belongs to does it. Escape closes it.
class FindBar final : public QWidget {
  Q_OBJECT

 public:
  enum class Mode : std::uint8_t { Find, Replace, GoToLine };

  explicit FindBar(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void open(Mode mode, const QString& suggestion);
  void close();
  [[nodiscard]] QString text() const;
  [[nodiscard]] QString replacement() const;
  [[nodiscard]] FindOptions options() const;
  void setResult(const QString& result);  // "not found", "7 replaced"; empty: nothing to say

 Q_SIGNALS:
  void searchEdited();
  void nextRequested();
  void previousRequested();
  void replaceRequested();
  void replaceAllRequested();
  void lineRequested(int line);  // 1-based
  void closed();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeFindRow();
  [[nodiscard]] QWidget* makeReplaceRow();
  [[nodiscard]] QToolButton* makeToggle(const QString& text, const QString& tooltip, const QString& name);

  Mode m_mode = Mode::Find;
  QLineEdit* m_edit;
  QLineEdit* m_replacement;
  QLabel* m_result;
  QToolButton* m_previous;
  QToolButton* m_next;
  QToolButton* m_close;
  QToolButton* m_case;
  QToolButton* m_word;
  QToolButton* m_regexp;
  QWidget* m_findRow;
  QWidget* m_replaceRow;
};

}  // namespace swage::ui
