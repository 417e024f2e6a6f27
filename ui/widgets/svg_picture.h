// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QWidget>

#include "ui/widgets/theme.h"

class QSvgRenderer;

namespace swage::ui {

// An SVG document as wide as the widget is, and as high as that makes it. A document that has colours for dark pages in
// a block `@media (prefers-color-scheme: dark)` is drawn with them in the dark theme. GUI thread only.
class SvgPicture final : public QWidget {
  Q_OBJECT

 public:
  explicit SvgPicture(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // Empty: nothing is drawn.
  void setDocument(const QByteArray& svg);
  [[nodiscard]] const QByteArray& document() const { return m_document; }
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void render();

  QByteArray m_document;
  QSvgRenderer* m_renderer;
  Theme m_theme = Theme::light();
};

// The document with the rules of its block for dark pages in force, or without them: Qt knows no media queries.
[[nodiscard]] QByteArray resolveColorScheme(const QByteArray& svg, bool dark);

}  // namespace swage::ui
