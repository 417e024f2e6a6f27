// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/link_map.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

#include "ui/editor/diff_pane.h"

namespace swage::ui {
namespace {

// An empty range is a line between two lines.
QPainterPath bandOf(double leftTop, double leftBottom, double rightTop, double rightBottom, double width) {
  const double middle = width / 2.0;
  QPainterPath path(QPointF(0.0, leftTop));
  path.cubicTo(middle, leftTop, middle, rightTop, width, rightTop);
  path.lineTo(width, rightBottom);
  path.cubicTo(middle, rightBottom, middle, leftBottom, 0.0, leftBottom);
  path.closeSubpath();
  return path;
}

}  // namespace

LinkMap::LinkMap(const DiffPane& left, const DiffPane& right, QWidget* parent)
    : QWidget(parent), m_left(left), m_right(right) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
  connect(&left, &DiffPane::scrolled, this, qOverload<>(&QWidget::update));
  connect(&right, &DiffPane::scrolled, this, qOverload<>(&QWidget::update));
}

void LinkMap::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void LinkMap::setDiff(const TextDiff* diff) {
  m_diff = diff;
  m_current = -1;
  update();
}

void LinkMap::setCurrent(int chunk) {
  m_current = chunk;
  update();
}

QSize LinkMap::sizeHint() const {
  return {fontMetrics().height() * 2, fontMetrics().height() * 4};
}

void LinkMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), m_theme.window);
  if (m_diff == nullptr) {
    return;
  }
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t i = 0; i < m_diff->chunks.size(); ++i) {
    const DiffChunk& chunk = m_diff->chunks[i];
    const double leftTop = m_left.lineTop(chunk.left.first);
    const double rightTop = m_right.lineTop(chunk.right.first);
    const double leftBottom = m_left.lineTop(chunk.left.end());
    const double rightBottom = m_right.lineTop(chunk.right.end());
    const bool isAbove = std::max(leftBottom, rightBottom) < 0.0;
    const bool isBelow = std::min(leftTop, rightTop) > height();
    if (chunk.isIgnored || isAbove || isBelow) {
      continue;
    }
    const bool isCurrent = static_cast<int>(i) == m_current;
    painter.setPen(QPen(isCurrent ? m_theme.accent : m_theme.border, isCurrent ? 1.5 : 1.0));
    painter.setBrush(chunk.right.count == 0 ? m_theme.diffOldToken : m_theme.diffNewToken);
    painter.drawPath(bandOf(leftTop, leftBottom, rightTop, rightBottom, width()));
  }
}

}  // namespace swage::ui
