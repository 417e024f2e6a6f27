// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStackedWidget>

class QLabel;

namespace swage::ui {

// Shows a content widget, or, while there is nothing in it, a sentence that says what to do. Owns the content.
class EmptyState final : public QStackedWidget {
  Q_OBJECT

 public:
  EmptyState(QWidget* content, const QString& sentence, QWidget* parent = nullptr);
  void setSentence(const QString& sentence);
  void setEmpty(bool empty);
  [[nodiscard]] bool isEmpty() const { return currentIndex() == 1; }
  [[nodiscard]] QSize minimumSizeHint() const override;

 private:
  QLabel* m_label;
};

}  // namespace swage::ui
