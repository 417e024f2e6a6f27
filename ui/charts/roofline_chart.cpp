// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/roofline_chart.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

#include "ui/models/quantity.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using Role = RooflinePoint::Role;

constexpr Role kRoles[] = {Role::Candidate, Role::Pinned, Role::Baseline, Role::Elite};
constexpr double kReach = 8.0;  // how far from a point the mouse still means it

bool isDrawable(const RooflinePoint& point) {
  return point.flopsPerByte > 0.0 && point.flopsPerSecond > 0.0;
}

int below(double value) {
  return static_cast<int>(std::floor(std::log10(value)));
}

int above(double value) {
  return static_cast<int>(std::ceil(std::log10(value)));
}

QString nameOf(Role role) {
  switch (role) {
    case Role::Candidate: return RooflineChart::tr("this candidate");
    case Role::Pinned: return RooflineChart::tr("pinned");
    case Role::Baseline: return RooflineChart::tr("PyTorch");
    case Role::Elite: return RooflineChart::tr("elites");
  }
  return {};
}

}  // namespace

RooflineChart::RooflineChart(QWidget* parent) : ChartWidget(tr("Roofline"), parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void RooflineChart::setPoints(const domain::Roofs& roofs, std::vector<RooflinePoint> points) {
  m_roofs = roofs;
  m_points = std::move(points);
  m_points.erase(std::remove_if(m_points.begin(), m_points.end(), [](const auto& point) { return !isDrawable(point); }),
                 m_points.end());
  refresh();
}

bool RooflineChart::isEmpty() const {
  return m_points.empty() || roofs().empty();
}

QSize RooflineChart::sizeHint() const {
  return {fontMetrics().averageCharWidth() * 90, fontMetrics().height() * 17};
}

QSize RooflineChart::minimumSizeHint() const {
  return {fontMetrics().averageCharWidth() * 44, fontMetrics().height() * 17};
}

std::vector<RooflineChart::Roof> RooflineChart::roofs() const {
  std::vector<Roof> all;
  const double top = std::max(m_roofs.flopsPerSecond, m_roofs.matrixFlopsPerSecond);
  if (m_roofs.theoreticalBytesPerSecond > 0.0) {
    all.push_back({tr("memory %1").arg(formatByteRate(m_roofs.theoreticalBytesPerSecond)),
                   m_roofs.theoreticalBytesPerSecond, top, false});
  }
  if (m_roofs.measuredBytesPerSecond > 0.0) {
    all.push_back({tr("copy, measured %1").arg(formatByteRate(m_roofs.measuredBytesPerSecond)),
                   m_roofs.measuredBytesPerSecond, top, true});
  }
  if (m_roofs.flopsPerSecond > 0.0) {
    all.push_back({tr("float32 %1").arg(formatFlopRate(m_roofs.flopsPerSecond)), 0.0, m_roofs.flopsPerSecond, false});
  }
  if (m_roofs.matrixFlopsPerSecond > 0.0) {
    all.push_back({tr("matrix units %1").arg(formatFlopRate(m_roofs.matrixFlopsPerSecond)), 0.0,
                   m_roofs.matrixFlopsPerSecond, false});
  }
  return all;
}

RooflineChart::Frame RooflineChart::frameFor(const QRectF& target) const {
  const QFontMetrics metrics = fontMetrics();
  const double em = metrics.height();
  Frame frame;
  frame.plot = target.adjusted(metrics.horizontalAdvance(u"100 TF"_s) + em, em * 2.2, -em, -em * 2.8);
  double lowX = 0.1;
  double highX = 10.0;
  double lowY = 1e12;
  double highY = 1.0;
  for (const RooflinePoint& point : m_points) {
    lowX = std::min(lowX, point.flopsPerByte);
    highX = std::max(highX, point.flopsPerByte);
    lowY = std::min(lowY, point.flopsPerSecond);
    highY = std::max(highY, point.flopsPerSecond);
  }
  for (const Roof& roof : roofs()) {
    highY = std::max(highY, roof.flopsPerSecond);
    if (roof.bytesPerSecond > 0.0 && roof.flopsPerSecond > 0.0) {
      highX = std::max(highX, 2.0 * roof.flopsPerSecond / roof.bytesPerSecond);  // the ridge is in sight
    }
  }
  frame.lowX = below(lowX);
  frame.highX = std::max(above(highX), frame.lowX + 1);
  frame.lowY = below(lowY / 2.0);
  frame.highY = std::max(above(highY * 1.1), frame.lowY + 1);
  return frame;
}

QPointF RooflineChart::Frame::at(double flopsPerByte, double flopsPerSecond) const {
  const double x = (std::log10(flopsPerByte) - lowX) / (highX - lowX);
  const double y = (std::log10(flopsPerSecond) - lowY) / (highY - lowY);
  return {plot.left() + x * plot.width(), plot.bottom() - y * plot.height()};
}

void RooflineChart::drawChart(QPainter& painter, const QRectF& target) const {
  painter.fillRect(target, theme().base);
  painter.setFont(font());
  const Frame frame = frameFor(target);
  drawAxes(painter, frame, target);
  painter.save();
  painter.setClipRect(frame.plot);
  for (const Roof& roof : roofs()) {
    drawRoof(painter, frame, roof);
  }
  painter.restore();
  for (auto role = std::rbegin(kRoles); role != std::rend(kRoles); ++role) {
    for (const RooflinePoint& point : m_points) {
      if (point.role == *role) {
        drawPoint(painter, frame, point);
      }
    }
  }
  drawLegend(painter, target);
}

void RooflineChart::drawAxes(QPainter& painter, const Frame& frame, const QRectF& target) const {
  const double em = fontMetrics().height();
  for (int power = frame.lowX; power <= frame.highX; ++power) {
    const double value = std::pow(10.0, power);
    const double x = frame.at(value, std::pow(10.0, frame.lowY)).x();
    painter.setPen(QPen(theme().chartGrid, 1.0));
    painter.drawLine(QPointF(x, frame.plot.top()), QPointF(x, frame.plot.bottom()));
    painter.setPen(theme().mutedText);
    painter.drawText(QRectF(x - 4.0 * em, frame.plot.bottom() + em * 0.2, 8.0 * em, em), Qt::AlignCenter,
                     QString::number(value));
  }
  for (int power = frame.lowY; power <= frame.highY; ++power) {
    const double value = std::pow(10.0, power);
    const double y = frame.at(std::pow(10.0, frame.lowX), value).y();
    painter.setPen(QPen(theme().chartGrid, 1.0));
    painter.drawLine(QPointF(frame.plot.left(), y), QPointF(frame.plot.right(), y));
    painter.setPen(theme().mutedText);
    painter.drawText(QRectF(target.left(), y - em / 2.0, frame.plot.left() - target.left() - em * 0.4, em),
                     Qt::AlignRight | Qt::AlignVCenter, formatFlopCount(value));
  }
  painter.setPen(theme().mutedText);
  painter.drawText(QRectF(frame.plot.left(), frame.plot.bottom() + em * 1.3, frame.plot.width(), em), Qt::AlignCenter,
                   tr("floating-point operations per byte of device memory"));
}

void RooflineChart::drawRoof(QPainter& painter, const Frame& frame, const Roof& roof) const {
  const double em = fontMetrics().height();
  const double left = std::pow(10.0, frame.lowX);
  const double right = std::pow(10.0, frame.highX);
  const QColor color = roof.isMeasured ? theme().chartLine : theme().chartBaseline;
  painter.setPen(QPen(color, 1.5, roof.isMeasured ? Qt::DashLine : Qt::SolidLine));
  if (roof.bytesPerSecond <= 0.0) {
    const QPointF end = frame.at(right, roof.flopsPerSecond);
    painter.drawLine(frame.at(left, roof.flopsPerSecond), end);
    painter.setPen(theme().mutedText);
    painter.drawText(QRectF(frame.plot.left() + em * 0.4, end.y() + em * 0.05, frame.plot.width(), em),
                     Qt::AlignLeft | Qt::AlignVCenter, roof.name);
    return;
  }
  const double ridge = roof.flopsPerSecond > 0.0 ? std::min(right, roof.flopsPerSecond / roof.bytesPerSecond) : right;
  const QPointF start = frame.at(left, left * roof.bytesPerSecond);
  const QPointF end = frame.at(ridge, ridge * roof.bytesPerSecond);
  painter.drawLine(start, end);
  // The name stands on its line: the theoretical one above it, the measured one below.
  painter.save();
  const double entersAt = std::clamp((frame.plot.bottom() - start.y()) / (end.y() - start.y()), 0.0, 0.6);
  painter.translate(start + (end - start) * entersAt);
  painter.rotate(std::atan2(end.y() - start.y(), end.x() - start.x()) * 180.0 / 3.14159265358979);
  painter.setPen(theme().mutedText);
  painter.drawText(QPointF(em * 1.6, roof.isMeasured ? em * 0.95 : -em * 0.35), roof.name);
  painter.restore();
}

void RooflineChart::drawMark(QPainter& painter, QPointF at, Role role, bool isCounted) const {
  const double size = fontMetrics().height() * (role == Role::Elite ? 0.2 : 0.32);
  const QColor color = role == Role::Candidate ? theme().chartLine
                       : role == Role::Pinned  ? theme().chartPinned
                                               : theme().chartBaseline;
  painter.setPen(QPen(color, 1.6));
  painter.setBrush(isCounted ? color : theme().base);
  if (role == Role::Baseline) {
    painter.drawRect(QRectF(at.x() - size, at.y() - size, 2.0 * size, 2.0 * size));
  } else if (role == Role::Pinned) {
    painter.drawPolygon(QPolygonF({at + QPointF(0, -size * 1.3), at + QPointF(size * 1.3, 0),
                                   at + QPointF(0, size * 1.3), at + QPointF(-size * 1.3, 0)}));
  } else {
    painter.drawEllipse(at, size, size);
  }
}

void RooflineChart::drawPoint(QPainter& painter, const Frame& frame, const RooflinePoint& point) const {
  drawMark(painter, frame.at(point.flopsPerByte, point.flopsPerSecond), point.role, point.isCounted);
}

void RooflineChart::drawLegend(QPainter& painter, const QRectF& target) const {
  const QFontMetrics metrics = fontMetrics();
  const double em = metrics.height();
  double x = target.left() + em;
  const double y = target.top() + em;
  for (const Role role : kRoles) {
    const auto found =
        std::find_if(m_points.begin(), m_points.end(), [role](const auto& point) { return point.role == role; });
    if (found != m_points.end()) {
      drawMark(painter, {x, y}, role, found->isCounted);
      painter.setPen(theme().mutedText);
      painter.drawText(QPointF(x + em * 0.6, y + metrics.ascent() / 2.0 - 1.0), nameOf(role));
      x += em * 1.8 + metrics.horizontalAdvance(nameOf(role));
    }
  }
}

ChartTable RooflineChart::chartTable() const {
  ChartTable table{{tr("name"), tr("flop/byte"), tr("flop/s"), tr("bytes/s"), tr("source")}, {}};
  for (const Roof& roof : roofs()) {
    table.rows.push_back({roof.name, {}, csvNumber(roof.flopsPerSecond), csvNumber(roof.bytesPerSecond), tr("roof")});
  }
  for (const RooflinePoint& point : m_points) {
    table.rows.push_back({point.name, csvNumber(point.flopsPerByte), csvNumber(point.flopsPerSecond),
                          csvNumber(point.flopsPerSecond / point.flopsPerByte),
                          point.isCounted ? tr("counters") : tr("task's work and time")});
  }
  return table;
}

QString RooflineChart::pointNear(QPointF position) const {
  const Frame frame = frameFor(rect());
  QStringList names;
  for (const RooflinePoint& point : m_points) {
    if (QLineF(frame.at(point.flopsPerByte, point.flopsPerSecond), position).length() < kReach) {
      names.push_back(
          tr("%1: %2, %3 flop/byte")
              .arg(point.name, formatFlopRate(point.flopsPerSecond), QString::number(point.flopsPerByte, 'g', 3)));
    }
  }
  return names.join(u'\n');
}

bool RooflineChart::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), pointNear(help->pos()), this);
    return true;
  }
  return ChartWidget::event(event);
}

}  // namespace swage::ui
