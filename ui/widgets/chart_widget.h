// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>

#include "ui/widgets/chart_export.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

// Asks the user for a file and calls back with it, unless they cancel. What the shell's dialogs offer.
using ChooseFile = std::function<void(QWidget* parent, const QString& suggestion,
                                      const std::function<void(const QString& file)>& chosen)>;
// Shows an error of Swage itself.
using ReportError = std::function<void(const Error& error)>;

// A chart that paints itself. Has a menu (also by the keyboard's menu key) that copies it or writes it as SVG, PNG and
// CSV. Read aloud as its title and, cell by cell, the numbers it shows.
class ChartWidget : public QWidget, public ChartSource {
  Q_OBJECT

 public:
  explicit ChartWidget(const QString& title, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // Without them the menu can only copy.
  void setExport(ChooseFile chooseFile, ReportError reportError);
  [[nodiscard]] QString chartTitle() const final { return m_title; }
  void copyImage() const;
  void copyTable() const;
  // Asks for a file and writes the chart.
  void save(ChartFormat format);

 protected:
  void paintEvent(QPaintEvent* event) final;
  void contextMenuEvent(QContextMenuEvent* event) override;
  [[nodiscard]] const Theme& theme() const { return m_theme; }
  // After new numbers: paints, and says them anew.
  void refresh();

 private:
  Theme m_theme = Theme::light();
  QString m_title;
  ChooseFile m_chooseFile;
  ReportError m_reportError;
};

}  // namespace swage::ui
