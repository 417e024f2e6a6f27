// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/flow_layout.h"

#include <QHBoxLayout>
#include <QStyle>
#include <QWidget>

#include <algorithm>

namespace swage::ui {
namespace {

constexpr int kGap = 8;
constexpr int kRowGap = 4;

bool grows(const QLayoutItem& item) {
  const QWidget* widget = item.widget();
  return item.expandingDirections().testFlag(Qt::Horizontal) ||
         (widget != nullptr && widget->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored);
}

}  // namespace

FlowLayout::FlowLayout(QWidget* parent) : QLayout(parent) {
  setSpacing(kGap);
}

FlowLayout::~FlowLayout() = default;

void FlowLayout::addItem(QLayoutItem* item) {
  m_items.emplace_back(item);
  invalidate();
}

void FlowLayout::addPair(QWidget* label, QWidget* field) {
  auto* pair = new QWidget;
  auto* row = new QHBoxLayout(pair);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(kGap / 2);
  row->addWidget(label);
  row->addWidget(field);
  addWidget(pair);
}

int FlowLayout::count() const {
  return static_cast<int>(m_items.size());
}

QLayoutItem* FlowLayout::itemAt(int index) const {
  return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)].get() : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index) {
  if (index < 0 || index >= count()) {
    return nullptr;
  }
  const auto at = m_items.begin() + index;
  QLayoutItem* item = at->release();
  m_items.erase(at);
  invalidate();
  return item;
}

int FlowLayout::gap() const {
  return std::max(0, spacing());
}

// Hidden ones take no place. A control that is wider than the whole gets a row of its own.
std::vector<FlowLayout::Row> FlowLayout::rows(int width) const {
  std::vector<Row> rows;
  for (const auto& item : m_items) {
    if (item->isEmpty()) {
      continue;
    }
    const QSize wanted = item->sizeHint().expandedTo(item->minimumSize());
    const bool fits = !rows.empty() && rows.back().width + gap() + wanted.width() <= width;
    if (!fits) {
      rows.emplace_back();
    }
    Row& row = rows.back();
    row.width += wanted.width() + (row.items.empty() ? 0 : gap());
    row.height = std::max(row.height, wanted.height());
    row.items.push_back(item.get());
  }
  return rows;
}

int FlowLayout::heightForWidth(int width) const {
  const QMargins margins = contentsMargins();
  int height = margins.top() + margins.bottom();
  const std::vector<Row> all = rows(width - margins.left() - margins.right());
  for (const Row& row : all) {
    height += row.height;
  }
  return height + kRowGap * std::max(0, static_cast<int>(all.size()) - 1);
}

int FlowLayout::height() const {
  return heightForWidth(m_width > 0 ? m_width : QWIDGETSIZE_MAX);
}

QSize FlowLayout::sizeHint() const {
  int width = 0;
  for (const Row& row : rows(QWIDGETSIZE_MAX)) {
    width = std::max(width, row.width);
  }
  const QMargins margins = contentsMargins();
  return {width + margins.left() + margins.right(), height()};
}

QSize FlowLayout::minimumSize() const {
  int width = 0;
  for (const auto& item : m_items) {
    width = item->isEmpty() ? width : std::max(width, item->minimumSize().width());
  }
  const QMargins margins = contentsMargins();
  return {width + margins.left() + margins.right(), height()};
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  const int before = height();
  m_width = rect.width();
  if (height() != before) {
    update();  // lays out the whole once more, with this height
  }
  const QRect inside = rect.marginsRemoved(contentsMargins());
  int y = inside.top();
  for (const Row& row : rows(inside.width())) {
    int x = inside.left();
    const auto growing = static_cast<int>(
        std::count_if(row.items.begin(), row.items.end(), [](const QLayoutItem* item) { return grows(*item); }));
    const int left = std::max(0, inside.width() - row.width);
    for (QLayoutItem* item : row.items) {
      QSize size = item->sizeHint().expandedTo(item->minimumSize());
      if (grows(*item)) {
        size.rwidth() += left / growing;
      }
      size.setWidth(std::min(size.width(), inside.width()));
      item->setGeometry(QStyle::visualRect(parentWidget()->layoutDirection(), rect,
                                           QRect(QPoint(x, y + (row.height - size.height()) / 2), size)));
      x += size.width() + gap();
    }
    y += row.height + kRowGap;
  }
}

}  // namespace swage::ui
