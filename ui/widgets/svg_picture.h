// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

#include "ui/widgets/chart_widget.h"

class QSvgRenderer;

namespace swage::ui {

// An SVG document as wide as the widget is, and as high as that makes it. A document that has colours for dark pages in
// a block `@media (prefers-color-scheme: dark)` is drawn with them in the dark theme. What numbers it shows is said by
// who gives the document. GUI thread only.
class SvgPicture final : public ChartWidget {
  Q_OBJECT

 public:
  explicit SvgPicture(const QString& title, QWidget* parent = nullptr);
  // Empty: nothing is drawn.
  void setDocument(const QByteArray& svg, const ChartTable& numbers = {});
  [[nodiscard]] const QByteArray& document() const { return m_document; }
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override { return m_numbers; }

 private:
  QByteArray m_document;
  ChartTable m_numbers;
  QSvgRenderer* m_light;
  QSvgRenderer* m_dark;
};

// The document with the rules of its block for dark pages in force, or without them: Qt knows no media queries.
[[nodiscard]] QByteArray resolveColorScheme(const QByteArray& svg, bool dark);

}  // namespace swage::ui
