// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/menus.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QMenu>
#include <QMenuBar>

#include "ui/pages/candidates_page.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/kernel_page.h"
#include "ui/pages/profile_page.h"
#include "ui/shell/actions.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/help_control.h"
#include "ui/shell/layout_menu.h"
#include "ui/shell/pages.h"
#include "ui/shell/run_control.h"
#include "ui/shell/theme_controller.h"
#include "ui/shell/undo_actions.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("menus", text);
}

void addFileMenu(QMenuBar& bar, const MenuParts& parts) {
  QMenu* file = bar.addMenu(tr("&File"));
  file->addActions({parts.actions.openTask, parts.actions.openBundle, parts.actions.openProject});
  QMenu* recent = file->addMenu(tr("&Recent Projects"));
  recent->setObjectName(u"recentProjects"_s);
  QObject::connect(recent, &QMenu::aboutToShow, &parts.control,
                   [&control = parts.control, recent] { control.fillRecentProjects(*recent); });
  file->addAction(parts.actions.quickOpen);
  file->addSeparator();
  file->addAction(parts.actions.settings);
  file->addSeparator();
  file->addAction(parts.actions.newWindow);
  file->addAction(parts.actions.closeWindow);
  file->addAction(parts.actions.quit);
}

void addEditMenu(QMenuBar& bar, const MenuParts& parts) {
  QMenu* edit = bar.addMenu(tr("&Edit"));
  new UndoActions(*edit, parts.pages.candidates->undoStack());
  edit->addSeparator();
  edit->addAction(parts.actions.findInKernel);
  edit->addActions(parts.pages.kernel->pageActions());
}

// What is done with the selected candidate.
void addCandidateMenu(QMenuBar& bar, const MenuParts& parts) {
  QMenu* menu = bar.addMenu(tr("&Candidate"));
  menu->addAction(parts.actions.followBest);
  if (ComparePage* compare = parts.pages.compare; compare != nullptr) {
    QAction* action = menu->addAction(tr("&Compare with its Parent"));
    action->setObjectName(u"compareWithParent"_s);
    QObject::connect(action, &QAction::triggered, compare, [&docks = parts.docks, compare] {
      docks.show(u"compare"_s);
      compare->compareWithParent();
    });
  }
  if (ProfilePage* profile = parts.pages.profile; profile != nullptr) {
    QAction* make = menu->addAction(tr("&Profile It"));
    make->setObjectName(u"profileCandidate"_s);
    QObject::connect(make, &QAction::triggered, profile, [&docks = parts.docks, profile] {
      docks.show(u"profile"_s);
      profile->profile();
    });
    QAction* pin = menu->addAction(tr("&Use as Baseline"));
    pin->setObjectName(u"pinCandidate"_s);
    QObject::connect(pin, &QAction::triggered, profile, &ProfilePage::pinCandidate);
  }
  menu->addSeparator();
  menu->addAction(parts.actions.exportKernel);
}

void addRunMenu(QMenuBar& bar, const MenuParts& parts) {
  QMenu* run = bar.addMenu(tr("&Run"));
  run->addActions({parts.actions.start, parts.actions.pause, parts.actions.stop, parts.actions.stopNow});
  run->addSeparator();
  QMenu* recorded = run->addMenu(tr("Recorded R&uns"));
  recorded->setObjectName(u"recordedRuns"_s);
  QObject::connect(recorded, &QMenu::aboutToShow, &parts.control,
                   [&control = parts.control, recorded] { control.fillRecordedRuns(*recorded); });
  run->addAction(parts.actions.resumeRecorded);
}

void addThemeMenu(QMenu& view, ThemeController& theme) {
  QMenu* menu = view.addMenu(tr("&Theme"));
  auto* group = new QActionGroup(menu);
  const std::pair<ThemeChoice, QString> choices[] = {
      {ThemeChoice::System, tr("&System")}, {ThemeChoice::Light, tr("&Light")}, {ThemeChoice::Dark, tr("D&ark")}};
  for (const auto& [choice, text] : choices) {
    QAction* action = menu->addAction(text);
    action->setObjectName(u"theme_"_s % name(choice));
    action->setCheckable(true);
    group->addAction(action);
    QObject::connect(action, &QAction::triggered, &theme, [&theme, choice = choice] { theme.chooseForGood(choice); });
    QObject::connect(menu, &QMenu::aboutToShow, action,
                     [&theme, action, choice = choice] { action->setChecked(theme.choice() == choice); });
  }
}

void addColorMenu(QMenu& view, ThemeController& theme) {
  QMenu* menu = view.addMenu(tr("&Colours of the Map"));
  auto* group = new QActionGroup(menu);
  const std::pair<ColorMap, QString> maps[] = {{ColorMap::Viridis, tr("&Viridis")},
                                               {ColorMap::Cividis, tr("&Cividis")},
                                               {ColorMap::Diverging, tr("&Diverging around 1×")}};
  for (const auto& [map, text] : maps) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    group->addAction(action);
    QObject::connect(action, &QAction::triggered, &theme, [&theme, map = map] { theme.setColorMapForGood(map); });
    QObject::connect(menu, &QMenu::aboutToShow, action,
                     [&theme, action, map = map] { action->setChecked(theme.theme().heat == map); });
  }
}

void addViewMenu(QMenuBar& bar, const MenuParts& parts) {
  QMenu* view = bar.addMenu(tr("&View"));
  view->addAction(parts.actions.commandPalette);
  view->addSeparator();
  QMenu* pages = view->addMenu(tr("&Pages"));
  pages->setToolTipsVisible(true);
  parts.docks.fillMenu(*pages);
  view->addMenu(&parts.layouts);
  view->addSeparator();
  addThemeMenu(*view, parts.theme);
  addColorMenu(*view, parts.theme);
  view->addSeparator();
  view->addAction(parts.actions.fullScreen);
}

void addHelpMenu(QMenuBar& bar, const MenuParts& parts) {
  QMenu* menu = bar.addMenu(tr("&Help"));
  menu->addAction(parts.actions.help);
  parts.help.fillMenu(*menu);
  menu->addSeparator();
  menu->addAction(parts.docks.action(u"welcome"_s));
  menu->addAction(parts.actions.playDemo);
  if (parts.pages.doctor != nullptr) {
    menu->addAction(parts.docks.action(u"doctor"_s));
  }
  menu->addSeparator();
  menu->addAction(parts.actions.about);
}

}  // namespace

void fillMenuBar(QMenuBar& bar, const MenuParts& parts) {
  addFileMenu(bar, parts);
  addEditMenu(bar, parts);
  addCandidateMenu(bar, parts);
  addRunMenu(bar, parts);
  addViewMenu(bar, parts);
  addHelpMenu(bar, parts);
}

}  // namespace swage::ui
