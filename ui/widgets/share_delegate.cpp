// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/share_delegate.h"

#include <QApplication>
#include <QPainter>

#include <algorithm>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// Background, selection and focus as the style has them, without any text.
void paintFrame(QPainter& painter, QStyleOptionViewItem option) {
  option.text.clear();
  const QStyle* style = option.widget != nullptr ? option.widget->style() : QApplication::style();
  style->drawControl(QStyle::CE_ItemViewItem, &option, &painter, option.widget);
}

int gapOf(const QFontMetrics& metrics) {
  return metrics.height() / 3;
}

}  // namespace

void ShareDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  if (m_lostRole >= 0 && index.data(m_lostRole).toBool()) {
    option->palette.setColor(QPalette::Text, m_theme.bad);
  }
}

void ShareDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const QVariant share = index.data(m_shareRole);
  if (!share.isValid()) {
    QStyledItemDelegate::paint(painter, option, index);
    return;
  }
  QStyleOptionViewItem item = option;
  initStyleOption(&item, index);
  const QString text = item.text;
  paintFrame(*painter, item);
  const QFontMetrics& metrics = item.fontMetrics;
  const int gap = gapOf(metrics);
  const QRect inner = item.rect.adjusted(gap, 0, -gap, 0);
  const int number = metrics.horizontalAdvance(u"00.0 %"_s);
  const bool isSelected = (item.state & QStyle::State_Selected) != 0;
  painter->save();
  painter->setFont(item.font);
  painter->setPen(isSelected ? item.palette.color(QPalette::HighlightedText) : item.palette.color(QPalette::Text));
  painter->drawText(QRect(inner.left(), inner.top(), number, inner.height()), Qt::AlignRight | Qt::AlignVCenter, text);
  const int thickness = metrics.height() / 2;
  const QRectF track(inner.left() + number + gap, inner.center().y() - thickness / 2.0,
                     std::max(0, inner.width() - number - gap), thickness);
  QRectF bar = track;
  bar.setWidth(track.width() * std::clamp(share.toDouble(), 0.0, 1.0));
  if (track.width() >= 2.0 * metrics.height()) {  // else nothing could be read off it
    painter->fillRect(track, m_theme.chartGrid);
    painter->fillRect(bar, isSelected ? m_theme.accentText : m_theme.chartBar);
  }
  painter->restore();
}

void TallyDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QStyleOptionViewItem item = option;
  initStyleOption(&item, index);
  paintFrame(*painter, item);
  const QFontMetrics& metrics = item.fontMetrics;
  const int gap = gapOf(metrics);
  const int line = metrics.height();
  const QRect inner = item.rect.adjusted(2 * gap, gap, -2 * gap, -gap);
  const bool isSelected = (item.state & QStyle::State_Selected) != 0;
  const QColor strong = isSelected ? item.palette.color(QPalette::HighlightedText) : m_theme.text;
  const QColor muted = isSelected ? strong : m_theme.mutedText;
  const auto write = [&](int row, Qt::Alignment side, const QString& text, const QColor& color) {
    painter->setPen(color);
    const QRect place(inner.left(), inner.top() + row, inner.width(), line);
    painter->drawText(place, static_cast<int>((side | Qt::AlignVCenter).toInt()),
                      metrics.elidedText(text, Qt::ElideRight, place.width()));
  };
  painter->save();
  painter->setFont(item.font);
  const QVariant share = index.data(m_roles.share);
  const int middle = (inner.height() - line) / 2;  // where nothing stands under it
  write(share.isValid() ? 0 : middle, Qt::AlignLeft, index.data(m_roles.headline).toString(),
        share.isValid() ? strong : muted);
  if (share.isValid()) {
    const QString correct = tr("%1 correct").arg(formatShare(share.toDouble()));
    const int taken = metrics.horizontalAdvance(index.data(m_roles.headline).toString()) + gap;
    const bool fits = taken + metrics.horizontalAdvance(correct) <= inner.width();
    write(0, Qt::AlignRight, fits ? correct : formatShare(share.toDouble()), muted);
    const QRectF track(inner.left(), inner.top() + line + gap / 2.0, inner.width(), gap);
    QRectF bar = track;
    bar.setWidth(track.width() * std::clamp(share.toDouble(), 0.0, 1.0));
    painter->fillRect(track, m_theme.chartGrid);
    painter->fillRect(bar, isSelected ? m_theme.accentText : m_theme.chartBar);
  }
  const int second = line + 2 * gap;
  const QString detail = index.data(m_roles.detail).toString();
  const int taken = detail.isEmpty() ? 0 : metrics.horizontalAdvance(detail) + gap;
  write(second, Qt::AlignLeft, detail, strong);
  painter->setPen(muted);
  const QRect rest(inner.left() + taken, inner.top() + second, std::max(0, inner.width() - taken), line);
  if (rest.width() >= metrics.horizontalAdvance(u"#1234…"_s)) {  // less says nothing
    painter->drawText(rest, Qt::AlignRight | Qt::AlignVCenter,
                      metrics.elidedText(index.data(m_roles.last).toString(), Qt::ElideRight, rest.width()));
  }
  painter->restore();
}

QSize TallyDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
  const QFontMetrics& metrics = option.fontMetrics;
  const int gap = gapOf(metrics);
  return {metrics.horizontalAdvance(u"12 elites #1234 wrong"_s) + 4 * gap, 2 * metrics.height() + 4 * gap};
}

int TallyDelegate::leastWidth(const QFontMetrics& metrics) {
  return metrics.horizontalAdvance(u"999 100 %"_s) + 4 * gapOf(metrics);  // four digits still do not touch
}

}  // namespace swage::ui
