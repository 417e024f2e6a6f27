// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/decimate.h"

#include <algorithm>
#include <array>

namespace swage::ui {
namespace {

constexpr qsizetype kPerStretch = 4;

}  // namespace

QList<QPointF> decimate(const QList<QPointF>& points, qsizetype maxPoints) {
  if (points.size() <= std::max(maxPoints, kPerStretch)) {
    return points;
  }
  const qsizetype stretches = std::max<qsizetype>(1, maxPoints / kPerStretch);
  QList<QPointF> kept;
  for (qsizetype i = 0; i < stretches; ++i) {
    const qsizetype first = i * points.size() / stretches;
    const qsizetype last = (i + 1) * points.size() / stretches - 1;
    const auto begin = points.begin() + first;
    const auto [lowest, highest] = std::minmax_element(
        begin, points.begin() + last + 1, [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); });
    std::array<qsizetype, kPerStretch> chosen{first, lowest - points.begin(), highest - points.begin(), last};
    std::sort(chosen.begin(), chosen.end());
    const auto end = std::unique(chosen.begin(), chosen.end());
    std::for_each(chosen.begin(), end, [&](qsizetype index) { kept.append(points[index]); });
  }
  return kept;
}

QList<QPointF> steps(const QList<QPointF>& points, double until) {
  QList<QPointF> corners;
  corners.reserve(2 * points.size() + 1);
  for (const QPointF& point : points) {
    if (!corners.isEmpty()) {
      corners.append({point.x(), corners.back().y()});
    }
    corners.append(point);
  }
  if (!corners.isEmpty() && until > corners.back().x()) {
    corners.append({until, corners.back().y()});
  }
  return corners;
}

}  // namespace swage::ui
