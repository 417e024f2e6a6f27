// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>
#include <QString>

#include "ui/widgets/theme.h"

class QPainter;
class QPointF;

namespace swage::ui {

class HeatMapGeometry;

// How many lines of words below the codes of the columns are of use: 0 where a word would be cut off even in the
// smallest font that can be read, 1 where there is room for one word, 2 where a whole meaning fits.
[[nodiscard]] int wordLines(double columnWidth, const QFont& font);
// What stands beside the rows and above the columns and blocks: codes, and words where the geometry has room for them.
void paintHeaders(QPainter& painter, const HeatMapGeometry& geometry, const QFont& font, const Theme& theme);
// The header at a point in full, "A3: asynchronous pipeline"; empty: there is none.
[[nodiscard]] QString headerAt(const HeatMapGeometry& geometry, const QPointF& point);

}  // namespace swage::ui
