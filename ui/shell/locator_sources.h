// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/locator_model.h"

class QMenuBar;

namespace swage::ui {

class DockLayout;
class RunControl;
class Session;
struct WindowServices;

// Every action of the menus with its path and shortcut, as the menus are at this moment.
[[nodiscard]] LocatorSource commandSource(const QMenuBar& bar);

// What quick open finds: a candidate by its number, cells by their name, the recorded runs, the tasks, the pages.
[[nodiscard]] LocatorSource placeSource(Session& session, const WindowServices& services, RunControl& control,
                                        DockLayout& docks);

}  // namespace swage::ui
