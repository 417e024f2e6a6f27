// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace swage::ui {

// A part of a line.
struct LineSpan {
  qsizetype begin = 0;
  qsizetype length = 0;
  friend bool operator==(const LineSpan&, const LineSpan&) = default;
};

// What of a line of PTX, SASS or x86 follows from where its code lies and not from what it does: addresses, what is
// jumped to, numbers of labels and of source lines, and all of an instruction that only fills up to the next boundary.
// Two listings of the same code are the same without it. In order, apart from each other.
[[nodiscard]] std::vector<LineSpan> addressesIn(const QString& line);

}  // namespace swage::ui
