// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/status_delegate.h"

#include "ui/models/candidate_table_model.h"
#include "ui/widgets/badge.h"

namespace swage::ui {

void StatusDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  const QString status = index.data(CandidateTableModel::StatusRole).toString();
  option->palette.setColor(QPalette::Text, toneColor(toneOfStatus(status), m_theme));
}

}  // namespace swage::ui
