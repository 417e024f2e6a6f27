// SPDX-License-Identifier: Apache-2.0
// What goes wrong outside of a search, in a real window over a real engine: each ends in a banner that says what
// happened and what to do, with nothing lost, and the search goes on from there.
#include <sqlite3.h>
#include <unistd.h>

#include <QLabel>
#include <QPushButton>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/engine/record_service_impl.h"
#include "core/engine/run_service_impl.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/full_disk.h"
#include "tests/support/no_warnings.h"
#include "tests/support/result_matchers.h"
#include "tests/ui/window_fixture.h"
#include "ui/shell/dock_layout.h"
#include "ui/widgets/notice_banner.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using services::RunState;

constexpr int kDeadlineMs = 30000;

// The processes of a role ("worker", "compiler") that this one has started.
std::vector<pid_t> childrenOfRole(const std::string& role) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    std::ifstream status(entry.path() / "stat");
    std::string ignored;
    std::string state;
    pid_t parent = 0;
    status >> ignored >> ignored >> state >> parent;
    std::ifstream commandLine(entry.path() / "cmdline");
    std::ostringstream text;
    text << commandLine.rdbuf();
    const bool isOfRole = text.str().find('\0' + role + '\0') != std::string::npos;
    if (parent == ::getpid() && state != "Z" && isOfRole) {
      found.push_back(static_cast<pid_t>(std::stol(name)));
    }
  }
  return found;
}

