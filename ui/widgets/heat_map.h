// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>
#include <utility>
#include <vector>

#include "core/services/types.h"
#include "ui/models/cell_view.h"
#include "ui/widgets/chart_menu.h"
#include "ui/widgets/theme.h"

class QMenu;
class QMimeData;

namespace swage::ui {

// Where the headers and the 36 cells lie in a widget of a given size. Where words would be cut off, the headers are the
// codes alone, and the cells get the room.
class HeatMapGeometry {
 public:
  HeatMapGeometry() = default;
  HeatMapGeometry(const QSizeF& size, const QFont& font);

  [[nodiscard]] QRectF cell(int row, int column) const;
  [[nodiscard]] QRectF rowHeader(int row) const;
  [[nodiscard]] QRectF columnHeader(int column) const;
  [[nodiscard]] QRectF blockHeader(int block) const;
  // Index of the cell at a point, or -1 between and outside of the cells.
  [[nodiscard]] int hit(const QPointF& point) const;
  // The headers have the meaning of each code.
  [[nodiscard]] bool hasWords() const { return m_hasWords; }

 private:
  void layOut(const QSizeF& size, const QFont& font, int wordLines);

  bool m_hasWords = true;
  double m_gap = 0.0;
  double m_blockGap = 0.0;
  double m_left = 0.0;
  double m_top = 0.0;
  double m_blockHeight = 0.0;
  double m_columnHeight = 0.0;
  double m_rowHeader = 0.0;
  double m_cellWidth = 0.0;
  double m_cellHeight = 0.0;
};

// The 36 behaviour cells. Click or arrow keys choose one, double click or Enter opens it, Escape chooses none; one that
// is dragged onto another, or Ctrl+click on a second one, pairs them; the menu takes the map away like any chart. A
// screen reader finds a table. Owns no data but the last cells it was given. GUI thread only.
class HeatMap final : public QWidget, public ChartSource {
  Q_OBJECT

 public:
  explicit HeatMap(QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  void setCells(const std::vector<services::CellSummary>& cells);
  void setMetric(CellMetric metric);
  void setScaleOptions(const ScaleOptions& options);
  // Called when the pointer rests on a cell.
  void setTooltipProvider(std::function<QString(int)> provider);
  // What a dragged cell is elsewhere: a file on the desktop, a text in an editor.
  void setDragContent(std::function<void(QMimeData& content, int index)> provider) {
    m_dragContent = std::move(provider);
  }
  // What a drag of the cell carries; the caller owns it.
  [[nodiscard]] QMimeData* contentOf(int index) const;
  // What stands above the entries of the map in the menu of a cell.
  void setMenuProvider(std::function<void(QMenu& menu, int index)> provider) { m_cellMenu = std::move(provider); }
  void setCurrentCell(int index);  // -1: none
  // Without one the menu can only copy.
  void setOutlet(const ChartOutlet& outlet) { m_outlet = outlet; }

  [[nodiscard]] QString chartTitle() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;

  [[nodiscard]] int currentCell() const { return m_current; }
  [[nodiscard]] const CellView& view(int index) const { return m_views[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const CellScale& scale() const { return m_scale; }
  [[nodiscard]] const HeatMapGeometry& geometryOfCells() const { return m_geometry; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void currentCellChanged(int index);
  void cellActivated(int index);
  void cellsPaired(int first, int second);  // both filled
  void scaleChanged();

 protected:
  bool event(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void showCells();
  [[nodiscard]] bool isFilled(int index) const;
  [[nodiscard]] bool canPair(int first, int second) const;
  void startDrag(int index);
  void paintMap(QPainter& painter, const HeatMapGeometry& geometry) const;
  void updateGeometryOfCells();
  void choose(int index);
  void pairWithBest();
  void moveBy(int rows, int columns);
  void announce(int index);

  Theme m_theme = Theme::light();
  std::vector<services::CellSummary> m_cells;
  CellMetric m_metric = CellMetric::Speedup;
  ScaleOptions m_scaleOptions;
  CellViews m_views;
  CellScale m_scale;
  HeatMapGeometry m_geometry;
  std::function<QString(int)> m_tooltip;
  std::function<void(QMenu&, int)> m_cellMenu;
  std::function<void(QMimeData&, int)> m_dragContent;
  ChartOutlet m_outlet;
  int m_current = -1;
  int m_dropTarget = -1;  // the cell under one that is dragged
  QPointF m_pressed;
};

}  // namespace swage::ui
