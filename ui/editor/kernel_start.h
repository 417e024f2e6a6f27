// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace swage::ui {

// The line on which the longest kernel of a C++ or CUDA source begins, since short ones only prepare or finish what it
// does: that of the comment that stands right before it, else its own first line. Lines are 0-based; -1: there is no
// kernel. A kernel is what the source gives a C name to, or what CUDA can launch.
[[nodiscard]] int kernelStart(const QString& source);

}  // namespace swage::ui