// Another program that writes into the record and does not come to an end.
class Holder {
 public:
  explicit Holder(const std::filesystem::path& file) {
    EXPECT_EQ(sqlite3_open(file.c_str(), &m_database), SQLITE_OK);
    sqlite3_busy_timeout(m_database, kDeadlineMs);
    EXPECT_EQ(sqlite3_exec(m_database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  ~Holder() { sqlite3_close(m_database); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

 private:
  sqlite3* m_database = nullptr;
};

class IncidentsTest : public SessionFixture {
 protected:
  IncidentsTest() {
    expectWarnings();  // each of these goes into the log, too
    ::setenv("XDG_RUNTIME_DIR", m_folder.path().c_str(), 1);
    m_parts.programs.workerCommand = [](domain::DeviceKind) { return fakeWorker("ok", {"--evaluate-ms", "20"}); };
    m_spec.timeBudgetSeconds = 600.0;
    m_spec.maxEvaluations = 80;
    m_spaceSize = 2000;
  }
  ~IncidentsTest() override {
    m_window.reset();
    ::unsetenv("XDG_RUNTIME_DIR");
  }

  void openAndStart() {
    m_run = std::make_unique<engine::RunServiceImpl>(m_parts);
    m_options.spec = m_spec;
    m_window = std::make_unique<ui::MainWindow>(ui::WindowServices{.run = *m_run,
                                                                   .record = m_recordService,
                                                                   .exporter = m_exporter,
                                                                   .dialogs = m_dialogs,
                                                                   .theme = m_theme,
                                                                   .doctor = &m_doctor,
                                                                   .bus = m_bus},
                                                m_options);
    QObject::connect(m_run.get(), &services::RunService::candidateEvaluated, m_window.get(),
                     [this](const services::CandidateRow& row) { m_rows.push_back(row); });
    QObject::connect(m_run.get(), &services::RunService::finished, m_window.get(),
                     [this](const services::RunOutcome& outcome) { m_outcomes.push_back(outcome); });
    m_window->show();
    m_window->startSearch();
    ASSERT_TRUE(QTest::qWaitFor([this] { return m_rows.size() > 5; }, kDeadlineMs));
  }
  bool waitForEnd(std::size_t outcomes = 1) {
    return QTest::qWaitFor([&] { return m_outcomes.size() >= outcomes; }, kDeadlineMs);
  }
  [[nodiscard]] ui::NoticeBanner& banner() const { return *m_window->findChild<ui::NoticeBanner*>(); }
  bool waitForBanner(const QString& text) {
    return QTest::qWaitFor([&] { return banner().isVisible() && banner().text().contains(text); }, kDeadlineMs);
  }
  [[nodiscard]] QPushButton* button(const QString& text) const {
    const auto all = banner().findChildren<QPushButton*>();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&text](QPushButton* one) { return one->isVisible() && one->text() == text; });
    return found == all.end() ? nullptr : *found;
  }
  // Readable aloud, says where to go on, and stays.
  void expectHelpfulBanner(const QString& whatToDo) {
    EXPECT_EQ(banner().accessibleName(), banner().text());
    EXPECT_TRUE(banner().accessibleDescription().contains(whatToDo)) << banner().accessibleDescription().toStdString();
    EXPECT_GE(banner().findChild<QLabel*>(u"noticeText"_s)->height(), banner().fontMetrics().height());
  }
  // By its button, with the mouse, to the end of its budget.
  void resumeToTheEnd() {
    QPushButton* resume = button(u"Resume"_s);
    ASSERT_NE(resume, nullptr);
    QTest::mouseClick(resume, Qt::LeftButton);
    EXPECT_FALSE(banner().hasNotice()) << "what it said is settled";
    ASSERT_TRUE(waitForEnd(2));
    EXPECT_FALSE(m_outcomes[1].error) << m_outcomes[1].error->message();
    expectWholeRecord();
  }
  void expectWholeRecord() const {
    EXPECT_EQ(onlyRun().status, store::RunStatus::Finished);
    EXPECT_EQ(onlyRun().evaluations, m_spec.maxEvaluations);
    for (const store::CandidateRecord& candidate : history()) {
      EXPECT_TRUE(candidate.evaluation.has_value()) << candidate.id.value();
    }
  }
  void expectNobodyBlamed() const {
    for (const store::CandidateRecord& candidate : history()) {
      EXPECT_FALSE(std::holds_alternative<domain::Crashed>(*candidate.evaluation)) << candidate.id.value();
    }
  }

  std::unique_ptr<engine::RunServiceImpl> m_run;
  engine::RecordServiceImpl m_recordService;
  FakeExportService m_exporter;
  FakeDoctorService m_doctor;
  FakeDialogs m_dialogs;
  QDBusConnection m_bus{QStringLiteral("none")};
  ui::ThemeController m_theme{*qobject_cast<QApplication*>(QCoreApplication::instance())};
  ui::WindowOptions m_options;
  std::unique_ptr<ui::MainWindow> m_window;
};

TEST_F(IncidentsTest, AKilledWorkerIsReplacedAndItsCandidateEvaluatedAgain) {
  openAndStart();
  const std::vector<pid_t> workers = childrenOfRole("worker");
  ASSERT_FALSE(workers.empty());
  for (const pid_t worker : workers) {
    ::kill(worker, SIGKILL);
  }
  ASSERT_TRUE(waitForBanner(u"was killed by somebody else"_s));
  expectHelpfulBanner(u"Nothing is lost"_s);
  EXPECT_NE(button(u"System Check"_s), nullptr);
  EXPECT_EQ(button(u"Resume"_s), nullptr) << "the search goes on by itself";
  ASSERT_TRUE(waitForEnd());
  EXPECT_TRUE(banner().hasNotice()) << "it stays until it is dismissed";
  ASSERT_FALSE(m_outcomes[0].error);
  expectWholeRecord();
  expectNobodyBlamed();
}

TEST_F(IncidentsTest, AKilledCompilerCostsNothing) {
  openAndStart();
  for (const pid_t compiler : childrenOfRole("compiler")) {
    ::kill(compiler, SIGKILL);
  }
  ASSERT_TRUE(waitForEnd());
  ASSERT_FALSE(m_outcomes[0].error);
  expectWholeRecord();
  expectNobodyBlamed();
}

TEST_F(IncidentsTest, WorkersThatAreKilledAgainAndAgainEndTheSearchAndItGoesOnLater) {
  openAndStart();
  const bool ended = QTest::qWaitFor(
      [this] {
        for (const pid_t worker : childrenOfRole("worker")) {
          ::kill(worker, SIGKILL);
        }
        return !m_outcomes.empty();
      },
      kDeadlineMs);
  ASSERT_TRUE(ended);
  ASSERT_TRUE(waitForBanner(u"The worker cannot be kept running"_s));
  expectHelpfulBanner(u"then resume"_s);
  EXPECT_NE(button(u"System Check"_s), nullptr);
  resumeToTheEnd();
}

TEST_F(IncidentsTest, AFullDiskStopsTheSearchWithItsRecordWhole) {
  openAndStart();
  {
    const FullDisk full;
    ASSERT_TRUE(waitForEnd());
    EXPECT_EQ(m_outcomes[0].cause, services::Notice::Subject::DiskFull);
    ASSERT_TRUE(waitForBanner(u"The disk is full"_s));
    expectHelpfulBanner(u"Free some space"_s);
    EXPECT_NE(button(u"Other Project…"_s), nullptr);
  }
  EXPECT_THAT(record().runs(), IsOk());
  resumeToTheEnd();
}

TEST_F(IncidentsTest, ARecordThatAnotherProgramHoldsStopsTheSearchUntilItIsFree) {
  openAndStart();
  {
    const Holder holder(m_spec.project / "runs.sqlite");
    ASSERT_TRUE(waitForEnd());
    EXPECT_EQ(m_outcomes[0].cause, services::Notice::Subject::RecordLocked);
    ASSERT_TRUE(waitForBanner(u"Another program holds the record"_s));
    expectHelpfulBanner(u"runs.sqlite"_s);
  }
  resumeToTheEnd();
}

class LostGpuTest : public IncidentsTest {
 protected:
  LostGpuTest() {
    m_parts.programs.driver = [] { return process::DriverState::Loaded; };
    m_spec.target = "cuda";
  }
  static process::LaunchCommand gpu(const std::string& uuid, const std::string& behaviour,
                                    std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--gpu", "--evaluate-ms", "20", "--uuid", uuid});
    return fakeWorker(behaviour, more);
  }
  // Its context is poisoned in the n-th evaluation, and no worker can use it afterwards.
  process::LaunchCommand failing(const std::string& uuid, const std::string& evaluation) {
    return gpu(uuid, "poisoned", {"--from", evaluation, "--once", (m_folder / uuid).string(), "--then", "unusable"});
  }
  std::atomic<bool> m_isBack = false;
};

TEST_F(LostGpuTest, TheOnlyOneStopsTheSearchUntilItIsBack) {
  m_parts.programs.workerCommand = [this](domain::DeviceKind) {
    return m_isBack ? gpu("GPU-1", "ok") : failing("GPU-1", "12");
  };
  openAndStart();
  ASSERT_TRUE(waitForEnd());
  EXPECT_EQ(m_outcomes[0].cause, services::Notice::Subject::GpuLost);
  ASSERT_TRUE(waitForBanner(u"The GPU is lost"_s));
  expectHelpfulBanner(u"nvidia-smi"_s);
  QTest::mouseClick(button(u"System Check"_s), Qt::LeftButton);
  EXPECT_TRUE(banner().hasNotice());
  m_isBack = true;
  resumeToTheEnd();
}

TEST_F(LostGpuTest, OneOfTwoIsLeftOutAndTheSearchGoesOn) {
  m_parts.programs.workerCommand = [](domain::DeviceKind) { return gpu("GPU-1", "ok"); };
  m_parts.moreWorkers = {failing("GPU-2", "3")};
  openAndStart();
  ASSERT_TRUE(waitForBanner(u"A GPU is left out"_s));
  EXPECT_EQ(button(u"Resume"_s), nullptr);
  ASSERT_TRUE(waitForEnd());
  ASSERT_FALSE(m_outcomes[0].error);
  expectWholeRecord();
}

}  // namespace
}  // namespace swage::testing
