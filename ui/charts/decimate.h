// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QPointF>

namespace swage::ui {

// At most about `maxPoints` of a line, ascending in x: of each stretch its first, lowest, highest and last point, so
// that no peak is lost. Qt Charts repaints a thousand points in 6 ms and ten thousand in 39.
[[nodiscard]] QList<QPointF> decimate(const QList<QPointF>& points, qsizetype maxPoints = 400);

// The corners of the steps that lead from point to point, up to `until`.
[[nodiscard]] QList<QPointF> steps(const QList<QPointF>& points, double until);

}  // namespace swage::ui
