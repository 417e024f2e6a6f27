// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/cell_scale.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

// What the colours and marks of the map mean, in one line.
class HeatLegend final : public QWidget {
  Q_OBJECT

 public:
  explicit HeatLegend(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setScale(const CellScale& scale);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] double paintRamp(QPainter& painter, double left) const;
  void paintMarks(QPainter& painter, double left) const;

  Theme m_theme = Theme::light();
  CellScale m_scale;
};

}  // namespace swage::ui
