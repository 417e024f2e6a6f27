// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/doctor_page.h"

#include <QApplication>
#include <QClipboard>
#include <QDateTime>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/models/check_models.h"
#include "ui/models/format.h"
#include "ui/pages/tone_delegate.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/table_style.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// Of the word in the first column.
std::optional<QColor> colorOfCheck(const QModelIndex& index, const Theme& theme) {
  if (index.column() != 0) {
    return std::nullopt;
  }
  switch (static_cast<CheckTone>(index.data(kToneRole).toInt())) {
    case CheckTone::Good: return theme.good;
    case CheckTone::Caution: return theme.caution;
    case CheckTone::Bad: break;
  }
  return theme.bad;
}

using services::DoctorCheck;
using services::SelfTestCase;

QTableView* makeTable(QAbstractItemModel* model, QAbstractItemDelegate* delegate, const QString& name,
                      const QString& spoken) {
  auto* table = new QTableView;
  table->setObjectName(name);
  table->setAccessibleName(spoken);
  table->setModel(model);
  styleTable(*table);
  table->setItemDelegate(delegate);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->horizontalHeader()->setStretchLastSection(true);
  return table;
}

QLabel* makeHeading(QLabel* label) {
  QFont font = label->font();
  font.setBold(true);
  label->setFont(font);
  label->setWordWrap(true);
  return label;
}

// A heading with what belongs to it beside it, over the content.
QWidget* makePart(QWidget* heading, std::initializer_list<QWidget*> beside, QWidget* content) {
  auto* part = new QWidget;
  auto* row = new QHBoxLayout;
  row->setContentsMargins(10, 8, 8, 8);
  row->setSpacing(8);
  row->addWidget(heading, 1);
  for (QWidget* widget : beside) {
    row->addWidget(widget);
  }
  auto* column = new QVBoxLayout(part);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(content, 1);
  return part;
}

}  // namespace

DoctorPage::DoctorPage(services::DoctorService& doctor, services::SelfTestService* selfTest, QWidget* parent)
    : QWidget(parent),
      m_doctor(doctor),
      m_selfTest(selfTest),
      m_checks(new DoctorModel(this)),
      m_cases(new SelfTestModel(this)),
      m_delegate(new ToneDelegate(colorOfCheck, this)),
      m_summary(makeHeading(new QLabel(tr("Not checked yet")))),
      m_again(new QPushButton(tr("Check Again"))),
      m_copy(new QPushButton(tr("Copy Report"))),
      m_verdict(makeHeading(new QLabel)),
      m_run(new QPushButton(tr("Run Self-Test"))),
      m_progress(new QProgressBar) {
  setObjectName(u"doctorPage"_s);
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->setChildrenCollapsible(false);
  splitter->addWidget(makeChecks());
  if (m_selfTest != nullptr) {
    splitter->addWidget(makeSelfTest());
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    connect(m_selfTest, &services::SelfTestService::caseEnded, this, &DoctorPage::showCase);
    connect(m_selfTest, &services::SelfTestService::finished, this, &DoctorPage::showReport);
  }
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(splitter);
  connect(&doctor, &services::DoctorService::finished, this, &DoctorPage::showChecks);
}

QWidget* DoctorPage::makeChecks() {
  m_summary->setObjectName(u"doctorSummary"_s);
  m_again->setObjectName(u"checkAgain"_s);
  m_copy->setObjectName(u"copyDoctor"_s);
  m_copy->setToolTip(tr("Copy the report to the clipboard, for example for a bug report"));
  m_copy->setEnabled(false);
  m_table = makeTable(m_checks, m_delegate, u"doctorTable"_s, tr("Checks"));
  m_table->setWordWrap(true);
  m_table->verticalHeader()->setMinimumSectionSize(m_table->fontMetrics().height() * 7 / 4);
  for (const DoctorColumn column : {DoctorColumn::Status, DoctorColumn::Name}) {
    m_table->horizontalHeader()->setSectionResizeMode(static_cast<int>(column), QHeaderView::ResizeToContents);
  }
  for (const DoctorColumn column : {DoctorColumn::Found, DoctorColumn::Fix}) {
    m_table->horizontalHeader()->setSectionResizeMode(static_cast<int>(column), QHeaderView::Stretch);
  }
  m_tableOrEmpty = new EmptyState(m_table, tr("Checking compiler, sandbox, Python and devices…"));
  connect(m_again, &QPushButton::clicked, this, &DoctorPage::check);
  connect(m_copy, &QPushButton::clicked, this, &DoctorPage::copyReport);
  connect(m_table->horizontalHeader(), &QHeaderView::sectionResized, m_table, &QTableView::resizeRowsToContents);
  return makePart(m_summary, {m_copy, m_again}, m_tableOrEmpty);
}

QWidget* DoctorPage::makeSelfTest() {
  m_verdict->setObjectName(u"selfTestVerdict"_s);
  m_run->setObjectName(u"runSelfTest"_s);
  m_progress->setObjectName(u"selfTestProgress"_s);
  m_progress->setAccessibleName(tr("Progress of the self-test"));
  m_progress->setFormat(tr("%v of %m"));
  m_progress->hide();
  showStored();
  auto* table = makeTable(m_cases, m_delegate, u"selfTestTable"_s, tr("Cases of the self-test"));
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() * 3 / 2);
  connect(m_cases, &QAbstractItemModel::rowsInserted, table, &QTableView::scrollToBottom);
  m_casesOrEmpty = new EmptyState(
      table, tr("The self-test sends kernels that are known to be wrong, and some that are right, through the compiler "
                "and the checks. It takes about a minute. The first search on a device runs it by itself."));
  connect(m_run, &QPushButton::clicked, this, &DoctorPage::toggleSelfTest);
  return makePart(m_verdict, {m_progress, m_run}, m_casesOrEmpty);
}

