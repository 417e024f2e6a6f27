// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QString>

#include <cstdint>
#include <utility>
#include <vector>

namespace swage::ui {

// Where a dock stands. Docks of one place share it as tabs, in the order of their registration.
enum class Place : std::uint8_t {
  Navigator,  // left
  Centre,
  Below,  // under the centre
  Side,   // right
  SideBelow,
  Bottom,  // over the whole width
};

// The layouts that every window has. Users save their own beside them.
enum class Layout : std::uint8_t { Search, Inspect, Compare };

// All that the window has to know of a page in order to dock it (DockLayout::add).
struct PageDescriptor {
  QString id;                // "candidates": names the dock, its action and what is remembered of it; never translated
  QString title;             // of the dock, its tab and its menu entry
  QString hint;              // what is to be seen there, in one sentence
  Place home = Place::Side;  // where it opens in a layout that does not show it
  std::vector<std::pair<Layout, Place>> shownIn;
  QKeySequence shortcut;
};

}  // namespace swage::ui
