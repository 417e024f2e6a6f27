// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QPointF>

#include <vector>

#include "core/services/types.h"

namespace swage::ui {

// The best speedup so far, or an end of its interval, as the corners of a step line that ends at `untilSeconds`. At
// most about `maxPoints` corners: Qt Charts repaints a thousand points in 6 ms and ten thousand in 39. Every kept step
// is a real one, and the last step, the best, is always kept.
[[nodiscard]] QList<QPointF> stepLine(const std::vector<services::HistoryPoint>& history, double untilSeconds,
                                      double domain::Speedup::*of = &domain::Speedup::value, qsizetype maxPoints = 800);

// A round step of 1, 2 or 5 times a power of ten that divides `span` into at most `ticks` parts.
[[nodiscard]] double niceStep(double span, int ticks);

}  // namespace swage::ui
