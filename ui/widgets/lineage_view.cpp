// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/lineage_view.h"

#include <QAccessible>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

#include "ui/models/format.h"
#include "ui/widgets/lineage_accessible.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kMinZoom = 0.4;
constexpr double kMaxZoom = 2.5;
constexpr double kZoomStep = 1.15;

bool isCorrect(const services::CandidateRow& row) {
  return row.speedup.isKnown();
}

bool hasFailed(const services::CandidateRow& row) {
  return !isCorrect(row) && domain::hasFailed(row.status);
}

QString outcomeText(const services::CandidateRow& row) {
  return isCorrect(row) ? formatSpeedup(row.speedup) : toQString(domain::name(row.status));
}

}  // namespace

LineageView::LineageView(QWidget* parent) : QAbstractScrollArea(parent) {
  installLineageAccessibility();  // before Qt makes an interface of its own for the first view
  setObjectName(u"lineageView"_s);
  setAccessibleName(tr("Lineage"));
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  viewport()->setBackgroundRole(QPalette::Base);
}

void LineageView::setTheme(const Theme& theme) {
  m_theme = theme;
  viewport()->update();
}

void LineageView::setLineage(const LineageLayout& layout, const CellScale& scale) {
  m_layout = layout;
  m_scale = scale;
  m_current = -1;
  updateScrollBars();
  viewport()->update();
}

void LineageView::setCurrent(domain::CandidateId id) {
  const int node = m_layout.indexOf(id);
  if (node == m_current) {
    return;
  }
  m_current = node;
  if (node >= 0) {
    reveal(node);
    QAccessibleEvent event(this, QAccessible::Focus);
    event.setChild(node);
    QAccessible::updateAccessibility(&event);
  }
  viewport()->update();
}

void LineageView::setMarked(domain::CandidateId best) {
  m_best = best;
  viewport()->update();
}

void LineageView::setZoom(double zoom) {
  m_zoom = std::clamp(zoom, kMinZoom, kMaxZoom);
  updateScrollBars();
  if (m_current >= 0) {
    reveal(m_current);
  }
  viewport()->update();
}

QSize LineageView::minimumSizeHint() const {
  return (boxSize() * 1.5).toSize();
}

QSizeF LineageView::boxSize() const {
  const QFontMetricsF metrics(font());
  return QSizeF(metrics.horizontalAdvance(u"compile error"_s) + metrics.height() * 1.5, metrics.height() * 2.0 + 10.0) *
         m_zoom;
}

// Between generations there has to be room for the name of an operator.
QSizeF LineageView::gaps() const {
  const QFontMetricsF metrics(font());
  return QSizeF(metrics.horizontalAdvance(u"pattern swap"_s) + 2.0 * metrics.height(), metrics.height() * 0.9) * m_zoom;
}

double LineageView::edge() const {
  return QFontMetricsF(font()).height() * 0.7 * m_zoom;
}

QSizeF LineageView::contentSize() const {
  const QSizeF step = boxSize() + gaps();
  return {m_layout.generations * step.width() - gaps().width() + 2.0 * edge(),
          m_layout.tallest * step.height() + gaps().height()};
}

QRectF LineageView::nodeRect(int number) const {
  const LineageLayout::Node& node = m_layout.nodes[static_cast<std::size_t>(number)];
  const QSizeF step = boxSize() + gaps();
  const QSizeF content = contentSize();
  const auto inColumn = std::count_if(m_layout.nodes.begin(), m_layout.nodes.end(),
                                      [&node](const auto& other) { return other.generation == node.generation; });
  // Each column has the same middle, and all of it stands in the middle of a larger view.
  const double left = std::max(0.0, (viewport()->width() - content.width()) / 2.0) + edge();
  const double top = std::max(0.0, (viewport()->height() - content.height()) / 2.0) + gaps().height() +
                     (m_layout.tallest - static_cast<double>(inColumn)) * step.height() / 2.0;
  return QRectF(QPointF(left + node.generation * step.width() - horizontalScrollBar()->value(),
                        top + node.place * step.height() - verticalScrollBar()->value()),
                boxSize());
}

int LineageView::nodeAt(const QPointF& point) const {
  for (int node = 0; node < static_cast<int>(m_layout.nodes.size()); ++node) {
    if (nodeRect(node).contains(point)) {
      return node;
    }
  }
  return -1;
}

QString LineageView::spoken(int node) const {
  const services::CandidateRow& row = m_layout.nodes[static_cast<std::size_t>(node)].row;
  QStringList parts = {tr("Candidate %1").arg(row.id.value()), outcomeText(row),
                       row.madeBy == domain::OperatorKind::Human
                           ? tr("edited by hand")
                           : tr("made by %1").arg(toQString(domain::name(row.madeBy)))};
  QStringList parents;
  for (const domain::CandidateId parent : row.parents) {
    parents.push_back(QString::number(parent.value()));
  }
  parts.push_back(parents.isEmpty() ? tr("without parents") : tr("from %1").arg(parents.join(u", "_s)));
  if (row.id == m_best) {
    parts.push_back(tr("best of the run"));
  }
  return parts.join(u", "_s);
}

