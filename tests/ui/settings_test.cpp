// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QCheckBox>
#include <QComboBox>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>

#include "core/services/setting_keys.h"
#include "tests/support/result_matchers.h"
#include "tests/ui/window_fixture.h"
#include "ui/editor/kernel_view.h"
#include "ui/models/setting_catalogue.h"
#include "ui/models/settings_store.h"
#include "ui/shell/settings_dialog.h"

using namespace Qt::StringLiterals;

namespace swage::testing {
namespace {

using ui::SettingsStore;

TEST(SettingsStore, KnowsWhatHoldsWhenNothingIsSet) {
  const SettingsStore store(nullptr);
  for (const ui::SettingSection& section : ui::settingCatalogue()) {
    for (const ui::SettingInfo& setting : section.settings) {
      EXPECT_EQ(store.value(setting.key), setting.standard) << setting.key.toStdString();
      EXPECT_TRUE(setting.key.startsWith(section.id + u'.')) << setting.key.toStdString();
    }
  }
}

TEST(SettingsStore, SavesEachChangeAndOnlyWhatIsSet) {
  const FakeSettingsService service;
  SettingsStore store(&service);
  store.set(u"search.seed"_s, 7);
  store.set(u"search.target"_s, u"auto"_s);
  EXPECT_EQ(service.settings, (services::Settings{{"search.seed", std::int64_t{7}}}));
  store.reset(u"search.seed"_s);
  EXPECT_TRUE(service.settings.empty());
}

TEST(SettingsStore, TakesTheDefaultForWhatMakesNoSense) {
  FakeSettingsService service;
  service.settings = {
      {"search.target", std::string("toaster")}, {"search.seed", true}, {"search.sead", std::int64_t{3}}};
  const SettingsStore store(&service);
  EXPECT_EQ(store.value(u"search.target"_s), u"auto"_s);
  EXPECT_EQ(store.value(u"search.seed"_s), 0);
  EXPECT_EQ(store.unknownKeys(), QStringList{u"search.sead"_s});
}

TEST(SettingsStore, NeverWritesOverAFileItCouldNotRead) {
  FakeSettingsService service;
  service.failure = Error(ErrorKind::InvalidInput, "line 3: what is this");
  SettingsStore store(&service);
  ASSERT_TRUE(store.loadError().has_value());
  service.failure.reset();
  store.set(u"search.seed"_s, 7);
  EXPECT_EQ(store.value(u"search.seed"_s), 7);
  EXPECT_EQ(service.saves, 0);
}

// The command line knows the settings from core/services/setting_keys.h.
TEST(SettingCatalogue, HasTheSettingsOfTheCommandLineWithTheirDefaultsAndLimits) {
  std::size_t count = 0;
  for (const ui::SettingSection& section : ui::settingCatalogue()) {
    for (const ui::SettingInfo& setting : section.settings) {
      ++count;
      const std::string name = setting.key.toStdString();
      const services::SettingKey* key = services::findSettingKey(name);
      ASSERT_NE(key, nullptr) << name;
      EXPECT_EQ(services::settingText(key->standard), setting.standard.toString().toStdString()) << name;
      EXPECT_EQ(key->choices.size(), static_cast<std::size_t>(setting.choices.size())) << name;
      for (const std::string_view choice : key->choices) {
        EXPECT_TRUE(setting.choices.contains(QString::fromUtf8(choice.data(), static_cast<qsizetype>(choice.size()))))
            << name;
      }
      if (std::holds_alternative<std::int64_t>(key->standard)) {
        EXPECT_EQ(key->least, setting.least) << name;
        EXPECT_EQ(key->most, setting.most) << name;
      }
    }
  }
  EXPECT_EQ(count, services::settingKeys().size());
}

class SettingsDialogTest : public WindowTest {
 protected:
  ui::SettingsDialog& openDialog() {
    open();
    child<QAction>(u"settings"_s)->trigger();
    return *child<ui::SettingsDialog>(u"settingsDialog"_s);
  }
  [[nodiscard]] QStringList sections() const {
    QStringList shown;
    const auto* list = child<QListWidget>(u"settingsSections"_s);
    for (int i = 0; i < list->count(); ++i) {
      if (!list->item(i)->isHidden()) {
        shown << list->item(i)->text();
      }
    }
    return shown;
  }
};

TEST_F(SettingsDialogTest, AChangedThemeHoldsAtOnceAndAfterwards) {
  openDialog();
  auto* choice = child<QComboBox>(u"theme.choice"_s);
  choice->setCurrentText(u"dark"_s);
  Q_EMIT choice->textActivated(u"dark"_s);
  EXPECT_TRUE(theme.theme().dark);
  EXPECT_EQ(settings.settings.at("theme.choice"), services::SettingValue(std::string("dark")));
  window->close();
  window.reset();
  theme.choose(ui::ThemeChoice::Light);
  open();
  EXPECT_TRUE(theme.theme().dark);
}

TEST_F(SettingsDialogTest, WarnsThatThereIsNoSandbox) {
  openDialog();
  const auto* hint = child<QLabel>(u"hint_search.sandbox"_s);
  EXPECT_FALSE(hint->text().contains(u"without a sandbox"_s));
  Q_EMIT child<QComboBox>(u"search.sandbox"_s)->textActivated(u"none"_s);
  EXPECT_TRUE(hint->text().contains(u"Kernels are compiled without a sandbox"_s)) << hint->text().toStdString();
  EXPECT_EQ(settings.settings.at("search.sandbox"), services::SettingValue(std::string("none")));
  Q_EMIT child<QComboBox>(u"search.sandbox"_s)->textActivated(u"auto"_s);
  EXPECT_FALSE(hint->text().contains(u"without a sandbox"_s));
}

TEST_F(SettingsDialogTest, TheSearchLeavesTheSectionsWithSomethingLikeIt) {
  openDialog();
  EXPECT_EQ(sections().size(), 7);
  child<QLineEdit>(u"settingsSearch"_s)->setText(u"torch.compile"_s);
  EXPECT_EQ(sections(), QStringList{u"Search"_s});
  EXPECT_FALSE(child<QCheckBox>(u"search.compile_baselines"_s)->isHidden());
  EXPECT_TRUE(child<QWidget>(u"search.seed"_s)->isHidden());
  child<QLineEdit>(u"settingsSearch"_s)->setText(u"palette"_s);
  EXPECT_EQ(sections(), QStringList{u"Shortcuts"_s});
}

TEST_F(SettingsDialogTest, APathIsBrowsedFor) {
  openDialog();
  dialogs.path = u"/data/swage"_s;
  QTest::mouseClick(child<QPushButton>(u"browse_locations.data"_s), Qt::LeftButton);
  EXPECT_EQ(child<QLineEdit>(u"locations.data"_s)->text(), dialogs.path);
  EXPECT_EQ(settings.settings.at("locations.data"), services::SettingValue(std::string("/data/swage")));
  EXPECT_EQ(window->findChild<QPushButton*>(u"browse_search.devices"_s), nullptr);
}

TEST(SettingsStore, TheProjectCountsMoreThanTheUserAndTheSystemLess) {
  testing::FakeSettingsService service;
  service.belowUser = {{"search.target", std::string("cpu")}, {"search.seed", std::int64_t{3}}};
  service.settings = {{"search.target", std::string("auto")}};
  service.aboveUser = {{"search.target", std::string("cuda")}};
  ui::SettingsStore store(&service);
  EXPECT_EQ(store.value(u"search.target"_s), u"cuda"_s);
  EXPECT_EQ(store.value(u"search.seed"_s), 3);
  EXPECT_FALSE(store.isSet(u"search.seed"_s));
  store.set(u"search.target"_s, u"cpu"_s);
  EXPECT_EQ(store.value(u"search.target"_s), u"cpu"_s) << "what a person changes here counts";
  EXPECT_EQ(service.settings, (services::Settings{{"search.target", std::string("cpu")}})) << "nothing else is saved";
}

TEST(SettingKeys, GpusAreAListOfNumbersOrUuids) {
  EXPECT_TRUE(services::parseSetting("search.devices", "0,2").has_value());
  EXPECT_TRUE(services::parseSetting("search.devices", "GPU-01234567-89ab,1").has_value());
  EXPECT_TRUE(services::parseSetting("search.devices", "").has_value());
  EXPECT_THAT(services::parseSetting("search.devices", "first"),
              IsError(ErrorKind::Config, ::testing::HasSubstr("cannot be 'first'")));
}

TEST_F(SettingsDialogTest, TheRunBarStartsWithWhatIsSet) {
  settings.settings = {{"search.target", std::string("cpu")}, {"search.time_budget", std::string("5 min")}};
  openWithTask();
  window->actions().start->trigger();
  EXPECT_EQ(run.spec.target, "cpu");
  EXPECT_EQ(run.spec.timeBudgetSeconds, 300.0);
}

TEST_F(SettingsDialogTest, WhatIsSetOfTheEditorHoldsAtOnceInEveryText) {
  settings.settings = {{"editor.tab_width", std::int64_t{8}}, {"editor.font_size", std::int64_t{400}}};
  openDialog();
  const auto* source = child<ui::KernelView>(u"sourceView"_s);
  EXPECT_EQ(source->style().tabWidth, 8);
  EXPECT_EQ(source->style().points, 0);  // no such size
  child<QSpinBox>(u"editor.font_size"_s)->setValue(14);
  child<QCheckBox>(u"editor.wrap_lines"_s)->setChecked(true);
  child<QCheckBox>(u"editor.line_numbers"_s)->setChecked(false);
  for (const auto* view : window->findChildren<ui::KernelView*>()) {
    EXPECT_EQ(view->style().points, 14);
    EXPECT_TRUE(view->style().wrapLines);
    EXPECT_FALSE(view->style().lineNumbers);
  }
  EXPECT_EQ(settings.settings.at("editor.font_size"), services::SettingValue(std::int64_t{14}));
}

TEST_F(SettingsDialogTest, AShortcutIsChangedItsConflictToldAndTakenBack) {
  openDialog();
  auto* table = child<QTableView>(u"shortcutTable"_s);
  child<QLineEdit>(u"settingsSearch"_s)->setText(u"pause"_s);
  ASSERT_EQ(table->model()->rowCount(), 1);
  table->selectRow(0);
  auto* keys = child<QKeySequenceEdit>(u"shortcutKeys"_s);
  keys->setKeySequence(QKeySequence(u"F5"_s));
  Q_EMIT keys->editingFinished();
  EXPECT_EQ(window->actions().pause->shortcut(), QKeySequence(u"F5"_s));
  EXPECT_TRUE(child<QLabel>(u"shortcutConflict"_s)->text().contains(u"Start"_s));
  EXPECT_EQ(settings.settings.at("shortcuts.pause"), services::SettingValue(std::string("F5")));
  QTest::mouseClick(child<QPushButton>(u"resetShortcut"_s), Qt::LeftButton);
  EXPECT_EQ(window->actions().pause->shortcut(), QKeySequence(u"F6"_s));
  EXPECT_TRUE(settings.settings.empty());
}

TEST_F(SettingsDialogTest, ShortcutsThatAreSetHoldFromTheStart) {
  settings.settings = {{"shortcuts.pause", std::string("Ctrl+Space")}};
  open();
  EXPECT_EQ(window->actions().pause->shortcut(), QKeySequence(u"Ctrl+Space"_s));
}

TEST_F(SettingsDialogTest, AFileThatCannotBeReadIsToldInTheBanner) {
  settings.failure = Error(ErrorKind::InvalidInput, "cannot read the settings 'c.toml': line 3", "correct the file");
  open();
  EXPECT_TRUE(child<QLabel>(u"noticeText"_s)->text().contains(u"cannot read the settings"_s));
}

}  // namespace
}  // namespace swage::testing
