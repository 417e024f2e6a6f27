// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/tone_delegate.h"

namespace swage::ui {

void ToneDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  if (const std::optional<QColor> color = m_color(index, m_theme)) {
    option->palette.setColor(QPalette::Text, *color);
  }
}

}  // namespace swage::ui