void DoctorPage::setTheme(const Theme& theme) {
  m_delegate->setTheme(theme);
  update();
}

void DoctorPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_selfTest != nullptr && !m_testing && m_cases->rowCount() == 0) {
    showStored();  // a search may have run the test meanwhile
  }
  if (!m_checked) {
    check();
  } else if (!m_checking) {
    // What came while the page was hidden was measured at another width.
    QMetaObject::invokeMethod(m_table, &QTableView::resizeRowsToContents, Qt::QueuedConnection);
  }
}

void DoctorPage::check() {
  if (m_checking) {
    return;
  }
  m_checking = true;
  m_checked = true;
  m_again->setEnabled(false);
  m_summary->setText(tr("Checking…"));
  m_doctor.start();
}

void DoctorPage::showChecks(const std::vector<DoctorCheck>& checks) {
  m_checking = false;
  m_again->setEnabled(true);
  m_copy->setEnabled(!checks.empty());
  // What needs something to be done comes first.
  std::vector<DoctorCheck> byUrgency = checks;
  std::stable_sort(byUrgency.begin(), byUrgency.end(), [](const DoctorCheck& a, const DoctorCheck& b) {
    return std::pair(a.status, a.required) > std::pair(b.status, b.required);
  });
  m_checks->setRows(std::move(byUrgency));
  m_tableOrEmpty->setEmpty(checks.empty());
  m_table->resizeRowsToContents();
  const auto count = [&checks](auto test) {
    return static_cast<int>(std::count_if(checks.begin(), checks.end(), test));
  };
  QStringList missing;
  for (const DoctorCheck& one : checks) {
    if (one.status == DoctorCheck::Status::Failed && one.required) {
      missing.push_back(toQString(one.name));
    }
  }
  const int open = count([](const DoctorCheck& one) { return one.status != DoctorCheck::Status::Ok; });
  m_summary->setText(!missing.isEmpty() ? tr("A search cannot run. Missing: %1.").arg(missing.join(u", "_s))
                     : open == 1        ? tr("A search can run. 1 warning.")
                     : open > 1         ? tr("A search can run. %1 warnings.").arg(open)
                                        : tr("A search can run. No warnings."));
  Q_EMIT checked(missing);
}

void DoctorPage::copyReport() const {
  QApplication::clipboard()->setText(m_checks->text());
}

void DoctorPage::toggleSelfTest() {
  if (m_testing) {
    m_run->setEnabled(false);
    m_selfTest->cancel();
    return;
  }
  m_testing = true;
  m_cases->setRows({});
  m_run->setText(tr("Cancel"));
  m_progress->setRange(0, 0);
  m_progress->show();
  m_elapsed.start();
  m_verdict->setText(tr("Self-test: starting the compiler and the worker…"));
  m_selfTest->start();
}

void DoctorPage::showCase(const SelfTestCase& one, int done, int total) {
  m_cases->append(one);
  m_casesOrEmpty->setEmpty(false);
  m_progress->setRange(0, total);
  m_progress->setValue(done);
  const double seconds = static_cast<double>(m_elapsed.elapsed()) / 1000.0;
  m_verdict->setText(tr("Self-test: %1 of %2, %3, about %4 left")
                         .arg(QString::number(done), QString::number(total), formatDuration(seconds),
                              formatDuration(done > 0 ? seconds / done * (total - done) : 0.0)));
}

// What an earlier test has found, until there is another one.
void DoctorPage::showStored() {
  const std::vector<services::StoredVerdict> stored = m_selfTest->storedVerdicts();
  if (stored.empty()) {
    m_verdict->setText(tr("Self-test: not run with this version yet"));
    return;
  }
  QStringList lines;
  for (const services::StoredVerdict& one : stored) {
    lines.push_back(tr("Self-test: passed on %1 with PyTorch %2, %3 cases, %4")
                        .arg(toQString(one.deviceName), toQString(one.torchVersion), QString::number(one.cases),
                             QDateTime::fromMSecsSinceEpoch(one.passedAtMs).toString(u"yyyy-MM-dd HH:mm"_s)));
  }
  m_verdict->setText(lines.front());
  m_verdict->setToolTip(lines.size() > 1 ? lines.join(u'\n') : QString());
}

void DoctorPage::showReport(const Result<services::SelfTestReport>& report) {
  m_testing = false;
  m_run->setText(tr("Run Self-Test"));
  m_run->setEnabled(true);
  m_progress->hide();
  if (!report) {
    m_verdict->setText(report.error().kind() == ErrorKind::Cancelled
                           ? tr("The self-test was cancelled.")
                           : tr("The self-test could not be done: %1").arg(toQString(report.error().message())));
    return;
  }
  m_verdict->setText(report->hasPassed()
                         ? tr("Self-test passed on %1: every wrong kernel was found, every right one accepted.")
                               .arg(toQString(report->device.name))
                         : tr("Self-test failed on %1: results of this device cannot be trusted.")
                               .arg(toQString(report->device.name)));
}

}  // namespace swage::ui
