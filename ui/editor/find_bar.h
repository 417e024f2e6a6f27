// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/widgets/theme.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace swage::ui {

// A line to search with. Says what to look for; the view it belongs to does the looking. Escape closes it.
class FindBar final : public QWidget {
  Q_OBJECT

 public:
  explicit FindBar(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void open(const QString& suggestion);
  void close();
  [[nodiscard]] QString text() const;
  void setFound(bool found);

 Q_SIGNALS:
  void textEdited(const QString& text);
  void nextRequested();
  void previousRequested();
  void closed();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QLineEdit* m_edit;
  QLabel* m_result;
  QToolButton* m_previous;
  QToolButton* m_next;
  QToolButton* m_close;
};

}  // namespace swage::ui
