// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/heat_painter.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <QPolygonF>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace swage::ui {
namespace {

using State = services::CellSummary::State;

constexpr double kRadius = 3.0;

void paintHatch(QPainter& painter, const QRectF& rect, const Theme& theme) {
  painter.save();
  QPainterPath clip;
  clip.addRoundedRect(rect, kRadius, kRadius);
  painter.fillPath(clip, theme.unavailable);
  painter.setClipPath(clip);
  painter.setPen(QPen(theme.unavailableHatch, 1.0));
  constexpr double kStep = 7.0;
  const int lines = static_cast<int>(std::ceil((rect.width() + rect.height()) / kStep));
  for (int i = 0; i < lines; ++i) {
    const double x = rect.left() - rect.height() + i * kStep;
    painter.drawLine(QPointF(x, rect.bottom()), QPointF(x + rect.height(), rect.top()));
  }
  painter.restore();
}

void paintCross(QPainter& painter, const QRectF& rect, const Theme& theme) {
  painter.setPen(QPen(theme.failedCross, 1.2));
  painter.setBrush(theme.failed);
  painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
  const QRectF inner = rect.adjusted(4, 4, -4, -4);
  painter.drawLine(inner.topLeft(), inner.bottomRight());
  painter.drawLine(inner.bottomLeft(), inner.topRight());
}

QString fittingCount(const CellView& cell, const QFontMetricsF& metrics, double room) {
  return metrics.horizontalAdvance(cell.count) <= room ? cell.count
                                                       : metrics.elidedText(cell.shortCount, Qt::ElideRight, room);
}

// The count of a failed cell stands on the crossing, so it gets a plate of its own.
void paintFailedCount(QPainter& painter, const QRectF& rect, const CellView& cell, const QFont& font,
                      const Theme& theme) {
  const QFontMetricsF metrics(font);
  const QString text = fittingCount(cell, metrics, rect.width() - 12.0);
  QRectF plate(0, 0, metrics.horizontalAdvance(text) + 8.0, metrics.height() + 2.0);
  plate.moveCenter(rect.center());
  painter.fillRect(plate, theme.failed);
  painter.setPen(theme.mutedText);
  painter.setFont(font);
  painter.drawText(plate, Qt::AlignCenter, text);
}

QFont scaled(QFont font, double factor, QFont::Weight weight) {
  font.setPointSizeF(font.pointSizeF() * factor);
  font.setWeight(weight);
  return font;
}

double starRadius(const QRectF& rect) {
  return std::clamp(std::min(rect.height() / 8.0, rect.width() / 12.0), 4.0, 8.0);
}

// Of the value; smaller where the cell is too narrow for it.
QFont valueFont(const QFont& font, const QRectF& rect, const QString& value) {
  constexpr double kLeast = 0.7;
  const QFont fitting = scaled(font, rect.height() > 52.0 && rect.width() > 76.0 ? 1.2 : 1.0, QFont::DemiBold);
  const double width = QFontMetricsF(fitting).horizontalAdvance(value);
  const double room = rect.width() - 4.0;
  return width <= room ? fitting : scaled(font, std::max(kLeast, room / width), QFont::DemiBold);
}

// The value, and below it the count where both fit. The star of the best cell stands in its corner, or in the place of
// the count where the corner is the value's.
void paintTexts(QPainter& painter, const QRectF& rect, const CellView& cell, const QColor& ink, const QFont& font) {
  const QFont large = valueFont(font, rect, cell.value);
  const QFont small = scaled(font, 0.82, QFont::Normal);
  const QFontMetricsF valueMetrics(large);
  const QFontMetricsF countMetrics(small);
  const bool bothFit = rect.height() >= valueMetrics.height() + countMetrics.height() + 2.0;
  const double block = valueMetrics.height() + (bothFit ? countMetrics.height() : 0.0);
  QRectF line(rect.left(), rect.center().y() - block / 2.0, rect.width(), valueMetrics.height());
  painter.setPen(ink);
  painter.setFont(large);
  painter.drawText(line, Qt::AlignCenter, cell.value);
  const double radius = starRadius(rect);
  const double inset = radius > 6.0 ? 3.0 : 1.0;
  const bool isTight = line.top() - rect.top() < 2.0 * radius + inset - valueMetrics.descent();
  const QRectF below(rect.left(), line.bottom(), rect.width(), countMetrics.height());
  if (bothFit && !(cell.best && isTight)) {
    painter.setFont(small);
    painter.drawText(below, Qt::AlignCenter, fittingCount(cell, countMetrics, rect.width() - 4.0));
  }
  if (cell.best) {
    paintStar(painter, bothFit && isTight ? below.center() : rect.topRight() + QPointF(-radius - inset, radius + inset),
              radius, ink);
  }
}

}  // namespace

void paintCellBackground(QPainter& painter, const QRectF& rect, State state, const QColor& fill, const Theme& theme) {
  painter.setRenderHint(QPainter::Antialiasing);
  switch (state) {
    case State::Unavailable: paintHatch(painter, rect, theme); return;
    case State::FailedOnly: paintCross(painter, rect, theme); return;
    case State::Empty:
      painter.setPen(QPen(theme.emptyOutline, 1.0));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
      return;
    case State::Filled:
      painter.setPen(Qt::NoPen);
      painter.setBrush(fill);
      painter.drawRoundedRect(rect, kRadius, kRadius);
      return;
  }
}

QColor fillOf(const CellView& cell, const Theme& theme) {
  return cell.hasLevel ? mapColor(theme.heat, cell.level) : theme.button;
}

void paintCell(QPainter& painter, const QRectF& rect, const CellView& cell, const Theme& theme, const QFont& font,
               const QColor& ink) {
  paintCellBackground(painter, rect, cell.state, fillOf(cell, theme), theme);
  if (cell.state == State::FailedOnly) {
    paintFailedCount(painter, rect, cell, scaled(font, 0.82, QFont::Normal), theme);
  }
  if (cell.state != State::Filled) {
    return;
  }
  if (!cell.hasLevel) {  // what has no value has none of the colours
    painter.setPen(QPen(theme.border, 1.0));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), kRadius, kRadius);
  }
  paintTexts(painter, rect, cell, cell.hasLevel && ink.isValid() ? ink : readableOn(fillOf(cell, theme)), font);
}

void paintStar(QPainter& painter, const QPointF& centre, double radius, const QColor& color) {
  constexpr int kPoints = 10;
  constexpr double kInner = 0.45;
  QPolygonF star;
  for (int i = 0; i < kPoints; ++i) {
    const double angle = std::numbers::pi * (2.0 * i / kPoints - 0.5);
    const double reach = i % 2 == 0 ? radius : radius * kInner;
    star << centre + QPointF(std::cos(angle), std::sin(angle)) * reach;
  }
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(star);
}

void paintSelection(QPainter& painter, const QRectF& rect, const Theme& theme, bool hasFocus) {
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(hasFocus ? theme.accent : theme.text, 2.5));
  painter.drawRoundedRect(rect.adjusted(-2.0, -2.0, 2.0, 2.0), kRadius + 2.0, kRadius + 2.0);
  painter.setPen(QPen(theme.base, 1.0));
  painter.drawRoundedRect(rect.adjusted(-0.2, -0.2, 0.2, 0.2), kRadius, kRadius);
}

}  // namespace swage::ui
