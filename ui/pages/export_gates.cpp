// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/export_gates.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/models/export_assistant.h"
#include "ui/models/export_gate_model.h"
#include "ui/pages/tone_delegate.h"
#include "ui/pages/wrapped_rows.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::ExportGate;

// Of the word in the first column; what says little stands back in all of them.
std::optional<QColor> colorOf(const QModelIndex& index, const Theme& theme) {
  const auto tone = static_cast<GateTone>(index.data(kGateToneRole).toInt());
  if (tone == GateTone::Neutral) {
    return theme.mutedText;
  }
  if (index.column() != static_cast<int>(GateColumn::State)) {
    return std::nullopt;
  }
  return tone == GateTone::Good ? theme.good : tone == GateTone::Caution ? theme.caution : theme.bad;
}

QString summaryOf(const std::vector<ExportGate>& gates) {
  const auto count = [&gates](auto test) { return static_cast<int>(std::count_if(gates.begin(), gates.end(), test)); };
  const int failed = count([](const ExportGate& gate) { return gate.state == ExportGate::State::Failed; });
  const int open = count([](const ExportGate& gate) { return gate.state == ExportGate::State::NotRun; });
  if (gates.empty()) {
    return ExportGates::tr("Reading the record…");
  }
  if (count([](const ExportGate& gate) { return gate.state == ExportGate::State::Running; }) > 0) {
    return ExportGates::tr("Verifying again…");
  }
  if (count(services::blocksExport) > 0) {
    return ExportGates::tr("Incorrect: cannot be exported.");
  }
  if (failed > 0) {
    return ExportGates::tr("Can be exported, with limits. Failed: %1, not run: %2.").arg(failed).arg(open);
  }
  return open > 0 ? ExportGates::tr("Can be exported. Not run: %1.").arg(open)
                  : ExportGates::tr("Can be exported. All checks passed.");
}

}  // namespace

ExportGates::ExportGates(ExportAssistant& assistant, QWidget* parent)
    : QWidget(parent),
      m_assistant(assistant),
      m_model(new ExportGateModel(this)),
      m_delegate(new ToneDelegate(colorOf, this)),
      m_summary(new QLabel),
      m_progress(new QProgressBar),
      m_verify(new QPushButton(tr("&Verify Again"))),
      m_table(makeTable()) {
  m_summary->setObjectName(u"exportSummary"_s);
  QFont bold = m_summary->font();
  bold.setWeight(QFont::DemiBold);
  m_summary->setFont(bold);
  m_summary->setWordWrap(true);
  m_progress->setObjectName(u"exportCheckProgress"_s);
  m_progress->setAccessibleName(tr("Checks are running"));
  m_progress->setRange(0, 0);
  m_progress->setTextVisible(false);
  m_progress->setFixedHeight(fontMetrics().height());
  m_progress->setMaximumWidth(fontMetrics().averageCharWidth() * 20);
  m_verify->setObjectName(u"verifyExport"_s);
  m_verify->setMinimumWidth(m_verify->sizeHint().width() + 2 * fontMetrics().averageCharWidth());
  m_verify->setVisible(assistant.hasChecks());
  auto* row = new QHBoxLayout;
  row->addWidget(m_summary, 1);
  row->addWidget(m_progress);
  row->addWidget(m_verify);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(row);
  column->addWidget(m_table, 1);
  connect(m_verify, &QPushButton::clicked, this, &ExportGates::toggle);
  connect(&assistant, &ExportAssistant::gatesChanged, this, &ExportGates::showGates);
  connect(&assistant, &ExportAssistant::stateChanged, this, &ExportGates::showState);
  showGates();
  showState();
}

QTableView* ExportGates::makeTable() {
  auto* table = new QTableView;
  table->setObjectName(u"exportGates"_s);
  table->setAccessibleName(tr("Checks before the export"));
  table->setModel(m_model);
  styleTable(*table);
  table->setItemDelegate(m_delegate);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QHeaderView* header = table->horizontalHeader();
  for (const GateColumn column : {GateColumn::State, GateColumn::Gate}) {
    header->setSectionResizeMode(static_cast<int>(column), QHeaderView::ResizeToContents);
  }
  for (const GateColumn column : {GateColumn::Found, GateColumn::Meaning}) {
    header->setSectionResizeMode(static_cast<int>(column), QHeaderView::Stretch);
  }
  wrapRows(*table);
  return table;
}

void ExportGates::setTheme(const Theme& theme) {
  m_delegate->setTheme(theme);
  m_table->viewport()->update();
}

void ExportGates::showGates() {
  m_model->updateRows(m_assistant.gates());
  m_summary->setText(summaryOf(m_assistant.gates()));
}

void ExportGates::showState() {
  const bool isChecking = m_assistant.isChecking();
  m_progress->setVisible(isChecking);
  m_verify->setText(isChecking ? tr("C&ancel") : tr("&Verify Again"));
  m_verify->setEnabled(isChecking || m_assistant.canVerify());
  m_verify->setToolTip(
      m_assistant.isBusy()
          ? tr("Not while a search is running")
          : tr("Evaluate it in a fresh process, run its kernels under compute-sanitizer and check other "
               "shapes; takes seconds to minutes"));
}

void ExportGates::toggle() {
  if (m_assistant.isChecking()) {
    m_verify->setEnabled(false);  // until what it started is gone
    m_assistant.cancel();
  } else {
    m_assistant.verify();
  }
}

}  // namespace swage::ui
