// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/candidate_delegate.h"

#include <QPainter>
#include <QPolygonF>
#include <QTableView>

#include "ui/models/candidate_table_model.h"
#include "ui/widgets/badge.h"

namespace swage::ui {
namespace {

void paintArrow(QPainter& painter, const QPointF& centre, double reach, bool isUnfolded) {
  const QPolygonF down({{-reach, -reach * 0.5}, {reach, -reach * 0.5}, {0.0, reach * 0.6}});
  const QPolygonF right({{-reach * 0.5, -reach}, {-reach * 0.5, reach}, {reach * 0.6, 0.0}});
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawPolygon((isUnfolded ? down : right).translated(centre));
}

}  // namespace

void CandidateDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  if (index.column() == static_cast<int>(CandidateField::Status)) {
    const QString status = index.data(CandidateTableModel::StatusRole).toString();
    option->palette.setColor(QPalette::Text, toneColor(toneOfStatus(status), m_theme));
  }
}

void CandidateDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  if (index.data(CandidateTableModel::GroupRole).isValid()) {
    paintHeader(*painter, option, index);
  } else {
    QStyledItemDelegate::paint(painter, option, index);
  }
}

// Every cell of the row paints its own part of one line, so that columns can be moved, hidden and scrolled.
void CandidateDelegate::paintHeader(QPainter& painter, const QStyleOptionViewItem& option,
                                    const QModelIndex& index) const {
  const auto* view = qobject_cast<const QTableView*>(option.widget);
  if (view == nullptr) {
    return;
  }
  const bool isSelected = option.state.testFlag(QStyle::State_Selected);
  const int arrow = arrowWidth(option.fontMetrics);
  QRect line = option.rect;
  line.setLeft(0);
  line.setWidth(view->viewport()->width());
  painter.save();
  painter.setClipRect(option.rect);
  painter.fillRect(option.rect, isSelected ? m_theme.accent : m_theme.button);
  painter.setPen(Qt::NoPen);
  painter.setBrush(isSelected ? m_theme.accentText : m_theme.mutedText);
  const auto* model = qobject_cast<const CandidateTableModel*>(index.model());
  paintArrow(painter, QPointF(arrow / 2.0, line.center().y() + 0.5), option.fontMetrics.height() / 4.0,
             model != nullptr && model->isUnfolded(index.row()));
  QFont strong = option.font;
  strong.setWeight(QFont::DemiBold);
  painter.setFont(strong);
  painter.setPen(isSelected ? m_theme.accentText : m_theme.text);
  const QRect place = line.adjusted(arrow, 0, -6, 0);
  const QString text = index.data(CandidateTableModel::GroupRole).toString();
  painter.drawText(place, Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetrics(strong).elidedText(text, Qt::ElideRight, place.width()));
  painter.restore();
}

}  // namespace swage::ui
