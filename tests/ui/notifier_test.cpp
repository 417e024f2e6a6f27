// SPDX-License-Identifier: Apache-2.0
#include "ui/shell/desktop_notifier.h"

#include <gmock/gmock.h>

#include <QDBusConnection>
#include <QDBusPendingCallWatcher>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

#include "tests/support/no_warnings.h"
#include "tests/support/wait_for.h"
#include "tests/ui/window_fixture.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

// What a desktop has under this name.
class FakeDesktop final : public QObject {
  Q_OBJECT
  Q_CLASSINFO("D-Bus Interface", "org.freedesktop.Notifications")

 public Q_SLOTS:
  // NOLINTNEXTLINE(readability-identifier-naming): the name on the bus
  uint Notify(const QString&, uint replaces, const QString&, const QString& title, const QString& text,
              const QStringList&, const QVariantMap&, int) {
    shown << title + u": "_s + text;
    replaced << replaces;
    return 41 + static_cast<uint>(shown.size());
  }

 public:
  QStringList shown;
  QList<uint> replaced;
};

// A bus of its own, which the desktop of this test sits on.
class NotifierTest : public WindowTest {
 protected:
  void SetUp() override {
    if (QStandardPaths::findExecutable(u"dbus-daemon"_s).isEmpty()) {
      GTEST_SKIP() << "dbus-daemon is not installed";
    }
    daemon.start(u"dbus-daemon"_s, {u"--session"_s, u"--nofork"_s, u"--print-address=1"_s});
    ASSERT_TRUE(daemon.waitForReadyRead());
    const QString address = QString::fromUtf8(daemon.readLine()).trimmed();
    QDBusConnection desktopBus = QDBusConnection::connectToBus(address, u"desktop"_s);
    ASSERT_TRUE(desktopBus.registerService(u"org.freedesktop.Notifications"_s));
    ASSERT_TRUE(
        desktopBus.registerObject(u"/org/freedesktop/Notifications"_s, &desktop, QDBusConnection::ExportAllSlots));
    bus = QDBusConnection::connectToBus(address, u"window"_s);
  }
  void TearDown() override {
    window.reset();
    bus = QDBusConnection(u"none"_s);
    QDBusConnection::disconnectFromBus(u"desktop"_s);
    QDBusConnection::disconnectFromBus(u"window"_s);
    daemon.kill();
    daemon.waitForFinished();
  }
  [[nodiscard]] bool waitForShown(qsizetype count) const {
    return QTest::qWaitFor([&] { return desktop.shown.size() >= count; });
  }
  // Whether the desktop was asked for something that it has not answered yet.
  [[nodiscard]] static bool isWaitingForAnswer(const QObject& asker) {
    return asker.findChild<QDBusPendingCallWatcher*>() != nullptr;
  }
  // A window that is not in front.
  void openBehind() {
    openWithTask();
    window->hide();
    startRun();
  }

  QProcess daemon;
  FakeDesktop desktop;
};

TEST_F(NotifierTest, TellsOfTheEndOfASearchAndItsBest) {
  openBehind();
  services::RunOutcome outcome;
  outcome.best = domain::CandidateId(389);
  outcome.bestSpeedup = domain::Speedup::exactly(2.23);
  run.finish(outcome);
  ASSERT_TRUE(waitForShown(1));
  EXPECT_EQ(desktop.shown.front(), u"The search over softmax_rows has ended: Best: 2.23×, candidate 389"_s);
}

TEST_F(NotifierTest, SaysWherePyTorchIsNotBeaten) {
  record.runRows.front().bestSpeedup = {1.01, 0.98, 1.04};
  openBehind();
  services::RunOutcome outcome;
  outcome.best = domain::CandidateId(389);
  outcome.bestSpeedup = domain::Speedup::exactly(1.01);
  run.finish(outcome);
  ASSERT_TRUE(waitForShown(1));
  EXPECT_EQ(desktop.shown.front(),
            u"The search over softmax_rows has ended: Best: 1.01×, candidate 389; no candidate is significantly faster "
            "than PyTorch (torch.compile)"_s);
}

TEST_F(NotifierTest, ANewerOneOfAKindTakesThePlaceOfAnOlder) {
  ui::DesktopNotifier notifier(bus);
  notifier.notify(ui::DesktopNotifier::Kind::Finished, u"a"_s, {});
  ASSERT_TRUE(waitForShown(1));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !isWaitingForAnswer(notifier); }));
  notifier.notify(ui::DesktopNotifier::Kind::Finished, u"b"_s, {});
  ASSERT_TRUE(waitForShown(2));
  notifier.notify(ui::DesktopNotifier::Kind::Failed, u"c"_s, {});
  ASSERT_TRUE(waitForShown(3));
  EXPECT_EQ(desktop.replaced, (QList<uint>{0, 42, 0}));
}

TEST_F(NotifierTest, TellsOfAFailureAndOfALostGpu) {
  expectWarnings();  // of the log
  openBehind();
  Q_EMIT run.noticed({services::Notice::Severity::Warning, "a GPU is left out: it fell off the bus", "",
                      services::Notice::Subject::GpuLost});
  ASSERT_TRUE(waitForShown(1));
  services::RunOutcome outcome;
  outcome.state = services::RunState::Failed;
  outcome.error = Error(ErrorKind::Storage, "the disk is full", "free some space");
  run.finish(outcome);
  ASSERT_TRUE(waitForShown(2));
  EXPECT_EQ(desktop.shown, (QStringList{u"A GPU is lost: A GPU is left out: it fell off the bus"_s,
                                        u"The search over softmax_rows failed: the disk is full"_s}));
}

TEST_F(NotifierTest, SaysNothingWhenSwitchedOffOrStoppedByTheUser) {
  settings.settings = {{"general.notifications", false}};
  openBehind();
  run.finish({});
  turnEventLoop();
  EXPECT_FALSE(isWaitingForAnswer(*window));
  EXPECT_TRUE(desktop.shown.empty());
}

TEST(DesktopNotifier, IsSilentWithoutABus) {
  ui::DesktopNotifier notifier(QDBusConnection(u"none"_s));
  notifier.notify(ui::DesktopNotifier::Kind::Finished, u"a"_s, u"b"_s);
  SUCCEED();  // a warning of Qt would fail it
}

}  // namespace
}  // namespace swage::testing

#include "notifier_test.moc"
