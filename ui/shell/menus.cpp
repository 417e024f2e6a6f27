// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/menus.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QMenu>
#include <QMenuBar>

#include "ui/shell/actions.h"
#include "ui/shell/dock_layout.h"
#include "ui/shell/layout_menu.h"
#include "ui/shell/run_control.h"
#include "ui/shell/theme_controller.h"

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
  file->addAction(parts.actions.exportKernel);
  file->addSeparator();
  file->addAction(parts.actions.settings);
  file->addSeparator();
  file->addAction(parts.actions.quit);
}

void addRunMenu(QMenuBar& bar, const MenuParts& parts) {
  QMenu* run = bar.addMenu(tr("&Run"));
  run->addActions({parts.actions.start, parts.actions.pause, parts.actions.stop});
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
  const std::pair<ThemeChoice, QString> choices[] = {{ThemeChoice::System, tr("As the &Desktop")},
                                                     {ThemeChoice::Light, tr("&Light")},
                                                     {ThemeChoice::Dark, tr("D&ark")}};
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
  view->addActions({parts.actions.followBest, parts.actions.findInKernel});
  view->addSeparator();
  QMenu* pages = view->addMenu(tr("&Pages"));
  pages->setToolTipsVisible(true);
  parts.docks.fillMenu(*pages);
  view->addMenu(&parts.layouts);
  view->addSeparator();
  addThemeMenu(*view, parts.theme);
  addColorMenu(*view, parts.theme);
}

}  // namespace

void fillMenuBar(QMenuBar& bar, const MenuParts& parts) {
  addFileMenu(bar, parts);
  addRunMenu(bar, parts);
  addViewMenu(bar, parts);
  bar.addMenu(tr("&Help"))->addAction(parts.actions.about);
}

}  // namespace swage::ui
