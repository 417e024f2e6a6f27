// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/session.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

class HeatLegend;
class HeatMap;

// The live map of the 36 cells with its legend.
class ArchivePage final : public QWidget {
  Q_OBJECT

 public:
  explicit ArchivePage(Session& session, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  [[nodiscard]] HeatMap& map() { return *m_map; }

 Q_SIGNALS:
  void cellOpened(int index);

 private:
  void showCells();
  void showSelection();
  [[nodiscard]] QString tooltip(int index);

  Session& m_session;
  HeatMap* m_map;
  HeatLegend* m_legend;
};

}  // namespace swage::ui
