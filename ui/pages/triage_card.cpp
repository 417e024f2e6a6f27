// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/triage_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/models/profile_text.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

enum Column { Number, What, Gain, Line };

QLabel* makeLabel(const QString& text) {
  auto* label = new QLabel(text);
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace

TriageCard::TriageCard(QWidget* parent)
    : QFrame(parent), m_headline(makeLabel({})), m_reason(makeLabel({})), m_findings(new QGridLayout) {
  setObjectName(u"triageCard"_s);
  setAccessibleName(tr("Triage"));
  QFont large = font();
  large.setPointSizeF(large.pointSizeF() * 1.35);
  large.setWeight(QFont::DemiBold);
  m_headline->setFont(large);
  m_headline->setObjectName(u"triageHeadline"_s);
  m_headline->setWordWrap(true);
  m_reason->setForegroundRole(QPalette::PlaceholderText);
  m_reason->setObjectName(u"triageReason"_s);
  m_reason->setWordWrap(true);
  m_findings->setColumnStretch(What, 1);
  m_findings->setHorizontalSpacing(fontMetrics().height() * 2 / 3);
  m_findings->setVerticalSpacing(fontMetrics().height() / 4);
  const int gap = fontMetrics().height();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(gap, gap * 2 / 3, gap, gap * 2 / 3);
  column->setSpacing(gap / 3);
  column->addWidget(m_headline);
  column->addWidget(m_reason);
  column->addLayout(m_findings);
}

void TriageCard::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void TriageCard::setDiagnosis(const domain::Diagnosis& diagnosis) {
  m_headline->setText(headline(diagnosis));
  m_reason->setText(headlineReason(diagnosis));
  m_reason->setVisible(!m_reason->text().isEmpty());
  clearFindings();
  for (const domain::Finding& finding : diagnosis.findings) {
    addFinding(m_findingCount++, finding);
  }
}

void TriageCard::clearFindings() {
  m_findingCount = 0;
  while (QLayoutItem* item = m_findings->takeAt(0)) {
    item->widget()->deleteLater();
    delete item;
  }
}

void TriageCard::addFinding(int row, const domain::Finding& finding) {
  const FindingText text = describeFinding(finding);
  auto* number = makeLabel(QString::number(row + 1));
  number->setForegroundRole(QPalette::PlaceholderText);
  auto* what = makeLabel(text.what);
  what->setObjectName(u"finding%1"_s.arg(row + 1));
  what->setWordWrap(true);
  auto* gain = makeLabel(text.gain);
  gain->setObjectName(u"findingGain%1"_s.arg(row + 1));
  gain->setToolTip(tr("The part of the candidate's time that this can cost at most"));
  QFont bold = gain->font();
  bold.setWeight(QFont::DemiBold);
  gain->setFont(bold);
  m_findings->addWidget(number, row, Number, Qt::AlignTop);
  m_findings->addWidget(what, row, What, Qt::AlignTop);
  m_findings->addWidget(gain, row, Gain, Qt::AlignTop | Qt::AlignRight);
  if (text.line > 0) {
    auto* link = new QPushButton(tr("line %1").arg(text.line));
    link->setObjectName(u"findingLine%1"_s.arg(row + 1));
    link->setFlat(true);
    link->setCursor(Qt::PointingHandCursor);
    link->setToolTip(tr("Show the line in the source"));
    link->setAccessibleName(tr("%1: show line %2 in the source").arg(text.what).arg(text.line));
    link->setStyleSheet(
        u"QPushButton{color:palette(link);padding:0 4px;}"
        "QPushButton:focus{border:1px solid palette(highlight);border-radius:3px;}"_s);
    connect(link, &QPushButton::clicked, this, [this, line = text.line] { Q_EMIT lineRequested(line); });
    m_findings->addWidget(link, row, Line, Qt::AlignTop);
  }
}

void TriageCard::paintEvent(QPaintEvent*) {
  constexpr double kStripe = 4.0;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(m_theme.border, 1.0));
  painter.setBrush(m_theme.base);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4.0, 4.0);
  painter.setPen(Qt::NoPen);
  painter.setBrush(m_theme.accent);
  painter.drawRoundedRect(QRectF(0.0, 0.0, kStripe, height()), 2.0, 2.0);
}

}  // namespace swage::ui
