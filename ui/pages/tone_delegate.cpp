// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/tone_delegate.h"

#include "ui/models/check_models.h"

namespace swage::ui {

void ToneDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  if (index.column() != 0) {
    return;
  }
  const auto tone = static_cast<CheckTone>(index.data(kToneRole).toInt());
  const QColor color = tone == CheckTone::Good      ? m_theme.good
                       : tone == CheckTone::Caution ? m_theme.caution
                                                    : m_theme.bad;
  option->palette.setColor(QPalette::Text, color);
}

}  // namespace swage::ui
