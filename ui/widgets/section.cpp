// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/section.h"

#include <QLabel>
#include <QVBoxLayout>

namespace swage::ui {

Section::Section(const QString& title, QWidget* content, QWidget* parent)
    : QWidget(parent), m_caption(new QLabel(this)) {
  auto* heading = new QLabel(title, this);
  QFont bold = heading->font();
  bold.setWeight(QFont::DemiBold);
  heading->setFont(bold);
  m_caption->setForegroundRole(QPalette::PlaceholderText);
  m_caption->setWordWrap(true);
  m_caption->setTextFormat(Qt::PlainText);
  m_caption->hide();
  const int gap = fontMetrics().height() / 3;
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(gap);
  column->addWidget(heading);
  column->addWidget(content);
  column->addWidget(m_caption);
  column->addStretch(1);
}

void Section::setCaption(const QString& caption) {
  m_caption->setText(caption);
  m_caption->setVisible(!caption.isEmpty());
}

QString Section::caption() const {
  return m_caption->text();
}

}  // namespace swage::ui
