// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "ui/widgets/chart_export.h"

class QMenu;
class QWidget;

namespace swage::ui {

// Asks the user for a file and calls back with it, unless they cancel. What the shell's dialogs offer.
using ChooseFile = std::function<void(QWidget* parent, const QString& suggestion,
                                      const std::function<void(const QString& file)>& chosen)>;
// Shows an error of Swage itself.
using ReportError = std::function<void(const Error& error)>;

// How a chart is taken away from a window that can ask for files. Without `chooseFile` it can only be copied.
struct ChartOutlet {
  ChooseFile chooseFile;
  ReportError reportError;
};

// The menu of any chart: copy it as an image or as numbers, write it as SVG, PNG or CSV. Belongs to `widget`, which
// shows the chart, and is deleted when it is closed.
[[nodiscard]] QMenu* makeChartMenu(QWidget& widget, const ChartSource& chart, const ChartOutlet& outlet);
// The same entries in a menu that has others, too.
void fillChartMenu(QMenu& menu, QWidget& widget, const ChartSource& chart, const ChartOutlet& outlet);

void copyChartImage(const QWidget& widget, const ChartSource& chart);
void copyChartNumbers(const ChartSource& chart);
// Asks for a file and writes the chart as large as the widget is.
void saveChart(QWidget& widget, const ChartSource& chart, const ChartOutlet& outlet, ChartFormat format);

}  // namespace swage::ui
