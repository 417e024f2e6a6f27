// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/trust_panel.h"

#include <QGridLayout>
#include <QLabel>

#include "ui/models/export_gate_model.h"
#include "ui/models/export_text.h"
#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::ExportGate;

Badge::Tone badgeTone(GateTone tone) {
  switch (tone) {
    case GateTone::Good: return Badge::Tone::Good;
    case GateTone::Caution: return Badge::Tone::Caution;
    case GateTone::Bad: return Badge::Tone::Bad;
    case GateTone::Neutral: break;
  }
  return Badge::Tone::Neutral;
}

}  // namespace

TrustPanel::TrustPanel(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setColumnStretch(1, 1);
  m_grid->setVerticalSpacing(fontMetrics().height() / 4);
}

void TrustPanel::setTheme(const Theme& theme) {
  m_theme = theme;
  for (Badge* badge : findChildren<Badge*>()) {
    badge->setTheme(theme);
  }
}

void TrustPanel::clear() {
  m_rows = 0;
  while (QLayoutItem* item = m_grid->takeAt(0)) {
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
}

void TrustPanel::setTrust(const std::vector<ExportGate>& gates, const std::vector<std::string>& doubts) {
  clear();
  for (const ExportGate& gate : gates) {
    const GateText text = describeGate(gate);
    const QString detail = text.found.isEmpty() || (gate.state == ExportGate::State::NotRun && gate.detail.empty())
                               ? text.name
                               : QString(text.name % u": "_s % text.found);
    addRow(text.state, badgeTone(toneOf(gate)), detail, text.meaning);
  }
  for (const std::string& doubt : doubts) {
    addRow(tr("warning"), Badge::Tone::Caution, tr("correctness checks are weak: %1").arg(toQString(doubt)), {});
  }
}

void TrustPanel::addRow(const QString& word, Badge::Tone tone, const QString& detail, const QString& meaning) {
  auto* badge = new Badge(this);
  badge->setTheme(m_theme);
  badge->setBadge(word, tone);
  auto* label = new QLabel(detail, this);
  label->setTextFormat(Qt::PlainText);
  label->setToolTip(meaning);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_grid->addWidget(badge, m_rows, 0, Qt::AlignTop | Qt::AlignLeft);
  m_grid->addWidget(label, m_rows, 1);
  ++m_rows;
}

}  // namespace swage::ui
