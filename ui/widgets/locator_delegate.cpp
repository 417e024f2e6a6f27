// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/locator_delegate.h"

#include <QPainter>

#include "ui/models/locator_model.h"

namespace swage::ui {
namespace {

// Draws a text whose characters at `positions` are bold, and returns where it ends.
int drawMatched(QPainter& painter, const QRect& rect, const QString& text, const QList<int>& positions) {
  const QFont plain = painter.font();
  QFont bold = plain;
  bold.setBold(true);
  int x = rect.left();
  for (int start = 0; start < text.size();) {
    const bool matched = positions.contains(start);
    int end = start + 1;
    while (end < text.size() && positions.contains(end) == matched) {
      ++end;
    }
    painter.setFont(matched ? bold : plain);
    const QString part = text.mid(start, end - start);
    painter.drawText(QRect(x, rect.top(), rect.right() - x + 1, rect.height()), Qt::AlignVCenter, part);
    x += painter.fontMetrics().horizontalAdvance(part);
    start = end;
  }
  painter.setFont(plain);
  return x;
}

}  // namespace

void LocatorDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const bool chosen = option.state.testFlag(QStyle::State_Selected);
  const bool enabled = option.state.testFlag(QStyle::State_Enabled);
  const QColor text = !enabled ? m_theme.disabledText : chosen ? m_theme.accentText : m_theme.text;
  const QColor muted = !enabled ? m_theme.disabledText : chosen ? m_theme.accentText : m_theme.mutedText;
  painter->save();
  painter->setClipRect(option.rect);
  painter->setFont(option.font);
  if (chosen) {
    painter->fillRect(option.rect, enabled ? m_theme.accent : m_theme.button);
  }
  const int margin = option.fontMetrics.averageCharWidth();
  QRect rest = option.rect.adjusted(margin, 0, -margin, 0);
  const QString keys = index.data(LocatorModel::KeysRole).toString();
  painter->setPen(muted);
  painter->drawText(rest, Qt::AlignRight | Qt::AlignVCenter, keys);
  rest.setRight(rest.right() - option.fontMetrics.horizontalAdvance(keys) - (keys.isEmpty() ? 0 : 2 * margin));
  painter->setPen(text);
  const int end =
      drawMatched(*painter, rest, index.data().toString(), index.data(LocatorModel::PositionsRole).value<QList<int>>());
  rest.setLeft(end + 2 * margin);
  painter->setPen(muted);
  const QString detail = index.data(LocatorModel::DetailRole).toString();
  painter->drawText(rest, Qt::AlignVCenter, option.fontMetrics.elidedText(detail, Qt::ElideMiddle, rest.width()));
  painter->restore();
}

QSize LocatorDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
  return {0, rowHeight(option.fontMetrics)};
}

}  // namespace swage::ui
