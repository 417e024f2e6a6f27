// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/domain/diagnosis.h"
#include "ui/widgets/chart_widget.h"

namespace swage::ui {

struct RooflinePoint {
  enum class Role : std::uint8_t { Candidate, Pinned, Baseline, Elite };
  QString name;
  double flopsPerByte = 0.0;
  double flopsPerSecond = 0.0;
  Role role = Role::Elite;
  bool isCounted = false;  // by the hardware; else from the task's own work and the measured time
};

// Performance over arithmetic intensity, both logarithmic, under what the device allows: the theoretical roofs of its
// counters and matrix units, and the bandwidth that a copy reached. Points where either is zero cannot be drawn and
// are left out.
class RooflineChart final : public ChartWidget {
  Q_OBJECT

 public:
  explicit RooflineChart(QWidget* parent = nullptr);
  void setPoints(const domain::Roofs& roofs, std::vector<RooflinePoint> points);
  [[nodiscard]] bool isEmpty() const;
  [[nodiscard]] const std::vector<RooflinePoint>& points() const { return m_points; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  void drawChart(QPainter& painter, const QRectF& target) const override;
  [[nodiscard]] ChartTable chartTable() const override;

 protected:
  bool event(QEvent* event) override;

 private:
  // The logarithmic axes in one place of the screen.
  struct Frame {
    QRectF plot;
    int lowX = 0;  // powers of ten
    int highX = 1;
    int lowY = 0;
    int highY = 1;
    [[nodiscard]] QPointF at(double flopsPerByte, double flopsPerSecond) const;
  };
  struct Roof {
    QString name;
    double bytesPerSecond = 0.0;  // of a slope; 0: flat
    double flopsPerSecond = 0.0;  // of a flat one, or where a slope ends
    bool isMeasured = false;
  };
  [[nodiscard]] std::vector<Roof> roofs() const;
  [[nodiscard]] Frame frameFor(const QRectF& target) const;
  void drawAxes(QPainter& painter, const Frame& frame, const QRectF& target) const;
  void drawRoof(QPainter& painter, const Frame& frame, const Roof& roof) const;
  void drawPoint(QPainter& painter, const Frame& frame, const RooflinePoint& point) const;
  void drawLegend(QPainter& painter, const QRectF& target) const;
  void drawMark(QPainter& painter, QPointF at, RooflinePoint::Role role, bool isCounted) const;
  [[nodiscard]] QString pointNear(QPointF position) const;

  domain::Roofs m_roofs;
  std::vector<RooflinePoint> m_points;
};

}  // namespace swage::ui
