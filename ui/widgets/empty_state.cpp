// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/empty_state.h"

#include <QLabel>

using namespace Qt::StringLiterals;

namespace swage::ui {

EmptyState::EmptyState(QWidget* content, const QString& sentence, QWidget* parent)
    : QStackedWidget(parent), m_label(new QLabel(sentence)) {
  m_label->setObjectName(u"emptySentence"_s);
  m_label->setAlignment(Qt::AlignCenter);
  m_label->setWordWrap(true);
  m_label->setMargin(24);
  m_label->setForegroundRole(QPalette::PlaceholderText);
  m_label->setBackgroundRole(QPalette::Base);
  m_label->setAutoFillBackground(true);
  addWidget(content);
  addWidget(m_label);
  setEmpty(true);
}

void EmptyState::setSentence(const QString& sentence) {
  m_label->setText(sentence);
}

void EmptyState::setEmpty(bool empty) {
  setCurrentIndex(empty ? 1 : 0);
  updateGeometry();
}

// A sentence fits where what it stands for would not.
QSize EmptyState::minimumSizeHint() const {
  return currentWidget()->minimumSizeHint().expandedTo(currentWidget()->minimumSize());
}

}  // namespace swage::ui
