// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace swage::ui {

// How much of the samples fell on a line.
struct LineHeat {
  int line = 0;  // 0-based
  double share = 0.0;
  QString tooltip;
};

}  // namespace swage::ui
