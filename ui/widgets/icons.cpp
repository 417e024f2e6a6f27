// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/icons.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

#include "core/base/assert.h"

using namespace Qt::StringLiterals;

// Q_INIT_RESOURCE declares a function and so cannot stand inside a namespace.
static void initSwageResources() {
  Q_INIT_RESOURCE(app);
}

namespace swage::ui {

void initResources() {
  initSwageResources();
}

namespace {

QByteArray readIcon(const QString& name) {
  initSwageResources();
  QFile file(u":/icons/"_s % name % u".svg"_s);
  SWAGE_ASSERT(file.open(QIODevice::ReadOnly));
  return file.readAll();
}

// Draws an SVG whose strokes and fills are "currentColor".
class SvgIconEngine final : public QIconEngine {
 public:
  SvgIconEngine(QByteArray svg, QColor color, QColor disabled)
      : m_svg(std::move(svg)), m_color(color), m_disabled(disabled) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
    QByteArray svg = m_svg;
    svg.replace("currentColor", (mode == QIcon::Disabled ? m_disabled : m_color).name().toLatin1());
    QSvgRenderer(svg).render(painter, rect);
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return pixmap;
  }
  [[nodiscard]] QIconEngine* clone() const override { return new SvgIconEngine(*this); }

 private:
  QByteArray m_svg;
  QColor m_color;
  QColor m_disabled;
};

}  // namespace

QIcon themedIcon(const QString& name, const QColor& color, const QColor& disabled) {
  return QIcon(new SvgIconEngine(readIcon(name), color, disabled));
}

QIcon themedIcon(const QString& name, const Theme& theme) {
  return themedIcon(name, theme.text, theme.disabledText);
}

QIcon applicationIcon() {
  return QIcon(new SvgIconEngine(readIcon(u"swage"_s), Qt::black, Qt::black));
}

}  // namespace swage::ui
