// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/kernel_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QStringList>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/editor/kernel_view.h"
#include "ui/models/cell_view.h"
#include "ui/models/fact_model.h"
#include "ui/models/format.h"
#include "ui/models/plan_model.h"
#include "ui/widgets/badge.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QTableView* makeTable(QAbstractItemModel* model, const QString& name) {
  auto* table = new QTableView;
  table->setObjectName(name);
  table->setModel(model);
  table->setShowGrid(false);
  table->setAlternatingRowColors(true);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setTabKeyNavigation(false);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setStretchLastSection(true);
  return table;
}

QString titleOf(const services::CandidateDetail& detail) {
  QString title = KernelPage::tr("Candidate %1").arg(detail.row.id.value());
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
  if (row.speedup > 0.0) {
    parts.push_back(KernelPage::tr("%1 the fastest baseline").arg(formatSpeedup(row.speedup)));
  }
  if (row.timeNs > 0.0) {
    parts.push_back(KernelPage::tr("error %1").arg(formatError(row.relativeError)));
  }
  if (row.registers > 0) {
    parts.push_back(KernelPage::tr("%1 registers").arg(row.registers));
  }
  if (parts.isEmpty()) {
    parts.push_back(toQString(row.summary));
  }
  parts.push_back(toQString(domain::name(row.madeBy)));
  return parts.join(u"   "_s);
}

QString accuracyOf(const services::CandidateDetail& detail) {
  const domain::Correct* correct = detail.evaluation ? domain::asCorrect(*detail.evaluation) : nullptr;
  return correct != nullptr ? toQString(domain::name(correct->accuracy)) : QString();
}

}  // namespace

KernelPage::KernelPage(Session& session, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_title(new QLabel),
      m_cell(new ElidedLabel(Qt::ElideRight)),
      m_numbers(new ElidedLabel(Qt::ElideRight)),
      m_status(new Badge),
      m_accuracy(new Badge),
      m_tabs(new QTabWidget),
      m_source(new KernelView(KernelView::Language::Cuda)),
      m_assembly(new KernelView(KernelView::Language::Plain)),
      m_sourceOrEmpty(new EmptyState(
          m_source, tr("This candidate has no kernel of its own: every step is a PyTorch operator. See Plan."))),
      m_assemblyOrEmpty(new EmptyState(m_assembly, tr("There is no assembly: nothing was compiled for it."))),
      m_plan(new PlanModel(this)),
      m_facts(new FactModel(this)) {
  setObjectName(u"kernelPage"_s);
  m_factTable = makeTable(m_facts, u"factTable"_s);
  makeTabs();
  auto* content = new QWidget;
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(0);
  inner->addWidget(makeHeader());
  inner->addWidget(m_tabs, 1);
  m_empty = new EmptyState(
      content, tr("Start a search, then choose a cell of the map or a row of the table to read its kernel."));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_empty);
  connect(&session, &Session::selectionChanged, this, &KernelPage::showSelection);
  showSelection();
}

QWidget* KernelPage::makeHeader() {
  auto* header = new QWidget;
  QFont bold = m_title->font();
  bold.setWeight(QFont::DemiBold);
  m_title->setFont(bold);
  m_title->setObjectName(u"kernelTitle"_s);
  m_title->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_cell->setForegroundRole(QPalette::PlaceholderText);
  m_numbers->setObjectName(u"kernelNumbers"_s);
  m_numbers->setForegroundRole(QPalette::PlaceholderText);
  m_status->setObjectName(u"statusBadge"_s);
  m_accuracy->setObjectName(u"accuracyBadge"_s);
  m_accuracy->setToolTip(tr("Accuracy class: speedups are only compared inside one"));
  auto* first = new QHBoxLayout;
  first->setSpacing(6);
  first->addWidget(m_title);
  first->addWidget(m_cell, 1);
  first->addWidget(m_accuracy);
  first->addWidget(m_status);
  auto* column = new QVBoxLayout(header);
  column->setContentsMargins(10, 8, 10, 8);
  column->setSpacing(4);
  column->addLayout(first);
  column->addWidget(m_numbers);
  return header;
}

void KernelPage::makeTabs() {
  m_tabs->setObjectName(u"kernelTabs"_s);
  m_tabs->setDocumentMode(true);
  m_source->setObjectName(u"sourceView"_s);
  m_assembly->setObjectName(u"assemblyView"_s);
  m_tabs->addTab(m_sourceOrEmpty, tr("Source"));
  m_tabs->addTab(m_assemblyOrEmpty, tr("Assembly"));
  auto* plan = makeTable(m_plan, u"planTable"_s);
  plan->setAccessibleName(tr("Launch plan"));
  for (int column = 0; column < static_cast<int>(PlanColumn::Arguments); ++column) {
    plan->horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  }
  m_tabs->addTab(plan, tr("Plan"));
  m_factTable->setAccessibleName(tr("Evaluation"));
  m_factTable->setWordWrap(true);
  m_factTable->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_factTable->horizontalHeader()->hide();
  m_factTable->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_factTable->setColumnWidth(0, m_factTable->fontMetrics().horizontalAdvance(u"Compiler's messages "_s) + 16);
  m_tabs->addTab(m_factTable, tr("Evaluation"));
}

void KernelPage::setTheme(const Theme& theme) {
  m_source->setTheme(theme);
  m_assembly->setTheme(theme);
  m_status->setTheme(theme);
  m_accuracy->setTheme(theme);
}

void KernelPage::focusSource() {
  m_tabs->setCurrentIndex(0);
  m_source->setFocus();
}

void KernelPage::openFind() {
  if (m_tabs->currentWidget() == m_assemblyOrEmpty) {
    m_assembly->openFind();
    return;
  }
  m_tabs->setCurrentWidget(m_sourceOrEmpty);
  m_source->openFind();
}

void KernelPage::showSelection() {
  const auto& detail = m_session.detail();
  m_empty->setEmpty(!detail);
  if (detail) {
    showDetail(*detail);
  }
}

void KernelPage::showDetail(const services::CandidateDetail& detail) {
  m_title->setText(titleOf(detail));
  m_cell->setFullText(cellOf(detail));
  m_numbers->setFullText(numbersOf(detail.row));
  const QString status = toQString(detail.row.status);
  m_status->setBadge(status, toneOfStatus(status));
  m_accuracy->setBadge(accuracyOf(detail), Badge::Tone::Neutral);
  // A generated file begins with a long prologue that is the same everywhere. The first mention of the kernel's name
  // stands where its own parameters begin.
  const QString source = toQString(detail.program.source);
  if (source != m_source->text()) {
    m_source->setText(source);
    const std::vector<std::string> entries = detail.program.entries();
    m_source->reveal(entries.empty() ? QString() : toQString(entries.front()));
  }
  m_sourceOrEmpty->setEmpty(detail.program.source.empty());
  m_assembly->setText(toQString(detail.assembly));
  m_assemblyOrEmpty->setEmpty(detail.assembly.empty());
  m_plan->setRows(planRows(detail.program.plan));
  m_facts->setRows(evaluationFacts(detail));
}

}  // namespace swage::ui
