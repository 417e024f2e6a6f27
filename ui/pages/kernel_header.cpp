// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/kernel_header.h"

#include <QLabel>
#include <QStringList>
#include <QVBoxLayout>

#include "core/domain/origin.h"
#include "ui/models/cell_view.h"
#include "ui/models/export_text.h"
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
      m_status(new Badge),
      m_sanitizer(new Badge),
      m_selfTest(new Badge) {
  QFont bold = m_title->font();
  bold.setWeight(QFont::DemiBold);
  m_title->setFont(bold);
  m_title->setObjectName(u"kernelTitle"_s);
  m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_numbers->setObjectName(u"kernelNumbers"_s);
  m_numbers->setForegroundRole(QPalette::PlaceholderText);
  m_origin->setObjectName(u"originBadge"_s);
  m_repeatable->setObjectName(u"repeatableBadge"_s);
  m_repeatable->setToolTip(tr("The same inputs gave the same bits each time"));
  m_accuracy->setObjectName(u"accuracyBadge"_s);
  m_accuracy->setToolTip(
      tr("Accuracy class. A speedup is against the fastest baseline whose class PyTorch's default settings permit."));
  m_status->setObjectName(u"statusBadge"_s);
  m_sanitizer->setObjectName(u"sanitizerBadge"_s);
  m_selfTest->setObjectName(u"selfTestBadge"_s);
  m_selfTest->setToolTip(
      tr("The search ran without the self-test of its device, so nothing shows that wrong kernels are found there. "
         "Run the self-test in System Check, then search again."));
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

void KernelHeader::showOrigin(const domain::ProposerName& madeBy) {
  const QString name = toQString(domain::ownName(madeBy));
  QString text;
  QString reason;
  switch (domain::originOf(madeBy)) {
    case domain::Origin::Search: break;
    case domain::Origin::Person:
      text = tr("edited by hand");
      reason = tr("A person wrote this source or chose its parameters");
      break;
    case domain::Origin::Model:
      text = tr("model: %1").arg(name);
      reason = tr("The language model “%1” wrote this kernel. Show Conversation in the candidate's menu has its prompt "
                  "and its reply.")
                   .arg(name);
      break;
    case domain::Origin::Agent:
      text = tr("agent: %1").arg(name);
      reason = tr("The agent “%1” submitted this kernel through swage mcp").arg(name);
      break;
  }
  m_origin->setBadge(text, Badge::Tone::Neutral);
  m_origin->setToolTip(reason);
}

// Only what the record says: most candidates never come before the sanitizer.
void KernelHeader::showTrust(const KernelTrust& trust) {
  using State = services::ExportGate::State;
  m_selfTest->setBadge(trust.skippedSelfTest ? tr("no self-test") : QString(), Badge::Tone::Caution);
  m_sanitizer->setBadge({}, Badge::Tone::Neutral);
  if (!trust.sanitizer) {
    return;
  }
  const GateText gate = describeGate(*trust.sanitizer);
  m_sanitizer->setToolTip(gate.found.isEmpty() ? gate.meaning : QString(gate.found % u"\n"_s % gate.meaning));
  if (trust.sanitizer->state == State::Passed) {
    m_sanitizer->setBadge(tr("sanitizer clean"), Badge::Tone::Good);
  } else if (trust.sanitizer->state == State::Failed) {
    m_sanitizer->setBadge(tr("sanitizer error"), Badge::Tone::Bad);
  } else if (trust.sanitizer->state == State::NotRun && !trust.sanitizer->detail.empty()) {
    m_sanitizer->setBadge(tr("sanitizer not run"), Badge::Tone::Caution);
  }
}

void KernelHeader::setCandidate(const services::CandidateDetail& detail, const KernelTrust& trust) {
  m_title->setText(titleOf(detail));
  m_title->setToolTip(cellOf(detail));
  m_numbers->setFullText(numbersOf(detail.row));
  const QString status = toQString(domain::name(detail.row.status));
  m_status->setBadge(status, toneOfStatus(status));
  const domain::Correct* correct = detail.evaluation ? domain::asCorrect(*detail.evaluation) : nullptr;
  const QString accuracy = correct != nullptr ? toQString(domain::name(correct->accuracy)) : QString();
  m_accuracy->setBadge(accuracy, Badge::Tone::Neutral);
  showOrigin(detail.row.madeBy);
  showTrust(trust);
  const bool isRepeatable = correct != nullptr && correct->bitwiseRepeatable;
  m_repeatable->setBadge(isRepeatable ? tr("deterministic") : QString(), Badge::Tone::Neutral);
}

}  // namespace swage::ui
