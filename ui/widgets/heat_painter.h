// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QRectF>

#include "ui/models/cell_view.h"
#include "ui/widgets/theme.h"

class QPainter;

namespace swage::ui {

// How a cell looks, shared by the map and its legend. Every state differs by shape and not only by colour.
// `ink`: of the texts, where the map has chosen it for all of its cells.
void paintCell(QPainter& painter, const QRectF& rect, const CellView& cell, const Theme& theme, const QFont& font,
               const QColor& ink = {});
[[nodiscard]] QColor fillOf(const CellView& cell, const Theme& theme);
void paintCellBackground(QPainter& painter, const QRectF& rect, services::CellSummary::State state, const QColor& fill,
                         const Theme& theme);
void paintStar(QPainter& painter, const QPointF& centre, double radius, const QColor& color);
// Around the chosen cell: readable on any fill, in the accent colour while the map has the focus.
void paintSelection(QPainter& painter, const QRectF& rect, const Theme& theme, bool hasFocus);

}  // namespace swage::ui
