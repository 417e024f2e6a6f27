// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/stat_label.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace swage::ui {

StatLabel::StatLabel(const QString& caption, const QString& widest, QWidget* parent)
    : QWidget(parent), m_value(new QLabel(u"–"_s, this)), m_caption(caption) {
  QFont bold = font();
  bold.setWeight(QFont::DemiBold);
  m_value->setFont(bold);
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.85);
  auto* label = new QLabel(caption, this);
  label->setFont(small);
  label->setForegroundRole(QPalette::PlaceholderText);
  setAccessibleName(u"%1: %2"_s.arg(m_caption, m_value->text()));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6, 0, 6, 0);
  column->setSpacing(0);
  column->addWidget(m_value);
  column->addWidget(label);
  setMinimumWidth(
      std::max(QFontMetrics(bold).horizontalAdvance(widest), QFontMetrics(small).horizontalAdvance(caption)) + 14);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void StatLabel::setValue(const QString& value) {
  if (value == m_value->text()) {
    return;
  }
  m_value->setText(value);
  setAccessibleName(u"%1: %2"_s.arg(m_caption, value));
}

QString StatLabel::value() const {
  return m_value->text();
}

}  // namespace swage::ui
