// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chart_menu.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QImage>
#include <QMenu>
#include <QPainter>
#include <QWidget>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("charts", text);
}

}  // namespace

QMenu* makeChartMenu(QWidget& widget, const ChartSource& chart, const ChartOutlet& outlet) {
  auto* menu = new QMenu(&widget);
  menu->setObjectName(u"chartMenu"_s);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fillChartMenu(*menu, widget, chart, outlet);
  return menu;
}

void fillChartMenu(QMenu& menu, QWidget& widget, const ChartSource& chart, const ChartOutlet& outlet) {
  menu.addAction(tr("Copy Image"), &widget, [&widget, &chart] { copyChartImage(widget, chart); });
  menu.addAction(tr("Copy Values"), &widget, [&chart] { copyChartNumbers(chart); });
  if (outlet.chooseFile) {
    menu.addSeparator();
    const auto add = [&](const QString& text, ChartFormat format) {
      menu.addAction(text, &widget, [&widget, &chart, outlet, format] { saveChart(widget, chart, outlet, format); });
    };
    add(tr("Save as SVG…"), ChartFormat::Svg);
    add(tr("Save as PNG…"), ChartFormat::Png);
    add(tr("Save as CSV…"), ChartFormat::Csv);
  }
}

void copyChartImage(const QWidget& widget, const ChartSource& chart) {
  QImage image(widget.size() * widget.devicePixelRatioF(), QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(widget.devicePixelRatioF());
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  chart.drawChart(painter, widget.rect());
  painter.end();
  QGuiApplication::clipboard()->setImage(image);
}

void copyChartNumbers(const ChartSource& chart) {
  QGuiApplication::clipboard()->setText(toCsv(chart.chartTable()));
}

void saveChart(QWidget& widget, const ChartSource& chart, const ChartOutlet& outlet, ChartFormat format) {
  if (!outlet.chooseFile) {
    return;
  }
  const QString suggestion = chart.chartTitle().toLower().replace(u' ', u'-') % u'.' % suffixOf(format);
  outlet.chooseFile(&widget, suggestion,
                    [&chart, size = widget.size(), report = outlet.reportError, format](const QString& file) {
                      const Result<> written = exportChart(chart, file.toStdString(), format, size);
                      if (!written && report) {
                        report(written.error());
                      }
                    });
}

}  // namespace swage::ui
