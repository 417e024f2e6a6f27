// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>

#include "ui/models/cell_scale.h"
#include "ui/models/lineage_layout.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

// Draws a lineage: a box for each candidate in the colour of its speedup, and an arrow from each parent with the
// operator that made the child. Scrolls, zooms with Ctrl and the wheel, and is used with the arrow keys as with the
// mouse: left to a parent, right to a child, up and down within a generation.
class LineageView final : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit LineageView(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

  void setLineage(const LineageLayout& layout, const CellScale& scale);
  void setCurrent(domain::CandidateId id);
  // Of the run: marked among the others.
  void setMarked(domain::CandidateId best);
  void setZoom(double zoom);

  [[nodiscard]] const LineageLayout& layout() const { return m_layout; }
  [[nodiscard]] int currentNode() const { return m_current; }  // -1: none
  // In the coordinates of the viewport.
  [[nodiscard]] QRectF nodeRect(int node) const;
  [[nodiscard]] int nodeAt(const QPointF& point) const;
  [[nodiscard]] QString spoken(int node) const;
  [[nodiscard]] QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void currentChanged(swage::domain::CandidateId id);
  void activated();
  // Of the candidate at that place of the screen.
  void menuRequested(swage::domain::CandidateId id, const QPoint& position);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  [[nodiscard]] QSizeF boxSize() const;
  [[nodiscard]] QSizeF gaps() const;
  [[nodiscard]] double edge() const;  // left and right of all
  [[nodiscard]] QSizeF contentSize() const;
  [[nodiscard]] QColor fillOf(const services::CandidateRow& row) const;
  void paintEdge(QPainter& painter, const LineageLayout::Edge& edge) const;
  void paintNode(QPainter& painter, int node) const;
  void paintBadge(QPainter& painter, const QRectF& box, const QString& text) const;
  void choose(int node);
  void updateScrollBars();
  void reveal(int node);

  LineageLayout m_layout;
  CellScale m_scale;
  domain::CandidateId m_best;
  Theme m_theme = Theme::light();
  int m_current = -1;
  double m_zoom = 1.0;
};

}  // namespace swage::ui
