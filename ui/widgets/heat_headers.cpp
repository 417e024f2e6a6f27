// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/heat_headers.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QStringList>

#include <algorithm>

#include "ui/models/format.h"
#include "ui/widgets/heat_map.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kLeastScale = 0.78;  // of a font that can still be read

struct HeaderText {
  QString code;
  QString meaning;
};

HeaderText rowText(int row) {
  const domain::Cell cell = cellAt(row, 0);
  return {toQString(cell.name()).mid(0, 2), toQString(domain::describe(cell.movement))};
}
HeaderText columnText(int column) {
  const domain::Cell cell = cellAt(0, column);
  return {toQString(cell.name()).mid(2, 2), toQString(domain::describe(cell.arithmetic))};
}
HeaderText blockText(int block) {
  const domain::Cell cell = cellAt(0, block * kMapBlocks);
  return {toQString(cell.name()).mid(4, 2), toQString(domain::describe(cell.decomposition))};
}

// The whole text where it fits in words and leaves some air, else its first word, elided.
QString fitting(const QString& text, const QRectF& rect, const QFontMetricsF& metrics) {
  const QRectF needed = metrics.boundingRect(QRectF(0, 0, rect.width(), 1000.0), Qt::TextWordWrap, text);
  const double air = metrics.height();  // to the words of the next column
  if (needed.height() <= rect.height() + 1.0 && needed.width() + air <= rect.width()) {
    return text;
  }
  return metrics.elidedText(text.section(u' ', 0, 0), Qt::ElideRight, rect.width());
}

double widestOf(const QStringList& texts, const QFont& font) {
  double widest = 1.0;
  for (const QString& text : texts) {
    widest = std::max(widest, QFontMetricsF(font).horizontalAdvance(text));
  }
  return widest;
}

QFont scaled(QFont font, double scale) {
  font.setPointSizeF(font.pointSizeF() * scale);
  return font;
}

// As large as it can be so that each of `texts` fits into `width`, but readable. Tried, because the widths of hinted
// letters are not proportional to the size.
QFont fittingFont(const QFont& font, const QStringList& texts, double width) {
  constexpr double kStep = 0.02;
  for (double scale = 1.0; scale > kLeastScale; scale -= kStep) {
    QFont smaller = scaled(font, scale);
    if (widestOf(texts, smaller) <= width) {
      return smaller;
    }
  }
  return scaled(font, kLeastScale);
}

// Of the columns: those of a block stand for all.
QStringList columnWords() {
  QStringList words;
  for (int column = 0; column < kMapBlocks; ++column) {
    words.push_back(columnText(column).meaning.section(u' ', 0, 0));
  }
  return words;
}

QStringList blockTitles() {
  QStringList titles;
  for (int block = 0; block < kMapBlocks; ++block) {
    const HeaderText text = blockText(block);
    titles.push_back(u"%1 · %2"_s.arg(text.code, text.meaning));
  }
  return titles;
}

QFont demiBold(QFont font) {
  font.setWeight(QFont::DemiBold);
  return font;
}

class HeaderPainter {
 public:
  HeaderPainter(QPainter& painter, const QFont& font, const Theme& theme)
      : m_painter(painter), m_font(font), m_theme(theme) {}

  void paintCode(const QRectF& rect, const QString& code, Qt::Alignment alignment) {
    m_painter.setFont(demiBold(m_font));
    m_painter.setPen(m_theme.text);
    m_painter.drawText(rect, static_cast<int>(alignment.toInt()), code);
  }

  // The code above its meaning in `small`.
  void paintBoth(const QRectF& rect, const HeaderText& text, const QFont& small, Qt::Alignment alignment) {
    const double line = QFontMetricsF(m_font).height();
    const double top = alignment.testFlag(Qt::AlignVCenter) ? rect.center().y() - line : rect.top();
    paintCode(QRectF(rect.left(), top, rect.width(), line), text.code, alignment);
    m_painter.setFont(small);
    m_painter.setPen(m_theme.mutedText);
    const QRectF below(rect.left(), top + line, rect.width(), rect.bottom() - top - line);
    const int flags =
        static_cast<int>((alignment & Qt::AlignHorizontal_Mask).toInt()) | Qt::AlignTop | Qt::TextWordWrap;
    m_painter.drawText(below, flags, fitting(text.meaning, below, QFontMetricsF(small)));
  }

  // The titles where all of them fit, else only the codes: half a title says no more.
  void paintBlocks(const HeatMapGeometry& geometry) {
    const QStringList titles = blockTitles();
    const double width = geometry.blockHeader(0).width();
    const QFont large = fittingFont(demiBold(m_font), titles, width);
    const bool fits = widestOf(titles, large) <= width;
    for (int block = 0; block < kMapBlocks; ++block) {
      const QRectF rect = geometry.blockHeader(block);
      m_painter.setFont(large);
      m_painter.setPen(m_theme.text);
      m_painter.drawText(rect, Qt::AlignCenter, fits ? titles[block] : blockText(block).code);
      m_painter.setPen(QPen(m_theme.border, 1.0));
      m_painter.drawLine(rect.bottomLeft(), rect.bottomRight());
    }
  }

 private:
  QPainter& m_painter;
  const QFont& m_font;
  const Theme& m_theme;
};

}  // namespace

int wordLines(double columnWidth, const QFont& font) {
  if (widestOf(columnWords(), scaled(font, kLeastScale)) > columnWidth) {
    return 0;
  }
  const QFontMetricsF metrics(fittingFont(font, columnWords(), columnWidth));
  const QRectF room(0, 0, columnWidth, 2.0 * metrics.height());
  for (int column = 0; column < kMapBlocks; ++column) {
    const QString meaning = columnText(column).meaning;
    if (meaning.contains(u' ') && fitting(meaning, room, metrics) == meaning) {
      return 2;
    }
  }
  return 1;
}

void paintHeaders(QPainter& painter, const HeatMapGeometry& geometry, const QFont& font, const Theme& theme) {
  HeaderPainter headers(painter, font, theme);
  const QFont words = fittingFont(font, columnWords(), geometry.columnHeader(0).width());
  for (int row = 0; row < kMapRows; ++row) {
    if (geometry.hasWords()) {
      headers.paintBoth(geometry.rowHeader(row), rowText(row), font, Qt::AlignRight | Qt::AlignVCenter);
    } else {
      headers.paintCode(geometry.rowHeader(row), rowText(row).code, Qt::AlignRight | Qt::AlignVCenter);
    }
  }
  for (int column = 0; column < kMapColumns; ++column) {
    if (geometry.hasWords()) {
      headers.paintBoth(geometry.columnHeader(column), columnText(column), words, Qt::AlignHCenter | Qt::AlignTop);
    } else {
      headers.paintCode(geometry.columnHeader(column), columnText(column).code, Qt::AlignHCenter | Qt::AlignTop);
    }
  }
  headers.paintBlocks(geometry);
}

QString headerAt(const HeatMapGeometry& geometry, const QPointF& point) {
  const auto full = [](const HeaderText& text) { return QString(text.code % u": "_s % text.meaning); };
  for (int row = 0; row < kMapRows; ++row) {
    if (geometry.rowHeader(row).contains(point)) {
      return full(rowText(row));
    }
  }
  for (int column = 0; column < kMapColumns; ++column) {
    if (geometry.columnHeader(column).contains(point)) {
      return full(columnText(column));
    }
  }
  for (int block = 0; block < kMapBlocks; ++block) {
    if (geometry.blockHeader(block).contains(point)) {
      return full(blockText(block));
    }
  }
  return {};
}

}  // namespace swage::ui