QColor LineageView::fillOf(const services::CandidateRow& row) const {
  if (isCorrect(row)) {
    return mapColor(m_theme.heat, m_scale.level(row.speedup.value));
  }
  return hasFailed(row) ? m_theme.failed : m_theme.base;
}

void LineageView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setRenderHint(QPainter::Antialiasing);
  QFont scaled = font();
  scaled.setPointSizeF(scaled.pointSizeF() * m_zoom);
  painter.setFont(scaled);
  for (const LineageLayout::Edge& edge : m_layout.edges) {
    paintEdge(painter, edge);
  }
  for (int node = 0; node < static_cast<int>(m_layout.nodes.size()); ++node) {
    if (nodeRect(node).intersects(viewport()->rect())) {
      paintNode(painter, node);
    }
  }
}

void LineageView::paintEdge(QPainter& painter, const LineageLayout::Edge& edge) const {
  const QRectF from = nodeRect(static_cast<int>(edge.parent));
  const QRectF to = nodeRect(static_cast<int>(edge.child));
  const QPointF begin(from.right(), from.center().y());
  const QPointF end(to.left() - 1.0, to.center().y());
  if (!QRectF(begin, end).normalized().adjusted(-1, -1, 1, 1).intersects(viewport()->rect())) {
    return;
  }
  const bool isOfCurrent = static_cast<int>(edge.parent) == m_current || static_cast<int>(edge.child) == m_current;
  const QColor color = isOfCurrent ? m_theme.accent : m_theme.mutedText;
  const double bend = gaps().width() / 2.0;
  QPainterPath path(begin);
  path.cubicTo(begin + QPointF(bend, 0.0), end - QPointF(bend, 0.0), end);
  painter.setPen(QPen(color, (isOfCurrent ? 2.0 : 1.0) * std::max(1.0, m_zoom)));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
  const double head = 5.0 * m_zoom;
  painter.setBrush(color);
  painter.drawPolygon(
      QPolygonF({end, end + QPointF(-1.6 * head, -0.7 * head), end + QPointF(-1.6 * head, 0.7 * head)}));
  if (&edge != m_layout.edges.data() && std::prev(&edge)->child == edge.child) {
    return;  // the operator stands at the first of its parents
  }
  const services::CandidateRow& child = m_layout.nodes[edge.child].row;
  const QFontMetricsF metrics(painter.font());
  const QString word = toQString(domain::name(child.madeBy));
  QRectF place(0.0, 0.0, metrics.horizontalAdvance(word) + 6.0 * m_zoom, metrics.height());
  place.moveCenter(path.pointAtPercent(0.5));
  painter.setPen(Qt::NoPen);
  painter.setBrush(m_theme.base);
  painter.drawRect(place);
  painter.setPen(isOfCurrent ? m_theme.text : m_theme.mutedText);
  painter.drawText(place, Qt::AlignCenter, word);
}

void LineageView::paintNode(QPainter& painter, int number) const {
  const services::CandidateRow& row = m_layout.nodes[static_cast<std::size_t>(number)].row;
  const QRectF box = nodeRect(number);
  const QColor fill = fillOf(row);
  const double radius = 5.0 * m_zoom;
  // Failed, first and best differ in shape, not only in colour: dashed, double-framed, with a star.
  painter.setPen(QPen(hasFailed(row) ? m_theme.failedCross : m_theme.emptyOutline, 1.2 * m_zoom,
                      hasFailed(row) ? Qt::DashLine : Qt::SolidLine));
  painter.setBrush(fill);
  painter.drawRoundedRect(box, radius, radius);
  const bool isFirst = row.parents.empty();
  const QColor ink = isCorrect(row) ? readableOn(fill) : m_theme.text;
  if (isFirst) {
    painter.setPen(QPen(ink, m_zoom));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box.adjusted(3 * m_zoom, 3 * m_zoom, -3 * m_zoom, -3 * m_zoom), radius * 0.6, radius * 0.6);
  }
  if (number == m_current) {
    const double width = (hasFocus() ? 3.0 : 2.0) * m_zoom;
    painter.setPen(QPen(m_theme.accent, width));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box.adjusted(-width, -width, width, width), radius + width, radius + width);
  }
  if (row.madeBy == domain::OperatorKind::Human) {
    paintBadge(painter, box, tr("edited by hand"));
  }
  painter.setPen(ink);
  const QString mark = row.id == m_best ? u"★ "_s : QString();
  const QRectF upper(box.topLeft(), QSizeF(box.width(), box.height() / 2.0 + 1.0));
  QFont strong = painter.font();
  strong.setBold(true);
  const QFont plain = painter.font();
  painter.setFont(strong);
  painter.drawText(upper, Qt::AlignHCenter | Qt::AlignBottom, mark % QString::number(row.id.value()));
  painter.setFont(plain);
  const QFontMetricsF metrics(plain);
  painter.drawText(QRectF(upper.bottomLeft(), upper.size()), Qt::AlignHCenter | Qt::AlignTop,
                   metrics.elidedText(outcomeText(row), Qt::ElideRight, box.width() - 8.0 * m_zoom));
}

