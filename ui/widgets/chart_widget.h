// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/widgets/chart_menu.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

// A chart that paints itself. Has a menu (also by the keyboard's menu key) that copies it or writes it as SVG, PNG and
// CSV. Read aloud as its title and, cell by cell, the numbers it shows.
class ChartWidget : public QWidget, public ChartSource {
  Q_OBJECT

 public:
  explicit ChartWidget(const QString& title, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // Without one the menu can only copy.
  void setOutlet(const ChartOutlet& outlet);
  [[nodiscard]] QString chartTitle() const final { return m_title; }

 protected:
  void paintEvent(QPaintEvent* event) final;
  void contextMenuEvent(QContextMenuEvent* event) override;
  [[nodiscard]] const Theme& theme() const { return m_theme; }
  // After new numbers: paints, and says them anew.
  void refresh();

 private:
  Theme m_theme = Theme::light();
  QString m_title;
  ChartOutlet m_outlet;
};

}  // namespace swage::ui
