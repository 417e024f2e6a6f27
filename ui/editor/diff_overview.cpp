// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/diff_overview.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <utility>

namespace swage::ui {
namespace {

constexpr double kLeastBand = 3.0;  // so that one line of thousands can be seen

}  // namespace

DiffOverview::DiffOverview(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Expanding);
  setAccessibleName(tr("Overview of all changes"));
  setToolTip(tr("All changes; click to go there"));
  setCursor(Qt::PointingHandCursor);
}

void DiffOverview::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void DiffOverview::setBands(std::vector<Band> bands, int lineCount) {
  m_bands = std::move(bands);
  m_lineCount = std::max(1, lineCount);
  setAccessibleDescription(tr("%n changes", nullptr, static_cast<int>(m_bands.size())));
  update();
}

void DiffOverview::setSight(const LineRange& lines) {
  m_sight = lines;
  update();
}

QSize DiffOverview::sizeHint() const {
  return {fontMetrics().height(), fontMetrics().height() * 4};
}

double DiffOverview::yOf(int line) const {
  return static_cast<double>(height()) * line / m_lineCount;
}

void DiffOverview::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), m_theme.alternateBase);
  for (const Band& band : m_bands) {
    const double top = yOf(band.lines.first);
    const double size = std::max(kLeastBand, yOf(band.lines.end()) - top);
    painter.fillRect(QRectF(2.0, top, width() - 4.0, size), band.isOld ? m_theme.chartPinned : m_theme.chartBar);
  }
  painter.setPen(QPen(m_theme.mutedText, 1.0));
  const double top = yOf(m_sight.first);
  const double bottom = std::min<double>(height(), yOf(m_sight.end()));
  painter.drawRect(QRectF(0.5, top + 0.5, width() - 1.0, std::max(2.0, bottom - top - 1.0)));
}

void DiffOverview::mousePressEvent(QMouseEvent* event) {
  request(event->position().y());
}

void DiffOverview::mouseMoveEvent(QMouseEvent* event) {
  if ((event->buttons() & Qt::LeftButton) != 0) {
    request(event->position().y());
  }
}

void DiffOverview::request(double y) {
  const double share = std::clamp(y / std::max(1, height()), 0.0, 1.0);
  Q_EMIT lineRequested(static_cast<int>(share * m_lineCount));
}

}  // namespace swage::ui
