// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/chart_widget.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QMenu>
#include <QPainter>

#include <utility>

using namespace Qt::StringLiterals;

namespace swage::ui {

ChartWidget::ChartWidget(const QString& title, QWidget* parent) : QWidget(parent), m_title(title) {
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(title);
}

void ChartWidget::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void ChartWidget::setExport(ChooseFile chooseFile, ReportError reportError) {
  m_chooseFile = std::move(chooseFile);
  m_reportError = std::move(reportError);
}

void ChartWidget::refresh() {
  QStringList lines;
  for (const QStringList& row : chartTable().rows) {
    lines.push_back(row.join(u' '));
  }
  setAccessibleDescription(lines.join(u"; "_s));
  updateGeometry();
  update();
}

void ChartWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  drawChart(painter, rect());
  if (hasFocus()) {
    painter.setPen(QPen(m_theme.accent, 2.0));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(QRectF(rect()).adjusted(1.0, 1.0, -1.0, -1.0));
  }
}

void ChartWidget::contextMenuEvent(QContextMenuEvent* event) {
  auto* menu = new QMenu(this);
  menu->setObjectName(u"chartMenu"_s);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(tr("Copy Image"), this, &ChartWidget::copyImage);
  menu->addAction(tr("Copy Numbers"), this, &ChartWidget::copyTable);
  if (m_chooseFile) {
    menu->addSeparator();
    menu->addAction(tr("Save as SVG…"), this, [this] { save(ChartFormat::Svg); });
    menu->addAction(tr("Save as PNG…"), this, [this] { save(ChartFormat::Png); });
    menu->addAction(tr("Save as CSV…"), this, [this] { save(ChartFormat::Csv); });
  }
  menu->popup(event->globalPos());
}

void ChartWidget::copyImage() const {
  QImage image(size() * devicePixelRatioF(), QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(devicePixelRatioF());
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  drawChart(painter, rect());
  painter.end();
  QGuiApplication::clipboard()->setImage(image);
}

void ChartWidget::copyTable() const {
  QGuiApplication::clipboard()->setText(toCsv(chartTable()));
}

void ChartWidget::save(ChartFormat format) {
  if (!m_chooseFile) {
    return;
  }
  const QString suggestion = QString(m_title).toLower().replace(u' ', u'-') % u'.' % suffixOf(format);
  m_chooseFile(this, suggestion, [this, format](const QString& file) {
    const Result<> written = exportChart(*this, file.toStdString(), format, size());
    if (!written && m_reportError) {
      m_reportError(written.error());
    }
  });
}

}  // namespace swage::ui
