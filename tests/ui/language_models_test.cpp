// SPDX-License-Identifier: Apache-2.0
// Language models in the settings, and the dialog of a person who answers prompts.
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include "tests/ui/demo_swarm.h"
#include "tests/ui/window_fixture.h"
#include "ui/editor/kernel_view.h"
#include "ui/shell/endpoint_dialog.h"
#include "ui/shell/endpoints_editor.h"
#include "ui/shell/exchange_dialog.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

constexpr int kDeadlineMs = 30000;

template <class T>
T* childOf(const QWidget& parent, const QString& name) {
  T* found = parent.findChild<T*>(name);
  EXPECT_NE(found, nullptr) << name.toStdString();
  return found;
}

class LanguageModelsTest : public ::testing::Test {
 protected:
  LanguageModelsTest() { m_endpoints.rows = demoEndpoints(); }

  FakeEndpointService m_endpoints;
  FakeSettingsService m_file;
  ui::SettingsStore m_settings{&m_file};
  FakeDialogs m_dialogs;
};

TEST_F(LanguageModelsTest, AreListedWithThoseThatTakePart) {
  m_settings.set(u"swarm.models"_s, u"local"_s);
  ui::EndpointsEditor editor(m_endpoints, m_settings, m_dialogs);
  auto* table = childOf<QTableView>(editor, u"endpointTable"_s);
  ASSERT_EQ(table->model()->rowCount(), 2);
  EXPECT_EQ(table->model()->index(1, 0).data(Qt::CheckStateRole).toInt(), Qt::Checked);
  EXPECT_TRUE(table->model()->setData(table->model()->index(0, 0), Qt::Checked, Qt::CheckStateRole));
  EXPECT_EQ(m_settings.value(u"swarm.models"_s).toString(), u"fast, local"_s);
}

TEST_F(LanguageModelsTest, AreRemovedAndTested) {
  ui::EndpointsEditor editor(m_endpoints, m_settings, m_dialogs);
  auto* test = childOf<QPushButton>(editor, u"endpointListTest"_s);
  test->click();
  ASSERT_EQ(m_endpoints.asked.size(), 1U);
  EXPECT_EQ(m_endpoints.asked[0].name, "fast");
  EXPECT_FALSE(test->isEnabled()) << "one at a time";
  services::EndpointFinding finding;
  finding.name = "fast";
  finding.error = "denied: bad key";
  Q_EMIT m_endpoints.tested(finding);
  EXPECT_EQ(childOf<QLabel>(editor, u"endpointStatus"_s)->text(), u"fast: Does not work: denied: bad key."_s);
  EXPECT_TRUE(test->isEnabled());
  childOf<QPushButton>(editor, u"endpointRemove"_s)->click();
  ASSERT_EQ(m_endpoints.rows.size(), 1U);
  EXPECT_EQ(m_endpoints.rows[0].name, "local");
}

TEST_F(LanguageModelsTest, ANewOneIsCheckedWhileItIsTyped) {
  ui::EndpointDialog dialog(m_endpoints, m_dialogs, {}, nullptr);
  auto* problem = childOf<QLabel>(dialog, u"endpointProblem"_s);
  EXPECT_TRUE(problem->text().isEmpty()) << "nobody is blamed before anything is typed";
  QTest::keyClicks(childOf<QLineEdit>(dialog, u"endpointName"_s), u"new"_s);
  EXPECT_EQ(problem->text(), u"'' is no address"_s);
  QTest::keyClicks(childOf<QLineEdit>(dialog, u"endpointAddress"_s), u"https://b.example"_s);
  EXPECT_TRUE(problem->text().isEmpty());
  childOf<QPushButton>(dialog, u"endpointTest"_s)->click();
  ASSERT_EQ(m_endpoints.asked.size(), 1U);
  EXPECT_EQ(m_endpoints.asked[0].name, "new");
  services::EndpointFinding finding;
  finding.name = "new";
  finding.works = true;
  finding.firstSeconds = 0.41;
  finding.seconds = 0.5;
  finding.tokensPerSecond = 88.0;
  Q_EMIT m_endpoints.tested(finding);
  EXPECT_TRUE(childOf<QLabel>(dialog, u"endpointFinding"_s)->text().startsWith("Works: first words after 0.41 s"_L1));
  childOf<QPushButton>(dialog, u"endpointSave"_s)->click();
  EXPECT_EQ(m_endpoints.rows.size(), 3U);
}

TEST_F(LanguageModelsTest, TheKeyIsNamedNeverTyped) {
  ui::EndpointDialog dialog(m_endpoints, m_dialogs, m_endpoints.rows[0], nullptr);
  EXPECT_EQ(childOf<QComboBox>(dialog, u"endpointKey"_s)->currentText(), u"in the keychain"_s);
  EXPECT_EQ(dialog.typed(), m_endpoints.rows[0]);
  auto* key = childOf<QComboBox>(dialog, u"endpointKey"_s);
  key->setCurrentIndex(key->findData(static_cast<int>(services::EndpointSettings::Key::File)));
  Q_EMIT key->activated(key->currentIndex());
  m_dialogs.path = u"/home/user/key"_s;
  childOf<QPushButton>(dialog, u"endpointKeyBrowse"_s)->click();
  EXPECT_EQ(dialog.typed().keyWhere, "/home/user/key");
}

