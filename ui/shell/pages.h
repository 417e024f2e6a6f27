// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace swage::ui {

struct Actions;
struct WindowServices;
class DockLayout;
class Session;

// Makes every page of the window, docks it, and joins those that lead to one another.
void addPages(DockLayout& docks, Session& session, const WindowServices& services, const Actions& actions);

}  // namespace swage::ui
