// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace swage::ui {

// One line that gives way: what does not fit is elided and shown in the tooltip.
class ElidedLabel final : public QLabel {
  Q_OBJECT

 public:
  explicit ElidedLabel(Qt::TextElideMode mode = Qt::ElideRight, QWidget* parent = nullptr);
  void setFullText(const QString& text);
  [[nodiscard]] const QString& fullText() const { return m_full; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void elide();

  Qt::TextElideMode m_mode;
  QString m_full;
};

}  // namespace swage::ui
