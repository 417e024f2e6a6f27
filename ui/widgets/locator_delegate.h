// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QStyledItemDelegate>

#include "ui/widgets/theme.h"

namespace swage::ui {

// Paints an entry of a LocatorModel: its text with the matched characters bold, where it belongs, and its shortcut.
class LocatorDelegate final : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void setTheme(const Theme& theme) { m_theme = theme; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  [[nodiscard]] static int rowHeight(const QFontMetrics& metrics) { return metrics.height() * 7 / 4; }
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  Theme m_theme = Theme::light();
};

}  // namespace swage::ui
