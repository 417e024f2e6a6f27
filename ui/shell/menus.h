// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QMenuBar;

namespace swage::ui {

struct Actions;
class DockLayout;
class HelpControl;
class LayoutMenu;
struct Pages;
class RunControl;
class ThemeController;

// What the menus show, beside the actions.
struct MenuParts {
  const Actions& actions;
  RunControl& control;
  DockLayout& docks;
  LayoutMenu& layouts;
  ThemeController& theme;
  const Pages& pages;
  HelpControl& help;
};

void fillMenuBar(QMenuBar& bar, const MenuParts& parts);

}  // namespace swage::ui
