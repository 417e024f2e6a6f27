// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/export_page.h"

#include <gmock/gmock.h>

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDesktopServices>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTableView>
#include <QTest>

#include <algorithm>

#include "core/base/files.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/ui/demo_data.h"
#include "tests/ui/demo_export.h"
#include "tests/ui/demo_profile.h"
#include "ui/editor/kernel_view.h"
#include "ui/pages/file_preview.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/notice_banner.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::ExportFormat;

// Takes what would go to the desktop.
class UrlHandler final : public QObject {
  Q_OBJECT

 public:
  UrlHandler() { QDesktopServices::setUrlHandler(u"file"_s, this, "open"); }
  ~UrlHandler() override { QDesktopServices::unsetUrlHandler(u"file"_s); }
  QUrl opened;

 public Q_SLOTS:
  void open(const QUrl& url) { opened = url; }  // NOLINT(readability-make-member-function-const)
};

class ExportPageTest : public ::testing::Test {
 protected:
  ExportPageTest() {
    testing::fillDemo(m_record);
    testing::fillDemoExport(m_exporter);
    m_best = testing::demoBest(m_record);
    m_record.runRows.front().best = m_best;
    m_session.showRun(testing::kDemoRun);
    m_page.resize(1200, 800);
    m_page.show();
  }
  template <class T>
  [[nodiscard]] T* child(const char* name) const {
    T* found = m_page.findChild<T*>(QLatin1String(name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }
  void click(const char* name) const { QTest::mouseClick(child<QPushButton>(name), Qt::LeftButton); }
  void type(const QString& target) const {
    auto* path = child<QLineEdit>("exportTarget");
    path->setFocus();
    path->selectAll();
    QTest::keyClicks(path, target);
  }
  [[nodiscard]] QString path(const char* name) const { return QString::fromStdString((m_folder / name).string()); }

  testing::TempDir m_folder;
  testing::FakeRunService m_run;
  testing::FakeRecordService m_record;
  testing::FakeExportService m_exporter;
  testing::FakeExportCheckService m_checks;
  ProjectSession m_session{m_run, m_record};
  ExportPage m_page{m_session, {m_exporter, &m_checks}};
  domain::CandidateId m_best;
};

TEST_F(ExportPageTest, OffersTheSelectedCandidateAndTheBestOfItsRun) {
  ASSERT_TRUE(m_page.open());
  const auto* candidates = child<QComboBox>("exportCandidate");
  EXPECT_EQ(candidates->count(), 1);
  EXPECT_EQ(candidates->currentText(), u"%1: selected, best of its run"_s.arg(m_best.value()));
  const auto other = std::find_if(m_record.rows.begin(), m_record.rows.end(), [this](const auto& row) {
    return row.status == domain::CandidateStatus::Correct && row.id != m_best;
  });
  m_session.selectCandidate(other->id);
  ASSERT_TRUE(m_page.open());
  EXPECT_EQ(candidates->count(), 2);
  EXPECT_EQ(m_page.assistant().candidate(), other->id);
  QTest::keyClick(child<QComboBox>("exportCandidate"), Qt::Key_Down);
  EXPECT_EQ(m_page.assistant().candidate(), m_best);
}

TEST_F(ExportPageTest, WherePyTorchWinsThatIsOffered) {
  services::RunSummary& run = m_record.runRows.front();
  run.bestSpeedup = {1.0, 0.98, 1.02};
  run.winner = m_record.rows.front().id;
  ASSERT_NE(run.winner, m_best);
  m_session.showRun(testing::kDemoRun);
  m_session.selectCandidate(m_best);
  ASSERT_TRUE(m_page.open());
  const auto* candidates = child<QComboBox>("exportCandidate");
  ASSERT_EQ(candidates->count(), 2);
  EXPECT_EQ(candidates->itemText(0), u"%1: selected"_s.arg(m_best.value()));
  EXPECT_EQ(candidates->itemText(1), u"%1: PyTorch (torch.compile)"_s.arg(run.winner.value()));
  run.baselineMode = "eager";
  m_session.showRun(testing::kDemoRun);
  m_session.selectCandidate(run.winner);
  ASSERT_TRUE(m_page.open());
  ASSERT_EQ(candidates->count(), 1);
  EXPECT_EQ(candidates->itemText(0), u"%1: selected, PyTorch (eager execution)"_s.arg(run.winner.value()));
}

TEST_F(ExportPageTest, ShowsGatesProvenanceAndTheFileBeforeAnythingIsWritten) {
  ASSERT_TRUE(m_page.open());
  EXPECT_EQ(child<QTableView>("exportGates")->model()->rowCount(), 7);
  EXPECT_EQ(child<QLabel>("exportSummary")->text(), u"Can be exported, with limits. Failed: 1, not run: 2."_s);
  EXPECT_GT(child<QTableView>("exportProvenance")->model()->rowCount(), 10);
  EXPECT_TRUE(child<KernelView>("exportPreview")->text().contains(u"class ModelNew(_OriginalModel):"_s));
  EXPECT_EQ(m_exporter.writes, 0);
}

TEST_F(ExportPageTest, TheKeyboardChoosesTheFormatAndTheFile) {
  ASSERT_TRUE(m_page.open());
  auto* formats = child<QListWidget>("exportFormats");
  formats->setFocus();
  QTest::keyClick(formats, Qt::Key_Down);
  EXPECT_EQ(m_page.assistant().format(), ExportFormat::Project);
  auto* files = child<QTabBar>("exportFiles");
  ASSERT_EQ(files->count(), 8);
  EXPECT_TRUE(child<QLabel>("exportPurpose")->text().contains(u"README"_s));
  EXPECT_TRUE(child<KernelView>("exportPreview")->text().startsWith(u"<!-- SPDX"_s));
  files->setFocus();
  QTest::keyClick(files, Qt::Key_Right);
  QTest::keyClick(files, Qt::Key_Right);
  EXPECT_TRUE(child<KernelView>("exportPreview")->text().contains(u"relu_kernel"_s));
}

TEST_F(ExportPageTest, CopiesTheShownFile) {
  ASSERT_TRUE(m_page.open());
  click("copyExportFile");
  EXPECT_EQ(QApplication::clipboard()->text(), m_page.findChild<FilePreview*>()->shownText());
  EXPECT_FALSE(QApplication::clipboard()->text().isEmpty());
}

TEST_F(ExportPageTest, WritesWhereTheUserSaysAndOpensTheFolder) {
  UrlHandler desktop;
  ASSERT_TRUE(m_page.open());
  const QSignalSpy wrote(&m_page, &ExportPage::wrote);
  type(path("kernel.py"));
  EXPECT_FALSE(child<QPushButton>("openExportFolder")->isVisible());
  click("writeExport");
  EXPECT_EQ(m_exporter.writtenTo, m_folder / "kernel.py");
  EXPECT_EQ(m_exporter.exported, m_best);
  EXPECT_EQ(wrote.count(), 1);
  EXPECT_EQ(child<QLabel>("exportState")->text(), u"Exported to kernel.py"_s);
  EXPECT_FALSE(child<QPushButton>("writeExport")->isEnabled());
  click("openExportFolder");
  EXPECT_EQ(desktop.opened.toLocalFile(), QString::fromStdString(m_folder.path().string()));
}

TEST_F(ExportPageTest, AFileInTheWayNeedsAWordOfTheUser) {
  ASSERT_THAT(writeFileAtomically(m_folder / "mine.py", "precious"), testing::IsOk());
  ASSERT_TRUE(m_page.open());
  type(path("mine.py"));
  EXPECT_EQ(child<QLabel>("exportState")->text(), u"A file of that name exists."_s);
  EXPECT_FALSE(child<QPushButton>("writeExport")->isEnabled());
  QTest::keyClick(child<QCheckBox>("replaceExport"), Qt::Key_Space);
  click("writeExport");
  EXPECT_EQ(m_exporter.writes, 1);
  EXPECT_TRUE(m_exporter.replaced);
}

TEST_F(ExportPageTest, VerifiesAgainAndCancels) {
  ASSERT_TRUE(m_page.open());
  click("verifyExport");
  EXPECT_EQ(m_checks.starts, 1);
  EXPECT_TRUE(child<QProgressBar>("exportCheckProgress")->isVisible());
  EXPECT_EQ(child<QPushButton>("verifyExport")->text(), u"C&ancel"_s);
  Q_EMIT m_checks.checkStarted(domain::AssuranceKind::FreshProcess);
  const QAbstractItemModel* gates = child<QTableView>("exportGates")->model();
  EXPECT_EQ(gates->index(4, 0).data().toString(), u"running…"_s);
  click("verifyExport");
  EXPECT_EQ(m_checks.cancels, 1);
  EXPECT_FALSE(child<QPushButton>("verifyExport")->isEnabled());
  m_checks.finish(Error(ErrorKind::Cancelled, "the checks were cancelled"));
  EXPECT_TRUE(child<QPushButton>("verifyExport")->isEnabled());
  EXPECT_FALSE(child<NoticeBanner>("noticeBanner")->hasNotice());
  EXPECT_EQ(gates->index(4, 0).data().toString(), u"not run"_s);
}

TEST_F(ExportPageTest, WhatIsWrongIsNotWrittenAndSaysWhy) {
  m_exporter.factRows.gates = testing::demoWrongGates();
  m_exporter.refusal = Error(ErrorKind::InvalidInput, "candidate 212 cannot be exported: it is wrong", "search on");
  ASSERT_TRUE(m_page.open());
  EXPECT_EQ(child<QLabel>("exportSummary")->text(), u"Incorrect: cannot be exported."_s);
  EXPECT_TRUE(m_page.findChild<FilePreview*>()->findChild<EmptyState*>()->isEmpty());
  EXPECT_FALSE(child<QPushButton>("writeExport")->isEnabled());
  EXPECT_FALSE(child<QPushButton>("copyExportFile")->isEnabled());
}

TEST_F(ExportPageTest, AFailureIsOneMessage) {
  m_exporter.writeFailure = Error(ErrorKind::Io, "No space left on device", "make room");
  ASSERT_TRUE(m_page.open());
  type(path("new.py"));
  click("writeExport");
  EXPECT_EQ(child<NoticeBanner>("noticeBanner")->text(), u"No space left on device"_s);
  m_exporter.writeFailure.reset();
  click("writeExport");
  EXPECT_FALSE(child<NoticeBanner>("noticeBanner")->hasNotice());
}

TEST_F(ExportPageTest, ASearchHasTheDevice) {
  ASSERT_TRUE(m_page.open());
  EXPECT_TRUE(child<QPushButton>("verifyExport")->isEnabled());
  m_session.start({});
  m_run.enter(services::RunState::Running);
  EXPECT_FALSE(child<QPushButton>("verifyExport")->isEnabled());
}

TEST_F(ExportPageTest, EverythingThatCanBeUsedHasANameForAccessibility) {
  ASSERT_TRUE(m_page.open());
  for (const char* name : {"exportCandidate", "exportFormats", "exportProvenance", "exportGates", "exportFiles",
                           "exportPreview", "exportTarget"}) {
    EXPECT_FALSE(child<QWidget>(name)->accessibleName().isEmpty()) << name;
  }
}

}  // namespace
}  // namespace swage::ui

#include "export_page_test.moc"