// On the lower edge of the box, where nothing else stands.
void LineageView::paintBadge(QPainter& painter, const QRectF& box, const QString& text) const {
  painter.save();
  QFont small = painter.font();
  small.setPointSizeF(small.pointSizeF() * 0.8);
  painter.setFont(small);
  const QFontMetricsF metrics(small);
  QRectF pill(0.0, 0.0, std::min(metrics.horizontalAdvance(text) + 8.0 * m_zoom, box.width()), metrics.height());
  pill.moveCenter({box.center().x(), box.bottom()});
  painter.setPen(QPen(m_theme.base, m_zoom));
  painter.setBrush(m_theme.accent);
  painter.drawRoundedRect(pill, pill.height() / 2.0, pill.height() / 2.0);
  painter.setPen(m_theme.accentText);
  painter.drawText(pill, Qt::AlignCenter, metrics.elidedText(text, Qt::ElideRight, pill.width() - 4.0 * m_zoom));
  painter.restore();
}

void LineageView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  updateScrollBars();
  if (m_current >= 0) {
    reveal(m_current);
  }
}

void LineageView::updateScrollBars() {
  const QSizeF content = contentSize();
  const auto fit = [](QScrollBar* bar, double wanted, int available, double step) {
    bar->setRange(0, std::max(0, static_cast<int>(std::ceil(wanted)) - available));
    bar->setPageStep(available);
    bar->setSingleStep(static_cast<int>(step / 2.0));
  };
  fit(horizontalScrollBar(), content.width(), viewport()->width(), boxSize().width());
  fit(verticalScrollBar(), content.height(), viewport()->height(), boxSize().height());
}

void LineageView::reveal(int node) {
  const QRectF box = nodeRect(node).marginsAdded({edge(), gaps().height(), edge(), gaps().height()});
  const auto shift = [](QScrollBar* bar, double low, double high, int size) {
    if (low < 0.0) {
      bar->setValue(bar->value() + static_cast<int>(std::floor(low)));
    } else if (high > size) {
      bar->setValue(bar->value() + static_cast<int>(std::ceil(high - size)));
    }
  };
  shift(horizontalScrollBar(), box.left(), box.right(), viewport()->width());
  shift(verticalScrollBar(), box.top(), box.bottom(), viewport()->height());
}

void LineageView::choose(int node) {
  if (node >= 0) {
    setCurrent(m_layout.nodes[static_cast<std::size_t>(node)].row.id);
    Q_EMIT currentChanged(m_layout.nodes[static_cast<std::size_t>(node)].row.id);
  }
}

void LineageView::mousePressEvent(QMouseEvent* event) {
  choose(nodeAt(event->position()));
}

void LineageView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (nodeAt(event->position()) >= 0) {
    Q_EMIT activated();
  }
}

void LineageView::contextMenuEvent(QContextMenuEvent* event) {
  const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
  const int node = byKey ? m_current : nodeAt(event->pos());
  if (node < 0) {
    return;
  }
  choose(node);
  const QPoint position = byKey ? viewport()->mapToGlobal(nodeRect(node).center().toPoint()) : event->globalPos();
  Q_EMIT menuRequested(m_layout.nodes[static_cast<std::size_t>(node)].row.id, position);
}

void LineageView::wheelEvent(QWheelEvent* event) {
  if (event->modifiers() & Qt::ControlModifier) {
    setZoom(m_zoom * std::pow(kZoomStep, event->angleDelta().y() / 120.0));
    event->accept();
    return;
  }
  QAbstractScrollArea::wheelEvent(event);
}

void LineageView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left: choose(m_layout.neighbour(m_current, -1, 0)); return;
    case Qt::Key_Right: choose(m_layout.neighbour(m_current, 1, 0)); return;
    case Qt::Key_Up: choose(m_layout.neighbour(m_current, 0, -1)); return;
    case Qt::Key_Down: choose(m_layout.neighbour(m_current, 0, 1)); return;
    case Qt::Key_Plus: setZoom(m_zoom * kZoomStep); return;
    case Qt::Key_Minus: setZoom(m_zoom / kZoomStep); return;
    case Qt::Key_0: setZoom(1.0); return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_current >= 0) {
        Q_EMIT activated();
      }
      return;
    default: QAbstractScrollArea::keyPressEvent(event);
  }
}

void LineageView::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

void LineageView::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

bool LineageView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);  // NOLINT(cppcoreguidelines-pro-type-static-cast-downcast)
    const int node = nodeAt(help->pos());
    const QString text =
        node < 0 ? QString()
                 : spoken(node) % u"\n"_s % toQString(m_layout.nodes[static_cast<std::size_t>(node)].row.summary);
    QToolTip::showText(help->globalPos(), text.trimmed(), viewport());
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace swage::ui