class ExchangeDialogTest : public ::testing::Test {
 protected:
  ExchangeDialogTest() {
    m_dialog.show();
    m_dialog.setWaiting({m_first});
  }
  void paste(const QString& text) {
    QGuiApplication::clipboard()->setText(text);
    childOf<QPushButton>(m_dialog, u"exchangePaste"_s)->click();
  }
  [[nodiscard]] QPushButton* sendButton() const { return childOf<QPushButton>(m_dialog, u"exchangeSend"_s); }
  [[nodiscard]] QString result() const { return childOf<QLabel>(m_dialog, u"exchangeResult"_s)->text(); }

  services::WaitingPrompt m_first{"exchange", "/p/001-prompt.md", "/p/001-reply.md"};
  services::WaitingPrompt m_second{"exchange", "/p/002-prompt.md", "/p/002-reply.md"};
  FakeSwarmService m_swarm;
  FakeDialogs m_dialogs;
  ui::ExchangeDialog m_dialog{m_swarm, m_dialogs, nullptr};
};

TEST_F(ExchangeDialogTest, APromptIsCopiedAndItsReplyReadBeforeItIsSent) {
  childOf<QPushButton>(m_dialog, u"exchangeCopy"_s)->click();
  EXPECT_EQ(QGuiApplication::clipboard()->text(), u"The question of 001-prompt.md"_s);
  EXPECT_FALSE(sendButton()->isEnabled());
  paste(u"my reply"_s);
  ASSERT_TRUE(QTest::qWaitFor([this] { return sendButton()->isEnabled(); }, kDeadlineMs));
  EXPECT_EQ(result(), u"Readable: 42 lines of source; launches row_max, row_sum. Intent: two passes"_s);
  sendButton()->click();
  EXPECT_EQ(m_swarm.replies["/p/001-reply.md"], "my reply");
}

TEST_F(ExchangeDialogTest, WhatCannotBeReadIsNotSent) {
  m_swarm.check = Error(ErrorKind::InvalidInput, "there is no block with the plan");
  paste(u"hello"_s);
  ASSERT_TRUE(QTest::qWaitFor([this] { return result().startsWith("Cannot be read"_L1); }, kDeadlineMs));
  EXPECT_FALSE(sendButton()->isEnabled());
}

TEST_F(ExchangeDialogTest, AReplyStaysWhileItsPromptWaits) {
  paste(u"half a reply"_s);
  m_dialog.setWaiting({m_second, m_first});
  EXPECT_EQ(childOf<ui::KernelView>(m_dialog, u"exchangeReply"_s)->text(), u"half a reply"_s);
  m_dialog.setWaiting({m_second});
  EXPECT_TRUE(childOf<ui::KernelView>(m_dialog, u"exchangeReply"_s)->text().isEmpty());
  EXPECT_EQ(childOf<ui::KernelView>(m_dialog, u"exchangePrompt"_s)->text(), u"The question of 002-prompt.md"_s);
}

class ConversationTest : public WindowTest {
 protected:
  ConversationTest() {
    swarm.records[kDemoRun.value()] = std::make_shared<const services::SwarmReport>(demoSwarm(60.0));
    swarm.talks[3] = demoTalk();
    record.rows[2].madeBy = *domain::ProposerName::parse("fast");
    write(folder / "project" / "runs.sqlite", "");
    ui::WindowServices all = services();
    all.swarm = &swarm;
    options.spec.task = (folder / "tasks" / "softmax_rows.py").string();
    window = std::make_unique<ui::MainWindow>(all, options);
    window->show();
  }

  FakeSwarmService swarm;
};

TEST_F(ConversationTest, OpensFromTheMenuOfItsCandidate) {
  auto* table = child<QTableView>(u"candidateTable"_s);
  table->sortByColumn(0, Qt::AscendingOrder);
  ASSERT_EQ(table->model()->index(2, 0).data().toString(), u"3"_s);
  table->setCurrentIndex(table->model()->index(2, 0));
  Q_EMIT table->customContextMenuRequested(QPoint(5, 5));
  auto* menu = child<QMenu>(u"candidateMenu"_s);
  menu->findChild<QAction*>(u"menuConversation"_s)->trigger();
  menu->close();
  EXPECT_FALSE(child<QDockWidget>(u"swarmDock"_s)->isHidden());
  EXPECT_EQ(child<QTabWidget>(u"swarmTabs"_s)->currentIndex(), 2);
  ASSERT_TRUE(QTest::qWaitFor(
      [this] { return child<ui::KernelView>(u"talkPrompt"_s)->text().contains("softmax over rows"_L1); }, kDeadlineMs));
  EXPECT_EQ(window->session().selectedCandidate(), domain::CandidateId(3));
}

}  // namespace
}  // namespace swage::testing
