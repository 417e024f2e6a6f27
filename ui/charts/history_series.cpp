// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/history_series.h"

#include <algorithm>
#include <cmath>

namespace swage::ui {

QList<QPointF> stepLine(const std::vector<services::HistoryPoint>& history, double untilSeconds,
                        double domain::Speedup::*of, qsizetype maxPoints) {
  QList<QPointF> corners;
  if (history.empty()) {
    return corners;
  }
  const auto steps = static_cast<qsizetype>(history.size());
  const qsizetype stride = std::max<qsizetype>(1, (2 * steps + maxPoints - 1) / maxPoints);
  const auto append = [&](const services::HistoryPoint& point) {
    if (!corners.isEmpty()) {
      corners.append({point.elapsedSeconds, corners.back().y()});
    }
    corners.append({point.elapsedSeconds, point.speedup.*of});
  };
  for (qsizetype i = 0; i < steps; i += stride) {
    append(history[static_cast<std::size_t>(i)]);
  }
  if ((steps - 1) % stride != 0) {
    append(history.back());
  }
  if (untilSeconds > corners.back().x()) {
    corners.append({untilSeconds, corners.back().y()});
  }
  return corners;
}

double niceStep(double span, int ticks) {
  if (!(span > 0.0) || ticks < 1) {
    return 1.0;
  }
  const double rough = span / ticks;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1.0 - 1e-9)) {
      return factor * power;
    }
  }
  return 10.0 * power;
}

}  // namespace swage::ui
