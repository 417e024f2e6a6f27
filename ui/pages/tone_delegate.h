// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

#include "ui/widgets/theme.h"

namespace swage::ui {

// Colours the word in the first column by kToneRole.
class ToneDelegate final : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void setTheme(const Theme& theme) { m_theme = theme; }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  Theme m_theme = Theme::light();
};

}  // namespace swage::ui
