// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/elided_label.h"

#include <QEvent>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace swage::ui {

ElidedLabel::ElidedLabel(Qt::TextElideMode mode, QWidget* parent) : QLabel(parent), m_mode(mode) {
  setTextFormat(Qt::PlainText);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ElidedLabel::setFullText(const QString& text) {
  if (text == m_full) {
    return;
  }
  m_full = text;
  setAccessibleName(text);
  updateGeometry();
  elide();
}

QSize ElidedLabel::sizeHint() const {
  return {fontMetrics().horizontalAdvance(m_full) + 4, fontMetrics().height()};
}

QSize ElidedLabel::minimumSizeHint() const {
  return {std::min(sizeHint().width(), fontMetrics().horizontalAdvance(u"MMMM…"_s)), fontMetrics().height()};
}

void ElidedLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  elide();
}

void ElidedLabel::changeEvent(QEvent* event) {
  QLabel::changeEvent(event);
  if (event->type() == QEvent::FontChange) {
    updateGeometry();
    elide();
  }
}

void ElidedLabel::elide() {
  const QString shown = fontMetrics().elidedText(m_full, m_mode, contentsRect().width());
  setText(shown);
  setToolTip(shown == m_full ? QString() : m_full);
}

}  // namespace swage::ui
