// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chart_export.h"

#include <QBuffer>
#include <QImage>
#include <QLocale>
#include <QPainter>
#include <QSvgGenerator>

#include "core/base/files.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr double kPngScale = 2.0;

QString quoted(const QString& field) {
  if (!field.contains(u',') && !field.contains(u'"') && !field.contains(u'\n')) {
    return field;
  }
  return u'"' % QString(field).replace(u'"', u"\"\""_s) % u'"';
}

QString csvLine(const QStringList& fields) {
  QStringList cells;
  for (const QString& field : fields) {
    cells.push_back(quoted(field));
  }
  return cells.join(u',') % u"\r\n"_s;
}

QByteArray svgOf(const ChartSource& chart, QSize size) {
  QBuffer buffer;
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setTitle(chart.chartTitle());
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
  QPainter painter(&generator);
  chart.drawChart(painter, QRectF(QPointF(0, 0), size));
  painter.end();
  return buffer.data();
}

QByteArray pngOf(const ChartSource& chart, QSize size) {
  QImage image(size * kPngScale, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(kPngScale);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  chart.drawChart(painter, QRectF(QPointF(0, 0), size));
  painter.end();
  QBuffer buffer;
  image.save(&buffer, "PNG");
  return buffer.data();
}

QByteArray bytesOf(const ChartSource& chart, ChartFormat format, QSize size) {
  switch (format) {
    case ChartFormat::Svg: return svgOf(chart, size);
    case ChartFormat::Png: return pngOf(chart, size);
    case ChartFormat::Csv: return toCsv(chart.chartTable()).toUtf8();
  }
  return {};
}

}  // namespace

QString suffixOf(ChartFormat format) {
  switch (format) {
    case ChartFormat::Svg: return u"svg"_s;
    case ChartFormat::Png: return u"png"_s;
    case ChartFormat::Csv: return u"csv"_s;
  }
  return {};
}

QString toCsv(const ChartTable& table) {
  QString text = csvLine(table.columns);
  for (const QStringList& row : table.rows) {
    text += csvLine(row);
  }
  return text;
}

QString csvNumber(double value) {
  return QLocale::c().toString(value, 'g', QLocale::FloatingPointShortest);
}

Result<> exportChart(const ChartSource& chart, const std::filesystem::path& file, ChartFormat format, QSize size) {
  const QByteArray bytes = bytesOf(chart, format, size);
  return writeFileAtomically(file, std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
}

}  // namespace swage::ui
