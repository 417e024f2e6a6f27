// SPDX-License-Identifier: Apache-2.0
// Draws an SVG as PNG pictures: render_icon FILE.svg SIZE=FILE.png …
#include <QImage>
#include <QPainter>
#include <QString>
#include <QSvgRenderer>

#include <cstdio>

int main(int argc, char** argv) {
  QSvgRenderer drawing(QString::fromLocal8Bit(argc > 1 ? argv[1] : ""));
  if (!drawing.isValid()) {
    std::fputs("render_icon: cannot read the drawing\n", stderr);
    return 1;
  }
  for (int i = 2; i < argc; ++i) {
    const QString order = QString::fromLocal8Bit(argv[i]);
    const int size = order.section(QLatin1Char('='), 0, 0).toInt();
    QImage picture(size, size, QImage::Format_ARGB32_Premultiplied);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    drawing.render(&painter);
    painter.end();
    if (!picture.save(order.section(QLatin1Char('='), 1))) {
      std::fprintf(stderr, "render_icon: cannot write '%s'\n", argv[i]);
      return 1;
    }
  }
  return 0;
}
