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

SvgPicture::SvgPicture(const QString& title, QWidget* parent)
    : ChartWidget(title, parent), m_light(new QSvgRenderer(this)), m_dark(new QSvgRenderer(this)) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void SvgPicture::setDocument(const QByteArray& svg, const ChartTable& numbers) {
  m_document = svg;
  m_numbers = numbers;
  m_light->load(resolveColorScheme(svg, false));
  m_dark->load(resolveColorScheme(svg, true));
  refresh();
}

int SvgPicture::heightForWidth(int width) const {
  const QSizeF box = m_light->viewBoxF().size();
  return box.isEmpty() ? 0 : qRound(box.height() / box.width() * width);
}

QSize SvgPicture::sizeHint() const {
  const QSize box = m_light->viewBoxF().size().toSize();
  return box.isEmpty() ? QSize(0, 0) : box;
}

void SvgPicture::drawChart(QPainter& painter, const QRectF& target) const {
  painter.fillRect(target, theme().base);
  QSvgRenderer* renderer = theme().dark ? m_dark : m_light;
  if (renderer->isValid() && !m_document.isEmpty()) {
    const QSizeF whole(target.width(), heightForWidth(qRound(target.width())));
    renderer->render(&painter, QRectF(target.topLeft(), whole));
  }
}

}  // namespace swage::ui
