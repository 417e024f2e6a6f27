// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/trust_panel.h"

#include <QGridLayout>
#include <QLabel>

#include "ui/models/format.h"
#include "ui/models/profile_text.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using domain::AssuranceVerdict;

Badge::Tone toneOf(AssuranceVerdict verdict) {
  switch (verdict) {
    case AssuranceVerdict::Passed: return Badge::Tone::Good;
    case AssuranceVerdict::Failed: return Badge::Tone::Bad;
    case AssuranceVerdict::Unavailable: return Badge::Tone::Caution;
  }
  return Badge::Tone::Neutral;
}

QString wordOf(AssuranceVerdict verdict) {
  switch (verdict) {
    case AssuranceVerdict::Passed: return TrustPanel::tr("passed");
    case AssuranceVerdict::Failed: return TrustPanel::tr("failed");
    case AssuranceVerdict::Unavailable: return TrustPanel::tr("not checked");
  }
  return {};
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

void TrustPanel::setTrust(const std::vector<domain::Assurance>& assurances, const std::vector<std::string>& doubts) {
  clear();
  for (const domain::Assurance& assurance : assurances) {
    const TrustText text = describeAssurance(assurance);
    const QString detail = text.detail.isEmpty() ? text.name : QString(text.name % u": "_s % text.detail);
    addRow(wordOf(text.verdict), toneOf(text.verdict), detail);
  }
  for (const std::string& doubt : doubts) {
    addRow(tr("doubt"), Badge::Tone::Caution, toQString(doubt));
  }
}

void TrustPanel::addRow(const QString& word, Badge::Tone tone, const QString& detail) {
  auto* badge = new Badge(this);
  badge->setTheme(m_theme);
  badge->setBadge(word, tone);
  auto* label = new QLabel(detail, this);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_grid->addWidget(badge, m_rows, 0, Qt::AlignTop | Qt::AlignLeft);
  m_grid->addWidget(label, m_rows, 1);
  ++m_rows;
}

}  // namespace swage::ui
