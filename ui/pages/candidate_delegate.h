// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

#include "ui/widgets/theme.h"

namespace swage::ui {

// Paints the table of candidates: what became of one in a colour of its own, and the header of a group over the whole
// width. GUI thread only.
class CandidateDelegate final : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void setTheme(const Theme& theme) { m_theme = theme; }
  // Of the place where a click folds a group or unfolds it, from the left end of the viewport.
  [[nodiscard]] static int arrowWidth(const QFontMetrics& metrics) { return metrics.height() + 10; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  void paintHeader(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index) const;

  Theme m_theme = Theme::light();
};

}  // namespace swage::ui
