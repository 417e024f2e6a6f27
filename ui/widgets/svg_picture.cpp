// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/svg_picture.h"

#include <QPainter>
#include <QSvgRenderer>

#include <algorithm>

namespace swage::ui {

QByteArray resolveColorScheme(const QByteArray& svg, bool dark) {
  const qsizetype start = svg.indexOf("@media (prefers-color-scheme: dark)");
  const qsizetype open = start < 0 ? -1 : svg.indexOf('{', start);
  if (open < 0) {
    return svg;
  }
  int depth = 0;
  qsizetype end = open;
  for (; end < svg.size(); ++end) {
    depth += svg[end] == '{' ? 1 : svg[end] == '}' ? -1 : 0;
    if (depth == 0) {
      break;
    }
  }
  const QByteArray rules = dark ? svg.mid(open + 1, end - open - 1) : QByteArray();
  return svg.left(start) + rules + svg.mid(std::min(end + 1, svg.size()));
}

SvgPicture::SvgPicture(QWidget* parent) : QWidget(parent), m_renderer(new QSvgRenderer(this)) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void SvgPicture::setTheme(const Theme& theme) {
  m_theme = theme;
  render();
}

void SvgPicture::setDocument(const QByteArray& svg) {
  m_document = svg;
  render();
}

void SvgPicture::render() {
  m_renderer->load(resolveColorScheme(m_document, m_theme.dark));
  updateGeometry();
  update();
}

int SvgPicture::heightForWidth(int width) const {
  const QSizeF box = m_renderer->viewBoxF().size();
  return box.isEmpty() ? 0 : qRound(box.height() / box.width() * width);
}

QSize SvgPicture::sizeHint() const {
  const QSize box = m_renderer->viewBoxF().size().toSize();
  return box.isEmpty() ? QSize(0, 0) : box;
}

void SvgPicture::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), m_theme.base);
  if (m_renderer->isValid() && !m_document.isEmpty()) {
    m_renderer->render(&painter, QRectF(0, 0, width(), heightForWidth(width())));
  }
}

}  // namespace swage::ui
