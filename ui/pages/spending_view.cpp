// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/spending_view.h"

#include <QGridLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/models/format.h"
#include "ui/models/swarm_models.h"
#include "ui/pages/swarm_tables.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/empty_state_button.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kFull = 1000;  // steps of a bar

}  // namespace

SpendingView::SpendingView(QWidget* parent)
    : QWidget(parent),
      m_model(new SpendingTableModel(this)),
      m_table(makeSwarmTable(m_model, u"spendingTable"_s, tr("Spending by model"))),
      m_tableOrEmpty(new EmptyState(m_table, tr("No language model has been called in this run."))),
      m_cost(makeMeter(u"costMeter"_s, tr("Part of the cost limit that is used up"))),
      m_tokens(makeMeter(u"tokenMeter"_s, tr("Part of the token limit that is used up"))) {
  m_table->setSortingEnabled(false);
  auto* settings = new QPushButton(tr("Language Models…"));
  settings->setObjectName(u"spendingSettings"_s);
  connect(settings, &QPushButton::clicked, this, &SpendingView::settingsRequested);
  addButton(*m_tableOrEmpty, settings);
  auto* grid = new QGridLayout;
  grid->setContentsMargins(10, 8, 10, 8);
  grid->setHorizontalSpacing(fontMetrics().height());
  grid->setVerticalSpacing(fontMetrics().height() / 3);
  int row = 0;
  for (const Meter& meter : {m_cost, m_tokens}) {
    grid->addWidget(meter.text, row, 0);
    grid->addWidget(meter.bar, row++, 1);
  }
  grid->setColumnStretch(1, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(grid);
  column->addWidget(m_tableOrEmpty, 1);
  setReport({});
}

SpendingView::Meter SpendingView::makeMeter(const QString& name, const QString& spoken) {
  Meter meter{new QLabel, new QProgressBar};
  meter.text->setObjectName(QString(name % u"Text"_s));
  meter.bar->setObjectName(name);
  meter.bar->setAccessibleName(spoken);
  meter.bar->setRange(0, kFull);
  meter.bar->setTextVisible(false);
  meter.bar->setMaximumHeight(fontMetrics().height() * 2 / 3);
  return meter;
}

void SpendingView::set(const Meter& meter, const QString& text, double share) {
  meter.text->setText(text);
  meter.bar->setVisible(share >= 0.0);
  meter.bar->setValue(static_cast<int>(kFull * std::clamp(share, 0.0, 1.0)));
}

void SpendingView::setReport(const services::SwarmReport& report) {
  m_model->show(report);
  if (!m_isFitted && m_model->rowCount() > 0) {
    m_isFitted = true;
    fitColumns(*m_table, {static_cast<int>(SpendingColumn::Model)});
  }
  m_tableOrEmpty->setEmpty(report.spending.empty());
  double cents = 0.0;
  std::int64_t tokens = 0;
  bool isPriceKnown = true;
  for (const services::ModelSpending& one : report.spending) {
    cents += one.cents;
    tokens += one.inputTokens + one.outputTokens;
    isPriceKnown = isPriceKnown && one.isPriceKnown;
  }
  const QString spent = isPriceKnown ? costText(cents, true) : tr("%1 and more").arg(costText(cents, true));
  set(m_cost,
      report.budgetCents > 0.0 ? tr("%1 of %2 spent").arg(spent, costText(report.budgetCents, true))
                               : tr("%1 spent, no limit").arg(spent),
      report.budgetCents > 0.0 ? cents / report.budgetCents : -1.0);
  set(m_tokens,
      report.budgetTokens > 0 ? tr("%1 of %2 tokens").arg(formatCount(tokens), formatCount(report.budgetTokens))
                              : tr("%1 tokens, no limit").arg(formatCount(tokens)),
      report.budgetTokens > 0 ? static_cast<double>(tokens) / static_cast<double>(report.budgetTokens) : -1.0);
  for (const Meter& meter : {m_cost, m_tokens}) {
    meter.text->setVisible(!report.spending.empty());
    if (report.spending.empty()) {
      meter.bar->hide();
    }
  }
}

}  // namespace swage::ui
