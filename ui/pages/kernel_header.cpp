// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/kernel_header.h"

#include <QLabel>
#include <QStringList>
#include <QVBoxLayout>

#include "ui/models/cell_view.h"
#include "ui/models/format.h"
#include "ui/widgets/badge.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/flow_layout.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString titleOf(const services::CandidateDetail& detail) {
  QString title = KernelHeader::tr("Candidate %1").arg(detail.row.id.value());
  return detail.row.cell ? QString(title % u" · "_s % toQString(detail.row.cell->name())) : title;
}

QString cellOf(const services::CandidateDetail& detail) {
  return detail.row.cell ? describeCell(*detail.row.cell).section(u": "_s, 1) : QString();
}

QString numbersOf(const services::CandidateRow& row) {
  QStringList parts;
  if (row.timeNs > 0.0) {
    parts.push_back(formatInterval(row.timeNs, row.lowNs, row.highNs));
  }
  if (row.speedup.isKnown()) {
    parts.push_back(KernelHeader::tr("%1 over the fastest baseline").arg(formatSpeedupInterval(row.speedup)));
  }
  if (row.timeNs > 0.0) {
    parts.push_back(KernelHeader::tr("error %1").arg(formatError(row.relativeError)));
  }
  if (row.registers > 0) {
    parts.push_back(KernelHeader::tr("%1 registers").arg(row.registers));
  }
  if (parts.isEmpty()) {
    parts.push_back(toQString(row.summary));
  }
  if (row.cell) {
    parts.push_back(describeCell(*row.cell).section(u": "_s, 1));
  }
  parts.push_back(toQString(domain::name(row.madeBy)));
  return parts.join(u"   "_s);
}

}  // namespace

KernelHeader::KernelHeader(QWidget* parent)
    : QWidget(parent),
      m_title(new QLabel),
      m_numbers(new ElidedLabel(Qt::ElideRight)),
      m_origin(new Badge),
      m_repeatable(new Badge),
      m_accuracy(new Badge),
      m_status(new Badge) {
  QFont bold = m_title->font();
  bold.setWeight(QFont::DemiBold);
  m_title->setFont(bold);
  m_title->setObjectName(u"kernelTitle"_s);
  m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_numbers->setObjectName(u"kernelNumbers"_s);
  m_numbers->setForegroundRole(QPalette::PlaceholderText);
  m_origin->setObjectName(u"originBadge"_s);
  m_origin->setToolTip(tr("A person wrote this source or chose its parameters"));
  m_repeatable->setObjectName(u"repeatableBadge"_s);
  m_repeatable->setToolTip(tr("The same inputs gave the same bits each time"));
  m_accuracy->setObjectName(u"accuracyBadge"_s);
  m_accuracy->setToolTip(tr("Accuracy class. Speedups are compared within one class only."));
  m_status->setObjectName(u"statusBadge"_s);
  auto* first = new FlowLayout;
  first->addWidget(m_title);
  for (Badge* badge : badges()) {
    first->addWidget(badge);
  }
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 8);
  column->setSpacing(4);
  column->addLayout(first);
  column->addWidget(m_numbers);
}

void KernelHeader::setTheme(const Theme& theme) {
  for (Badge* badge : badges()) {
    badge->setTheme(theme);
  }
}

void KernelHeader::setCandidate(const services::CandidateDetail& detail) {
  m_title->setText(titleOf(detail));
  m_title->setToolTip(cellOf(detail));
  m_numbers->setFullText(numbersOf(detail.row));
  const QString status = toQString(domain::name(detail.row.status));
  m_status->setBadge(status, toneOfStatus(status));
  const domain::Correct* correct = detail.evaluation ? domain::asCorrect(*detail.evaluation) : nullptr;
  const QString accuracy = correct != nullptr ? toQString(domain::name(correct->accuracy)) : QString();
  m_accuracy->setBadge(accuracy, Badge::Tone::Neutral);
  const bool isHuman = detail.row.madeBy == domain::OperatorKind::Human;
  m_origin->setBadge(isHuman ? tr("edited by hand") : QString(), Badge::Tone::Neutral);
  const bool isRepeatable = correct != nullptr && correct->bitwiseRepeatable;
  m_repeatable->setBadge(isRepeatable ? tr("deterministic") : QString(), Badge::Tone::Neutral);
}

}  // namespace swage::ui
