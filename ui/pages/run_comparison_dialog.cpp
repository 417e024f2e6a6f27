// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/run_comparison_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

CandidateRef bestRef(const RunRef& run) {
  CandidateRef ref(bestOf(run.run));
  ref.record = run.record;
  ref.project = run.project;
  return ref;
}

}  // namespace

RunComparisonDialog::RunComparisonDialog(ProjectSession& session, const services::RecordService& record,
                                         QWidget* parent)
    : QDialog(parent),
      m_session(session),
      m_record(record),
      m_leftPicker(new RunPicker(session, record, tr("Run A"), this)),
      m_rightPicker(new RunPicker(session, record, tr("Run B"), this)),
      m_onlyDifferences(new QCheckBox(tr("Only what differs"), this)),
      m_model(new ComparisonModel(this)),
      m_table(new QTableView(this)),
      m_candidates(new QPushButton(tr("Compare Best &Candidates"), this)) {
  setObjectName(u"runComparison"_s);
  setWindowTitle(tr("Compare Runs"));
  setUpTable();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  buttons->addButton(m_candidates, QDialogButtonBox::ActionRole);
  auto* column = new QVBoxLayout(this);
  column->addLayout(makeHeader());
  column->addWidget(m_table, 1);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
  connect(m_candidates, &QPushButton::clicked, this, &RunComparisonDialog::requestCandidates);
  connect(m_onlyDifferences, &QCheckBox::toggled, m_model, &ComparisonModel::showOnlyDifferences);
  resize(fontMetrics().averageCharWidth() * 110, fontMetrics().height() * 32);
}

QLayout* RunComparisonDialog::makeHeader() {
  m_leftPicker->setObjectName(u"runA"_s);
  m_rightPicker->setObjectName(u"runB"_s);
  m_onlyDifferences->setObjectName(u"onlyDifferentRuns"_s);
  m_candidates->setObjectName(u"compareBestCandidates"_s);
  auto* row = new QHBoxLayout;
  row->addWidget(new QLabel(tr("A"), this));
  row->addWidget(m_leftPicker);
  row->addSpacing(fontMetrics().height());
  row->addWidget(new QLabel(tr("B"), this));
  row->addWidget(m_rightPicker);
  row->addStretch(1);
  row->addWidget(m_onlyDifferences);
  connect(m_leftPicker, &RunPicker::chosen, this, [this](const RunRef& run) {
    m_left = run;
    showRuns();
  });
  connect(m_rightPicker, &RunPicker::chosen, this, [this](const RunRef& run) {
    m_right = run;
    showRuns();
  });
  return row;
}

void RunComparisonDialog::setUpTable() {
  m_table->setObjectName(u"runComparisonTable"_s);
  m_table->setAccessibleName(tr("Comparison of two runs"));
  m_table->setModel(m_model);
  styleTable(*m_table);
  m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  m_table->setColumnHidden(static_cast<int>(ComparisonColumn::Ancestor), true);
  QHeaderView* header = m_table->horizontalHeader();
  header->setSectionResizeMode(QHeaderView::ResizeToContents);
  for (const ComparisonColumn column : {ComparisonColumn::Left, ComparisonColumn::Right}) {
    header->setSectionResizeMode(static_cast<int>(column), QHeaderView::Stretch);
  }
}

void RunComparisonDialog::setProjects(OtherProjects* projects, const ChooseFolder& chooseFolder) {
  m_leftPicker->setProjects(projects, chooseFolder);
  m_rightPicker->setProjects(projects, chooseFolder);
}

void RunComparisonDialog::compare(const RunRef& left, const RunRef& right) {
  m_left = left;
  m_right = right;
  showRuns();
}

void RunComparisonDialog::showRuns() {
  if (!m_left || !m_right) {
    return;
  }
  const auto left = loadRun(m_record, *m_left);
  const auto right = loadRun(m_record, *m_right);
  if (!left || !right) {
    m_session.report(left ? right.error() : left.error());
    return;
  }
  m_leftPicker->setShown(shortName(left->from));
  m_rightPicker->setShown(shortName(right->from));
  m_candidates->setEnabled(bestOf(left->from.run).isValid() && bestOf(right->from.run).isValid());
  m_left = left->from;
  m_right = right->from;
  m_model->setRows(compareRuns(*left, *right));
}

void RunComparisonDialog::requestCandidates() {
  if (m_left && m_right) {
    Q_EMIT candidatesRequested(bestRef(*m_left), bestRef(*m_right));
  }
}

}  // namespace swage::ui
