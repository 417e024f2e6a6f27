// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QRegularExpression>
#include <QTableView>
#include <QTextBrowser>
#include <QToolButton>

#include <map>

#include "tests/ui/window_fixture.h"
#include "ui/pages/help_page.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/help_control.h"
#include "ui/shell/settings_dialog.h"
#include "ui/shell/shortcuts.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

class HelpTest : public WindowTest {
 protected:
  void SetUp() override {
    openWithTask();
    window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window.get()));
  }
  [[nodiscard]] ui::HelpPage* page() const { return child<ui::HelpPage>(u"helpPage"_s); }
  [[nodiscard]] QString text() const { return child<QTextBrowser>(u"helpText"_s)->toPlainText(); }
  static void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(QApplication::focusWidget(), key, modifiers);
  }
};

TEST_F(HelpTest, EveryTopicHasATextAndEveryLinkATopic) {
  for (const ui::HelpTopic& topic : ui::helpTopics()) {
    page()->showTopic(topic.id);
    EXPECT_GT(text().size(), 300) << topic.id.toStdString();
    EXPECT_FALSE(text().contains(u"{{"_s)) << "a table is missing: " << topic.id.toStdString();
    const QString html = child<QTextBrowser>(u"helpText"_s)->toHtml();
    for (auto link = QRegularExpression(u"href=\"help:([^\"]*)\""_s).globalMatch(html); link.hasNext();) {
      const QString id = link.next().captured(1);
      EXPECT_TRUE(std::any_of(ui::helpTopics().begin(), ui::helpTopics().end(), [&id](const auto& one) {
        return one.id == id;
      })) << id.toStdString();
    }
  }
}

TEST_F(HelpTest, ItsTablesAreWhatTheProgramKnows) {
  page()->showTopic(u"filter"_s);
  EXPECT_TRUE(text().contains(u"registers of a thread: registers<64"_s));
  EXPECT_TRUE(text().contains(u"evaluations"_s));
  child<QAction>(u"pause"_s)->setShortcut(QKeySequence(u"Ctrl+Shift+F9"_s));
  page()->showTopic(u"keyboard"_s);
  EXPECT_TRUE(text().contains(u"Ctrl+Shift+F9"_s));
}

TEST_F(HelpTest, F1ExplainsThePartWithTheFocus) {
  window->docks().show(u"archive"_s);
  press(Qt::Key_F1);
  EXPECT_EQ(page()->topic(), u"cells"_s);
  EXPECT_TRUE(page()->isVisible());
  window->docks().show(u"candidates"_s);
  press(Qt::Key_F1);
  EXPECT_EQ(page()->topic(), u"filter"_s);
  press(Qt::Key_F1);
  EXPECT_EQ(page()->topic(), u"filter"_s) << "it does not explain itself";
}

TEST_F(HelpTest, LinksLeadOnAndBackLeadsBack) {
  auto* back = child<QToolButton>(u"helpBack"_s);
  page()->showTopic(u"start"_s);
  EXPECT_FALSE(back->isEnabled());
  Q_EMIT child<QTextBrowser>(u"helpText"_s)->anchorClicked(QUrl(u"help:cells"_s));
  EXPECT_EQ(page()->topic(), u"cells"_s);
  back->click();
  EXPECT_EQ(page()->topic(), u"start"_s);
  Q_EMIT child<QTextBrowser>(u"helpText"_s)->anchorClicked(QUrl(u"https://example.com"_s));
  EXPECT_EQ(page()->topic(), u"start"_s);
}

// Two commands that read the same cannot be told apart where there are no menus around them.
TEST_F(HelpTest, NoTwoCommandsAreCalledTheSameInTheSettings) {
  child<QAction>(u"settings"_s)->trigger();
  const auto* table = child<QTableView>(u"shortcutTable"_s)->model();
  std::map<QString, int> titles;
  for (int row = 0; row < table->rowCount(); ++row) {
    ++titles[table->index(row, 0).data().toString()];
  }
  for (const auto& [title, count] : titles) {
    // Of the text and of what was said about candidates: one pair of menu entries stands for both.
    const bool isUndo = title == u"Undo"_s || title == u"Redo"_s;
    EXPECT_LE(count, isUndo ? 2 : 1) << title.toStdString();
  }
}

}  // namespace
}  // namespace swage::testing
