// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/processor_panel.h"

#include <QGridLayout>
#include <QLabel>

using namespace Qt::StringLiterals;

namespace swage::ui {

ProcessorPanel::ProcessorPanel(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  setObjectName(u"processorPanel"_s);
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(fontMetrics().height());
  m_grid->setVerticalSpacing(fontMetrics().height() / 4);
  m_grid->setColumnStretch(2, 1);
}

void ProcessorPanel::setFacts(const QList<ProcessorFact>& facts) {
  while (QLayoutItem* item = m_grid->takeAt(0)) {
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  m_facts = static_cast<int>(facts.size());
  for (int row = 0; row < m_facts; ++row) {
    const ProcessorFact& fact = facts[row];
    auto* name = new QLabel(fact.name, this);
    auto* value = new QLabel(fact.value, this);
    QFont bold = value->font();
    bold.setWeight(QFont::DemiBold);
    value->setFont(bold);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* meaning = new QLabel(fact.meaning, this);
    meaning->setForegroundRole(QPalette::PlaceholderText);
    meaning->setWordWrap(true);
    m_grid->addWidget(name, row, 0, Qt::AlignTop);
    m_grid->addWidget(value, row, 1, Qt::AlignTop | Qt::AlignRight);
    m_grid->addWidget(meaning, row, 2, Qt::AlignTop);
  }
}

}  // namespace swage::ui
